// Compiled with -mavx2; called only where the processor has it.
#include "plugins/kit/kernels/permute/kernels.hpp"

namespace tessera::kit {
const permute_kernels avx2_kernels = kernels_of_this_unit;
}  // namespace tessera::kit
