#pragma once
// The bandwidth of the host's memory, for comparison.
#include <cstdint>

namespace tessera::apps {

/// Bytes per second of STREAM's loop a = b + s c over three arrays of 128 MiB, on a runtime of its own with so many
/// workers of the host: the best of ten runs behind one that is not timed.
double triad_bandwidth(std::uint32_t workers);

}  // namespace tessera::apps
