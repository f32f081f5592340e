#include "plugins/kit/kernels/contract/shape.hpp"

#include "plugins/kit/abi/operand.hpp"

namespace tessera::kit {
namespace {

constexpr char names[] = {'A', 'B', 'C'};

/// The labels as they are collected, those of extent 1 included.
struct collected {
  std::uint32_t count = 0;
  std::int32_t label[3 * TSR_MAX_RANK] = {};
  std::int64_t extent[3 * TSR_MAX_RANK] = {};
  std::uint8_t members[3 * TSR_MAX_RANK] = {};
  std::uint8_t number[3][TSR_MAX_RANK] = {};  // by operand and dimension

  std::uint32_t find(std::int32_t wanted) const {
    std::uint32_t i = 0;
    while (i < count && label[i] != wanted) ++i;
    return i;
  }
};

/// `extents` null: those of the inputs (C).
tsr_status collect(const reporter& report, std::uint8_t which, std::uint32_t rank, const std::int32_t* modes,
                   const std::int64_t* extents, collected& into) {
  const char name = names[which];
  const auto bit = static_cast<std::uint8_t>(1u << which);
  if (rank > TSR_MAX_RANK)
    return report.fail(TSR_INVALID_ARGUMENT, "contract: %c has rank %u; the most is %u", name, rank,
                       unsigned{TSR_MAX_RANK});
  for (std::uint32_t d = 0; d < rank; ++d) {
    const std::uint32_t i = into.find(modes[d]);
    if (extents != nullptr && extents[d] < 0)
      return report.fail(TSR_INVALID_ARGUMENT, "contract: extent %u of %c is %lld", d, name,
                         static_cast<long long>(extents[d]));
    if (i == into.count) {
      if (extents == nullptr)
        return report.fail(TSR_INVALID_ARGUMENT, "contract: label %d of C is neither in A nor in B", modes[d]);
      into.label[i] = modes[d];
      into.extent[i] = extents[d];
      ++into.count;
    } else if ((into.members[i] & bit) != 0) {
      return report.fail(TSR_INVALID_ARGUMENT, "contract: label %d stands twice in %c; a trace is not a contraction",
                         modes[d], name);
    } else if (extents != nullptr && into.extent[i] != extents[d]) {
      return report.fail(TSR_INVALID_ARGUMENT, "contract: label %d has extent %lld in A and %lld in B", modes[d],
                         static_cast<long long>(into.extent[i]), static_cast<long long>(extents[d]));
    }
    into.members[i] = static_cast<std::uint8_t>(into.members[i] | bit);
    into.number[which][d] = static_cast<std::uint8_t>(i);
  }
  return TSR_OK;
}

}  // namespace

tsr_status lay_out(const reporter& report, const contract_shape& shape, contract_layout& out) {
  if (shape.type < TSR_F32 || shape.type > TSR_C128)
    return report.fail(TSR_UNIMPLEMENTED, "contract: no kernel for element type %u; ask supports first", shape.type);
  collected found;
  if (const auto status = collect(report, operand_a, shape.rank_a, shape.modes_a, shape.extents_a, found))
    return status;
  if (const auto status = collect(report, operand_b, shape.rank_b, shape.modes_b, shape.extents_b, found))
    return status;
  if (const auto status = collect(report, operand_c, shape.rank_c, shape.modes_c, nullptr, found)) return status;
  out = {};
  std::uint8_t kept[3 * TSR_MAX_RANK] = {};
  for (std::uint32_t i = 0; i < found.count; ++i) {
    const auto kind = static_cast<label_kind>(found.members[i]);
    if (kind == 1 || kind == 2)
      return report.fail(TSR_INVALID_ARGUMENT, "contract: label %d is in %c alone; sum over it before (reduce)",
                         found.label[i], names[kind - 1]);
    if (found.extent[i] == 0) (kind == label_summed ? out.empty_sum : out.nothing_to_do) = true;
    if (found.extent[i] == 1) continue;
    kept[i] = static_cast<std::uint8_t>(out.labels);
    out.extents[out.labels] = found.extent[i];
    out.kinds[out.labels++] = kind;
  }
  const std::uint32_t ranks[] = {shape.rank_a, shape.rank_b, shape.rank_c};
  for (std::uint8_t which = 0; which < 3; ++which) {
    std::uint64_t bytes = element_bytes(shape.type);
    bool empty = false;
    for (std::uint32_t d = 0; d < ranks[which]; ++d) {
      const std::uint8_t i = found.number[which][d];
      const std::int64_t extent = found.extent[i];
      if (extent != 1) out.order[which][out.rank[which]++] = kept[i];
      empty = empty || extent == 0;
      if (extent > 1 &&
          (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes) || bytes > INT64_MAX))
        return report.fail(TSR_OUT_OF_RANGE, "contract: %c has more bytes than 63 bits count", names[which]);
    }
    out.bytes[which] = empty ? 0 : bytes;
  }
  return TSR_OK;
}

contract_axes fuse(const contract_layout& layout) {
  constexpr std::uint8_t none = 0xff;
  constexpr std::uint32_t most = contract_layout::max_labels;
  std::int64_t step[3][most] = {};
  std::uint8_t next[3][most];
  for (int which = 0; which < 3; ++which) {
    std::int64_t reached = 1;
    for (std::uint32_t d = 0; d < layout.rank[which]; ++d) {
      const std::uint8_t i = layout.order[which][d];
      step[which][i] = reached;
      reached *= layout.extents[i];
      next[which][i] = d + 1 < layout.rank[which] ? layout.order[which][d + 1] : none;
    }
  }
  // The label that continues a label in every operand that has either, and whether a label continues another.
  std::uint8_t continued[most];
  bool continues[most] = {};
  for (std::uint8_t i = 0; i < layout.labels; ++i) {
    std::uint8_t by = none;
    bool same = true, first = true;
    for (int which = 0; which < 3; ++which) {
      if ((layout.kinds[i] >> which & 1) == 0) continue;
      same = same && (first || next[which][i] == by);
      by = next[which][i];
      first = false;
    }
    if (!same || by == none || layout.kinds[by] != layout.kinds[i]) by = none;
    continued[i] = by;
    if (by != none) continues[by] = true;
  }
  contract_axes axes;
  for (std::uint8_t i = 0; i < layout.labels; ++i) {
    if (continues[i]) continue;
    contract_axis& axis = axes.all[axes.count++];
    axis.kind = layout.kinds[i];
    for (int which = 0; which < 3; ++which) axis.step[which] = step[which][i];
    for (std::uint8_t at = i; at != none; at = continued[at]) axis.extent *= layout.extents[at];
  }
  return axes;
}

}  // namespace tessera::kit
