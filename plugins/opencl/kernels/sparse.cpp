// Products of a sparse matrix with a block of vectors.
#include "plugins/gpu_common/api/scalars.hpp"
#include "plugins/gpu_common/kernels/sparse_kernels.hpp"
#include "plugins/opencl/launch.hpp"

namespace tessera::gpu {

using namespace opencl;

error_t multiply_sparse(const sparse_product& p, stream_t stream) {
  if (p.a.rows <= 0 || p.b <= 0) return {};
  constexpr unsigned threads = 256;
  const sharing shared = share_rows(p, threads);
  return launch(stream, {"sparse", element_of(p.type), "multiply_rows"},
                {groups_for(p.a.rows, threads / (shared.wide * shared.deep))}, threads, p.a.rows,
                static_cast<const void*>(p.a.starts), static_cast<const void*>(p.a.columns),
                static_cast<const void*>(p.a.order), p.a.tile.rows, p.a.tile.columns, p.a.tile.row_step,
                p.a.tile.column_step, p.a.across, p.a.values, cl_int{p.a.conjugated}, cl_int{!is_zero(p.type, p.alpha)},
                p.b, p.x, p.ldx, static_cast<const void*>(p.y), p.ldy, one_element(p.type, p.alpha),
                one_element(p.type, p.beta), cl_uint{shared.wide}, cl_uint{shared.deep});
}

}  // namespace tessera::gpu
