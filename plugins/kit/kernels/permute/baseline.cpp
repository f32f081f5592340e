#include "plugins/kit/kernels/permute/kernels.hpp"

namespace tessera::kit {
const permute_kernels baseline_kernels = kernels_of_this_unit;
}  // namespace tessera::kit
