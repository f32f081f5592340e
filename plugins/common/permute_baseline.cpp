#include "plugins/common/permute_kernels.hpp"

namespace tessera::common {
const permute_kernels baseline_kernels = kernels_of_this_unit;
}  // namespace tessera::common
