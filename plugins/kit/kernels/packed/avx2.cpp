// Compiled with -mavx2 -mfma; called only where the processor has both.
#include "plugins/kit/kernels/packed/kernels.hpp"

namespace tessera::kit {
const packed_kernels packed_avx2 = packed_kernels_of_this_unit;
}  // namespace tessera::kit
