#pragma once
// What the iterations of a solver moved between memories, in a command's report.
#include "apps/common/report.hpp"
#include "tessera/sparse.hpp"

namespace tessera::apps {

/// A line for each link that was used, with the bytes of one iteration. None where everything stayed where it was.
void describe_moved(report& to, const sparse::loop_outcome& loop);

}  // namespace tessera::apps
