// Permutations of dimensions.
#include "plugins/gpu_common/api/scalars.hpp"
#include "plugins/gpu_common/kernels/tiles.hpp"
#include "plugins/opencl/launch.hpp"

namespace tessera::gpu {

using namespace opencl;

error_t permute(const permutation& plan, tsr_type type, const void* alpha, const void* beta, const void* source,
                void* destination, stream_t stream) {
  if (plan.elements <= 0) return {};
  const bool moves = alpha == nullptr;
  const element words = plan.element_bytes == 4   ? element::word4
                        : plan.element_bytes == 8 ? element::word8
                                                  : element::word16;
  const element kind = moves ? words : element_of(type);
  const kit::scalar nothing;
  const bytes_of by = moves ? bytes_of{nothing.bytes, plan.element_bytes} : one_element(type, alpha);
  const bytes_of added = moves ? by : one_element(type, beta);
  const cl_int reads = !moves && !is_zero(type, beta);
  const tiling t = plan_tiles(plan);
  const bytes_of extents{t.outer.extents, sizeof t.outer.extents}, from{t.outer.source, sizeof t.outer.source},
      to{t.outer.destination, sizeof t.outer.destination};
  constexpr std::size_t threads = 256, most = 65536;
  if (t.tiles == 0)
    return launch(stream, {"permute", kind, "by_elements"}, {groups_for(plan.elements, threads, most)}, threads,
                  t.outer.count, extents, from, to, plan.elements, cl_int{moves}, reads, by, added, source,
                  static_cast<const void*>(destination));
  return launch(stream, {"permute", kind, "by_tiles"}, {groups_for(t.tiles, 1, most)}, threads, t.outer.count, extents,
                from, to, t.nx, t.ny, t.tiles_x, t.tiles_y, t.tiles, t.source_y, t.destination_x, cl_int{moves}, reads,
                by, added, source, static_cast<const void*>(destination));
}

}  // namespace tessera::gpu
