#pragma once
// What the programs of a calculation took, for users.
#include "apps/chem/journal.hpp"
#include "apps/chem/options.hpp"
#include "apps/common/report.hpp"
#include "apps/common/session.hpp"
#include "languages/sial/chemistry/correlation.hpp"

namespace tessera::apps {

/// What each program took, and what of it was on devices.
void report_programs(const chem_options& o, const sial::correlation_result& c, report& to);

/// What each procedure of the programs took, which are the terms of the equations: a table for --profile, one on the
/// page of --report, and the JSON.
void report_terms(const chem_options& o, unsigned workers, const sial::correlation_result& c, report& to,
                  const journal& told, session& page);

}  // namespace tessera::apps
