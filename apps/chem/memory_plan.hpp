#pragma once
// What a calculation will need, before it begins.
#include "apps/chem/journal.hpp"
#include "apps/common/report.hpp"
#include "apps/common/session.hpp"
#include "languages/sial/chemistry/correlation.hpp"

namespace tessera::apps {

/// Tells what each program will need. False where one does not fit.
bool tell_memory_plan(const session& s, const sial::correlation_job& job, report& to, const journal& told);

}  // namespace tessera::apps
