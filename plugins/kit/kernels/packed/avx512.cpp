// Compiled with -mavx512f and what comes with it; called only where the processor has it.
#include "plugins/kit/kernels/packed/kernels.hpp"

namespace tessera::kit {
const packed_kernels packed_avx512 = packed_kernels_of_this_unit;
}  // namespace tessera::kit
