// Reductions of the rows or the columns of a matrix.
#include "plugins/gpu_common/kernels/sparse_kernels.hpp"
#include "plugins/opencl/launch.hpp"

namespace tessera::gpu {

using namespace opencl;

error_t reduce_lines(const line_reduction& r, stream_t stream) {
  if (r.results <= 0) return {};
  constexpr unsigned threads = 256;
  const unsigned wide = results_at_once(r, threads);
  return launch(stream, {"reduce", element_of(r.type), "reduce_each"}, {groups_for(r.results, wide)}, threads,
                static_cast<cl_int>(r.operation), r.results, r.length, r.result_step, r.step, r.from,
                static_cast<const void*>(r.to), one_element(r.type, r.nothing), cl_uint{wide});
}

}  // namespace tessera::gpu
