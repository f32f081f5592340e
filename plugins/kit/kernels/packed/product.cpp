#include "plugins/kit/kernels/packed/product.hpp"

#include <algorithm>
#include <limits>

namespace tessera::kit {
namespace {

using i64 = std::int64_t;

constexpr std::uint64_t alignment = 64;
constexpr i64 max_panel_bytes = 1 << 19;  // of both matrices
constexpr i64 min_terms = 64, max_products = 4096;

i64 up(i64 value, i64 multiple) { return (value + multiple - 1) / multiple * multiple; }

/// The axes of one kind, the one with the smallest step in an operand first.
std::vector<contract_axis> axes_of(const contract_axes& all, label_kind kind, contract_operand by) {
  std::vector<contract_axis> these;
  for (std::uint32_t i = 0; i < all.count; ++i)
    if (all.all[i].kind == kind) these.push_back(all.all[i]);
  std::ranges::sort(these, {}, [&](const contract_axis& axis) { return axis.step[by]; });
  return these;
}

i64 extent_of(const std::vector<contract_axis>& axes) {
  i64 all = 1;
  for (const contract_axis& axis : axes)
    if (__builtin_mul_overflow(all, axis.extent, &all)) return std::numeric_limits<i64>::max();
  return all;
}

/// How far each combination of the axes is from the first one in an operand.
template <class Offset>
std::vector<Offset> offsets_of(const std::vector<contract_axis>& axes, contract_operand in) {
  std::vector<Offset> made{0};
  for (const contract_axis& axis : axes) {
    const std::size_t before = made.size();
    for (i64 at = 1; at < axis.extent; ++at)
      for (std::size_t k = 0; k < before; ++k) made.push_back(static_cast<Offset>(made[k] + at * axis.step[in]));
  }
  return made;
}

std::vector<quad_kind> quads_of(const std::vector<std::int32_t>& lanes) {
  std::vector<quad_kind> made;
  for (std::size_t l = 0; l < lanes.size(); l += 4) {
    if (l + 4 > lanes.size()) {
      made.push_back(quad_kind::part);
      continue;
    }
    const auto next = [&](std::size_t at) { return lanes[l + at + 1] == lanes[l + at] + 1; };
    made.push_back(next(0) && next(2) ? (next(1) ? quad_kind::row : quad_kind::pairs) : quad_kind::scattered);
  }
  return made;
}

std::vector<packed_run> runs_of(const std::vector<std::int32_t>& sums) {
  std::vector<packed_run> made;
  for (std::size_t p = 0; p < sums.size();) {
    std::int32_t length = 1;
    while (length < 4 && p + static_cast<std::size_t>(length) < sums.size() &&
           sums[p + static_cast<std::size_t>(length)] == sums[p] + length)
      ++length;
    if (length == 3) length = 2;
    made.push_back({static_cast<std::int32_t>(p), sums[p], length});
    p += static_cast<std::size_t>(length);
  }
  return made;
}

packed_side side_of(const std::vector<contract_axis>& lanes, const std::vector<contract_axis>& sums,
                    contract_operand in, i64 width, i64 least) {
  packed_side made;
  made.lanes = offsets_of<std::int32_t>(lanes, in);
  made.sums = offsets_of<std::int32_t>(sums, in);
  made.quads = quads_of(made.lanes);
  made.runs = runs_of(made.sums);
  const auto count = static_cast<i64>(made.lanes.size());
  made.width = width;
  made.least = least;
  for (i64 lane = 0; lane < count; lane = made.all_lanes) made.all_lanes += lanes_of_panel(count - lane, width, least);
  made.bytes = static_cast<std::uint64_t>(made.all_lanes) * made.sums.size() * sizeof(double);
  return made;
}

bool is_small(i64 m, i64 n, i64 k) {
  constexpr i64 most = max_panel_bytes / static_cast<i64>(sizeof(double));
  return m <= most && n <= most && k <= most && m * k <= most && k * n <= most && m * k + k * n <= most &&
         m * n <= most;
}

/// Offsets of the operands must fit 32 bits.
bool offsets_fit(const contract_axes& axes) {
  for (const int which : {operand_a, operand_b, operand_c}) {
    i64 last = 0;
    for (std::uint32_t i = 0; i < axes.count; ++i)
      if (axes.all[i].kind != label_batch) last += (axes.all[i].extent - 1) * axes.all[i].step[which];
    if (last > std::numeric_limits<std::int32_t>::max()) return false;
  }
  return true;
}

/// Whether C is written in rows when the labels of A, or those of B, are its rows; and if that is all the same, with
/// which of them fewer lanes are empty.
bool has_rows_of_b(const contract_axes& axes, i64 rows_of_a, i64 rows_of_b, i64 least, i64 columns) {
  for (std::uint32_t i = 0; i < axes.count; ++i)
    if (axes.all[i].step[operand_c] == 1 && axes.all[i].kind != label_batch && axes.all[i].extent >= least)
      return axes.all[i].kind == label_of_b;
  return up(rows_of_b, least) * up(rows_of_a, columns) < up(rows_of_a, least) * up(rows_of_b, columns);
}

}  // namespace

const packed_kernels* packed_kernels_here() noexcept {
#if defined(__x86_64__)
  // Of the processors with AVX-512, Zen 4 has units of 256 bits: more empty lanes for nothing.
  static const packed_kernels* const best =
      !__builtin_cpu_is("amdfam19h") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl")
          ? &packed_avx512
      : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &packed_avx2
                                                                        : nullptr;
  return best;
#else
  return nullptr;
#endif
}

std::uint64_t packed_product::place_of_second() const noexcept {
  return (first.bytes + alignment - 1) / alignment * alignment;
}
std::uint64_t packed_product::workspace_bytes() const noexcept { return place_of_second() + second.bytes; }

double packed_product::terms() const noexcept {
  return static_cast<double>(first.all_lanes) * static_cast<double>(second.all_lanes) * static_cast<double>(k) *
         static_cast<double>(batch.size());
}

std::optional<packed_product> plan_packed(const contract_axes& axes, const packed_kernels* kernels) {
  if (kernels == nullptr) return std::nullopt;
  const i64 of_a = extent_of(axes_of(axes, label_of_a, operand_c)),
            of_b = extent_of(axes_of(axes, label_of_b, operand_c)),
            sums = extent_of(axes_of(axes, label_summed, operand_a)),
            products = extent_of(axes_of(axes, label_batch, operand_c));
  if (of_a < 2 || of_b < 2 || products > max_products || !is_small(of_a, of_b, sums) ||
      of_a * of_b * sums <= min_terms || !offsets_fit(axes))
    return std::nullopt;
  packed_product made;
  made.kernels = kernels;
  made.swapped = has_rows_of_b(axes, of_a, of_b, kernels->min_rows, kernels->columns);
  const contract_operand first = made.swapped ? operand_b : operand_a, second = made.swapped ? operand_a : operand_b;
  const label_kind of_first = made.swapped ? label_of_b : label_of_a,
                   of_second = made.swapped ? label_of_a : label_of_b;
  const auto rows = axes_of(axes, of_first, operand_c), columns = axes_of(axes, of_second, second),
             terms = axes_of(axes, label_summed, first), batch = axes_of(axes, label_batch, operand_c);
  made.m = extent_of(rows), made.n = extent_of(columns), made.k = sums;
  made.first = side_of(rows, terms, first, kernels->rows, kernels->min_rows);
  made.second = side_of(columns, terms, second, kernels->columns, std::min<i64>(kernels->columns, 4));
  made.rows = offsets_of<std::int32_t>(rows, operand_c);
  made.columns = offsets_of<std::int32_t>(columns, operand_c);
  made.quads = quads_of(made.rows);
  made.batch.resize(static_cast<std::size_t>(products));
  for (const contract_operand which : {operand_a, operand_b, operand_c}) {
    const auto offsets = offsets_of<i64>(batch, which);
    for (std::size_t item = 0; item < offsets.size(); ++item) made.batch[item][which] = offsets[item];
  }
  return made;
}

void run_packed(const packed_product& product, double alpha, const double* a, const double* b, double beta, double* c,
                void* workspace, const std::array<const void*, 2>& expected) noexcept {
  const packed_kernels& kernels = *product.kernels;
  auto* const first_panels = static_cast<double*>(workspace);
  auto* const second_panels = reinterpret_cast<double*>(static_cast<char*>(workspace) + product.place_of_second());
  const contract_operand first = product.swapped ? operand_b : operand_a,
                         second = product.swapped ? operand_a : operand_b;
  const double* const operands[] = {a, b};
  const auto pack = [&](const packed_side& side, const double* from, double* to) {
    kernels.pack({from, side.lanes.data(), side.quads.data(), static_cast<i64>(side.lanes.size()), side.sums.data(),
                  side.runs.data(), static_cast<i64>(side.runs.size()), product.k},
                 side.width, side.least, to);
  };
  const auto lines = [&](contract_operand which, i64 lanes) {
    return expected[which] == nullptr ? 0 : (lanes * product.k * static_cast<i64>(sizeof(double)) + 63) / 64;
  };
  const packed_next none{}, next{static_cast<const char*>(expected[first]), static_cast<const char*>(expected[second]),
                                 lines(first, product.m), lines(second, product.n)};
  for (const auto& item : product.batch) {
    pack(product.first, operands[first] + item[first], first_panels);
    pack(product.second, operands[second] + item[second], second_panels);
    const packed_target to{c + item[operand_c],
                           product.rows.data(),
                           product.columns.data(),
                           product.quads.data(),
                           product.m,
                           product.n,
                           alpha,
                           beta};
    kernels.multiply(first_panels, second_panels, product.k, to, &item == &product.batch.back() ? next : none);
  }
}

}  // namespace tessera::kit
