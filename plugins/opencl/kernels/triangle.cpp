// One block of a triangular system, and the Cholesky factor of one block.
#include "plugins/opencl/launch.hpp"

namespace tessera::gpu {

using namespace opencl;

error_t solve_panel(tsr_type type, int rows, std::int64_t columns, const void* alpha, const matrix& l,
                    bool unit_diagonal, const matrix& x, stream_t stream) {
  constexpr std::size_t threads = 128;
  return launch(stream, {"triangle", element_of(type), "solve_panel"}, {groups_for(columns, threads, ~std::size_t{0})},
                threads, rows, columns, one_element(type, alpha), l, cl_int{unit_diagonal}, x);
}

error_t factor_panel(tsr_type type, int n, std::int64_t before, const matrix& a, std::int32_t* info, stream_t stream) {
  return launch(stream, {"triangle", element_of(type), "factor_panel"}, {1}, 256, n, before, a,
                static_cast<const void*>(info));
}

}  // namespace tessera::gpu
