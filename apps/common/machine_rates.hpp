#pragma once
// What the machine does in a second, measured in a moment: the roof of apps/common/roofline.hpp.
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "apps/common/roofline.hpp"
#include "tessera/machine.hpp"

namespace tessera::apps {

/// Bytes per second of STREAM's loop a = b + s c over three arrays of 128 MiB, on a runtime of its own with so many
/// workers of the host: the best of ten runs behind one that is not timed.
double triad_bandwidth(std::uint32_t workers);

/// What is to be measured.
struct rates_wanted {
  std::uint32_t workers = 1;                  ///< of the host
  std::span<const std::string> devices = {};  ///< names of leaves: the triad there, through a kernel
  double data = 0;  ///< bytes of the triad's arrays together, so that what stays in caches does so here too; 384 MiB at
                    ///< most
  bool arithmetic = false;  ///< the other two rates of the host
};
/// Measures on runtimes of its own. A device on which it fails, for example for lack of memory, has no rate.
/// @param find_machine  the machine with the devices, neither recording nor validating; called where there are devices
machine_rates measure_rates(const rates_wanted& wanted, const std::function<machine()>& find_machine);

}  // namespace tessera::apps
