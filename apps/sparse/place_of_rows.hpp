#pragma once
// Where the tasks over the rows ran.
#include <string>

#include "apps/common/report.hpp"
#include "tessera/tessera.hpp"

namespace tessera::apps {

/// Tells how many tasks over the rows ran elsewhere than at the location that was asked for: a task runs on the host
/// whose blocks do not fit a device's memory together. Nothing where no location was asked for.
void describe_place(report& to, const runtime& rt, const std::string& at);

}  // namespace tessera::apps
