// Compiled with -mavx2; called only where the processor has it.
#include "plugins/common/permute_kernels.hpp"

namespace tessera::common {
const permute_kernels avx2_kernels = kernels_of_this_unit;
}  // namespace tessera::common
