#include "plugins/kit/kernels/permute/permute.hpp"

#include <algorithm>
#include <numeric>

#include "core/bytes/copy.hpp"
#include "plugins/kit/kernels/permute/kernels.hpp"

namespace tessera::kit {

bool permute_uses_avx2() noexcept {
#if defined(__x86_64__)
  static const bool have = __builtin_cpu_supports("avx2");
  return have;
#else
  return false;
#endif
}

namespace {

const permute_kernels& kernels() noexcept {
#if defined(__x86_64__)
  if (permute_uses_avx2()) return avx2_kernels;
#endif
  return baseline_kernels;
}

/// Calls inner(source offset, destination offset) for every combination of the plan's dimensions that are not skipped.
template <class Inner>
void for_outer(const permute_plan& plan, std::uint32_t skip_a, std::uint32_t skip_b, Inner&& inner) {
  std::uint32_t dimensions[TSR_MAX_RANK];
  std::int64_t index[TSR_MAX_RANK] = {};
  std::uint32_t count = 0;
  for (std::uint32_t at = 0; at < plan.rank; ++at)
    if (const std::uint32_t d = plan.walk[at]; d != skip_a && d != skip_b) dimensions[count++] = d;
  std::int64_t from = 0, to = 0;
  for (;;) {
    inner(from, to);
    std::uint32_t i = 0;
    for (; i < count; ++i) {
      const auto d = dimensions[i];
      from += plan.source_strides[d];
      to += plan.destination_strides[d];
      if (++index[i] < plan.extents[d]) break;
      from -= plan.source_strides[d] * plan.extents[d];
      to -= plan.destination_strides[d] * plan.extents[d];
      index[i] = 0;
    }
    if (i == count) return;
  }
}

transpose_kernel transpose_for(std::uint32_t bytes) noexcept {
  const auto& k = kernels();
  return bytes == 4 ? k.transpose4 : bytes == 8 ? k.transpose8 : k.transpose16;
}

/// Reads in the order of the destination are not foreseen by the processor: a source that fits the first cache is asked
/// for as a whole.
void prefetch_small(const char* from, std::int64_t bytes) noexcept {
  constexpr std::int64_t small = 16 << 10, line = 64;
  if (bytes > small) return;
  for (std::int64_t at = 0; at < bytes; at += line) __builtin_prefetch(from + at);
}

}  // namespace

permute_plan plan_permute(tsr_type type, std::uint32_t rank, const std::int64_t* extents,
                          const std::uint32_t* permutation, bool pure_move, permute_walk along) {
  permute_plan plan;
  plan.element_bytes = static_cast<std::uint32_t>(element_bytes(type));
  std::int64_t strides[TSR_MAX_RANK] = {};
  for (std::uint32_t d = 0; d < rank; ++d) {
    strides[d] = plan.elements;
    plan.elements *= extents[d];
  }
  if (plan.elements == 0) return plan;
  std::int64_t reached = 1;
  for (std::uint32_t d = 0; d < rank; ++d) {
    const auto extent = extents[permutation[d]], stride = strides[permutation[d]];
    if (extent == 1) continue;
    const auto last = plan.rank - 1;  // wraps for the first one, and is not used then
    if (plan.rank > 0 && stride == plan.source_strides[last] * plan.extents[last]) {
      plan.extents[last] *= extent;
    } else {
      plan.extents[plan.rank] = extent;
      plan.source_strides[plan.rank] = stride;
      plan.destination_strides[plan.rank] = reached;
      ++plan.rank;
    }
    reached *= extent;
  }
  // Rows that stay rows and are 8 or 16 bytes long move as one word: (2, n, m) doubles become (n, m) words of 16 bytes.
  if (pure_move && plan.rank > 1 && plan.source_strides[0] == 1) {
    const auto row_bytes = plan.extents[0] * plan.element_bytes;
    if (row_bytes == 8 || row_bytes == 16) {
      const auto row = plan.extents[0];
      for (std::uint32_t d = 1; d < plan.rank; ++d) {
        plan.extents[d - 1] = plan.extents[d];
        plan.source_strides[d - 1] = plan.source_strides[d] / row;
        plan.destination_strides[d - 1] = plan.destination_strides[d] / row;
      }
      --plan.rank;
      plan.elements /= row;
      plan.element_bytes = static_cast<std::uint32_t>(row_bytes);
    }
  }
  std::iota(plan.walk, plan.walk + plan.rank, std::uint8_t{0});
  if (along == permute_walk::source)
    std::sort(plan.walk, plan.walk + plan.rank,
              [&](auto a, auto b) { return plan.source_strides[a] < plan.source_strides[b]; });
  return plan;
}

void run_permute(const permute_plan& plan, tsr_type type, const void* alpha, const void* beta, const void* source,
                 void* destination) noexcept {
  if (plan.elements == 0) return;
  const std::int64_t size = plan.element_bytes;
  const auto* from = static_cast<const char*>(source);
  auto* to = static_cast<char*>(destination);
  const bool scaled = alpha != nullptr;
  const auto scale = scaled ? kernels().scale[type] : nullptr;
  prefetch_small(from, plan.elements * size);
  // One row, or rows that stay rows.
  if (plan.rank <= 1 || plan.source_strides[0] == 1) {
    const auto n = plan.rank == 0 ? 1 : plan.extents[0];
    constexpr std::int64_t short_row = 512;  // bytes
    if (plan.rank > 1 && n * size <= short_row) {
      const std::uint32_t next = plan.walk[plan.walk[0] == 0 ? 1 : 0];
      const auto rows = plan.extents[next], ss = plan.source_strides[next] * size,
                 ds = plan.destination_strides[next] * size;
      const auto copy = kernels().rows;
      for_outer(plan, 0, next, [&](std::int64_t s, std::int64_t d) {
        const char* row = from + s * size;
        char* place = to + d * size;
        if (!scaled) return copy(row, ss, place, ds, rows, n * size);
        for (std::int64_t r = 0; r < rows; ++r, row += ss, place += ds) scale(alpha, beta, row, place, n);
      });
      return;
    }
    for_outer(plan, 0, 0, [&](std::int64_t s, std::int64_t d) {
      if (scaled)
        scale(alpha, beta, from + s * size, to + d * size, n);
      else
        copy_bytes(to + d * size, from + s * size, static_cast<std::size_t>(n * size));
    });
    return;
  }
  // x: the dimension that is contiguous in the source; y: dimension 0, contiguous in the destination.
  std::uint32_t x = 1;
  while (plan.source_strides[x] != 1) ++x;
  const auto nx = plan.extents[x], ny = plan.extents[0];
  const auto ss = plan.source_strides[0], ds = plan.destination_strides[x];
  const auto transpose = transpose_for(plan.element_bytes);
  if (!scaled) {
    for_outer(plan, 0, x,
              [&](std::int64_t s, std::int64_t d) { transpose(from + s * size, ss, to + d * size, ds, nx, ny); });
    return;
  }
  // Scaled: transpose a patch into a buffer that stays in the first cache, then scale its rows into place.
  constexpr std::int64_t patch_x = 16, patch_y = 64;
  alignas(64) char patch[patch_x * patch_y * 16];
  for_outer(plan, 0, x, [&](std::int64_t s, std::int64_t d) {
    for (std::int64_t y = 0; y < ny; y += patch_y) {
      const auto my = std::min(patch_y, ny - y);
      for (std::int64_t i = 0; i < nx; i += patch_x) {
        const auto mx = std::min(patch_x, nx - i);
        transpose(from + (s + y * ss + i) * size, ss, patch, patch_y, mx, my);
        for (std::int64_t r = 0; r < mx; ++r)
          scale(alpha, beta, patch + r * patch_y * size, to + (d + (i + r) * ds + y) * size, my);
      }
    }
  });
}

}  // namespace tessera::kit
