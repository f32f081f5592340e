#pragma once
// From which size on a device beats the host.
#include <string>

#include "core/block/element_type.hpp"

namespace tessera::placement {

/// From which size on a device beats the host, among the sizes that were measured on one of them at least; the other's
/// time is then the estimate that placement uses. A size counts only when the device wins there and at every larger
/// one.
struct crossover {
  std::string operation;
  element_type type = element_type::none;
  std::string host, device;  ///< names of the kinds of places
  bool counts_operations = true;
  struct size {
    bool found = false;  ///< false: not among the sizes measured
    double amount = 0, block_bytes = 0;
  };
  size resident;                                 ///< when the inputs are on the device
  size moved;                                    ///< when they must be brought from host memory first
  double smallest_block = 0, largest_block = 0;  ///< bytes: the range that was measured
};

}  // namespace tessera::placement
