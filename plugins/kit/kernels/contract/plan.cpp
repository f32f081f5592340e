#include "plugins/kit/kernels/contract/plan.hpp"

#include <algorithm>
#include <utility>

#include "plugins/kit/abi/operand.hpp"

namespace tessera::kit {
namespace {

using i64 = std::int64_t;

// ------------------------------------------------------------------------------------------------ products ----------

/// The axes of one product; none of a kind is -1.
struct choice {
  int row = -1, column = -1, sum = -1;
};

/// The matrices of a product: steps along rows and columns, by contract_operand.
struct matrices {
  i64 extent[3] = {1, 1, 1};  // m, n, k
  i64 row[3] = {}, column[3] = {};
};

matrices matrices_of(const contract_axes& axes, const choice& of) {
  matrices made;
  const auto set = [&](int axis, int which_extent, contract_operand first, i64* first_steps, contract_operand second,
                       i64* second_steps) {
    if (axis < 0) return;
    const contract_axis& from = axes.all[axis];
    made.extent[which_extent] = from.extent;
    first_steps[first] = from.step[first];
    second_steps[second] = from.step[second];
  };
  set(of.row, 0, operand_a, made.row, operand_c, made.row);
  set(of.column, 1, operand_b, made.column, operand_c, made.column);
  set(of.sum, 2, operand_a, made.column, operand_b, made.row);
  return made;
}

/// Whether BLAS takes a matrix: one of its steps is 1, or it is a vector.
bool is_matrix(i64 rows, i64 row_step, i64 columns, i64 column_step) {
  return rows == 1 || columns == 1 || row_step == 1 || column_step == 1;
}

/// The seconds of one product. Operands are packed when they are multiplied, so their bytes count too.
double seconds_of(const matrices& p, tsr_type type, const contract_costs& costs) {
  const auto tiled = [&](i64 extent) {
    return static_cast<double>((extent + costs.tile - 1) / costs.tile * costs.tile);
  };
  const auto m = static_cast<double>(p.extent[0]), n = static_cast<double>(p.extent[1]),
             k = static_cast<double>(p.extent[2]);
  const double rate = costs.flops * (type == TSR_F32 || type == TSR_C64 ? 2 : 1);
  const bool vector = p.extent[0] == 1 || p.extent[1] == 1;
  const double arithmetic =
      2 * (vector ? m * n : tiled(p.extent[0]) * tiled(p.extent[1])) * k * (is_complex(type) ? 4 : 1) / rate;
  return arithmetic + (m * k + k * n + 2 * m * n) * static_cast<double>(element_bytes(type)) / costs.product_bytes;
}

/// The best choice of axes for products of operands as they lie; false where there is none.
bool choose(const contract_axes& axes, tsr_type type, const contract_costs& costs, choice& best, double& seconds) {
  bool any = false;
  const int count = static_cast<int>(axes.count);
  const auto has_kind = [&](int axis, label_kind kind) { return axis < 0 || axes.all[axis].kind == kind; };
  for (int row = -1; row < count; ++row)
    for (int column = -1; has_kind(row, label_of_a) && column < count; ++column)
      for (int sum = -1; has_kind(column, label_of_b) && sum < count; ++sum) {
        if (!has_kind(sum, label_summed)) continue;
        const choice one{row, column, sum};
        const matrices p = matrices_of(axes, one);
        bool fits = true;
        const i64 rows[] = {p.extent[0], p.extent[2], p.extent[0]}, columns[] = {p.extent[2], p.extent[1], p.extent[1]};
        for (int which = 0; which < 3; ++which)
          fits = fits && is_matrix(rows[which], p.row[which], columns[which], p.column[which]);
        if (!fits) continue;
        double items = 1, longest = 1;
        for (int axis = 0; axis < count; ++axis) {
          if (axis == row || axis == column || axis == sum) continue;
          const auto extent = static_cast<double>(axes.all[axis].extent);
          items *= extent;
          if (axes.all[axis].kind != label_summed) longest = std::max(longest, extent);
        }
        const double whole = items * (seconds_of(p, type, costs) + costs.item) + items / longest * costs.call;
        if (any && whole >= seconds) continue;
        any = true;
        best = one;
        seconds = whole;
      }
  return any;
}

// -------------------------------------------------------------------------------------------------- copies ----------

/// Which operands are copied, as bits; in which copies the other group of labels comes first; and which groups of
/// labels that two copies share have the order that they have in the other operand (rows: of A, not C; columns: of B;
/// sums: of B, not A).
struct copies {
  unsigned copied, turned, other;
  bool has(contract_operand which) const { return (copied >> which & 1) != 0; }
  /// Whether the bits mean something.
  bool possible() const {
    const unsigned shared = (has(operand_a) && has(operand_c) ? 1u : 0u) |
                            (has(operand_b) && has(operand_c) ? 2u : 0u) | (has(operand_a) && has(operand_b) ? 4u : 0u);
    return (turned & ~copied) == 0 && (other & ~shared) == 0;
  }
};

/// Appends the labels of a kind in the order in which an operand has them.
void append(const contract_layout& layout, contract_operand like, label_kind kind, std::uint8_t* order,
            std::uint32_t& count) {
  for (std::uint32_t d = 0; d < layout.rank[like]; ++d)
    if (layout.kinds[layout.order[like][d]] == kind) order[count++] = layout.order[like][d];
}

/// The layout with copies as matrices: each kind of labels together, in the order of an operand that is not copied;
/// batches outermost.
contract_layout with_copies(const contract_layout& from, const copies& what) {
  const auto guide = [&](contract_operand first, contract_operand second, unsigned group) {
    return what.has(first) && (what.other & group) == 0 ? second : first;
  };
  const contract_operand rows_like = guide(operand_c, operand_a, 1), columns_like = guide(operand_c, operand_b, 2),
                         sums_like = guide(operand_b, operand_a, 4);
  const contract_operand batch_like = guide(operand_c, guide(operand_a, operand_b, 0), 0);
  contract_layout to = from;
  const struct {
    contract_operand which;
    label_kind kind[2];
    contract_operand like[2];
  } groups[] = {{operand_a, {label_of_a, label_summed}, {rows_like, sums_like}},
                {operand_b, {label_summed, label_of_b}, {sums_like, columns_like}},
                {operand_c, {label_of_a, label_of_b}, {rows_like, columns_like}}};
  for (const auto& g : groups) {
    if (!what.has(g.which)) continue;
    std::uint32_t count = 0;
    const int first = (what.turned >> g.which & 1) != 0 ? 1 : 0;
    for (const int at : {first, 1 - first}) append(from, g.like[at], g.kind[at], to.order[g.which], count);
    append(from, batch_like, label_batch, to.order[g.which], count);
  }
  return to;
}

/// The permutation from one order of an operand to another. A and B come from anywhere and go to the workspace, which
/// is in the cache; C the other way.
permute_plan permutation(const contract_layout& layout, contract_operand which, const std::uint8_t* from,
                         const std::uint8_t* to, tsr_type type, bool pure_move) {
  i64 extents[TSR_MAX_RANK] = {};
  std::uint32_t places[TSR_MAX_RANK] = {};
  for (std::uint32_t d = 0; d < layout.rank[which]; ++d) {
    extents[d] = layout.extents[from[d]];
    places[d] = static_cast<std::uint32_t>(std::find(from, from + layout.rank[which], to[d]) - from);
  }
  return plan_permute(type, layout.rank[which], extents, places, pure_move,
                      which == operand_c ? permute_walk::destination : permute_walk::source);
}

/// Rows that stay rows move fast when they are long; rows that become columns move in squares, when those are large
/// enough.
double seconds_of(const permute_plan& plan, const contract_costs& costs) {
  const double bytes = 2.0 * static_cast<double>(plan.elements) * plan.element_bytes;
  double slower = 1;
  if (plan.rank > 1 && plan.source_strides[0] == 1) {
    slower += 48.0 / static_cast<double>(plan.extents[0] * plan.element_bytes);
  } else if (plan.rank > 1) {
    std::uint32_t x = 1;
    while (plan.source_strides[x] != 1) ++x;
    const i64 shorter = std::min(plan.extents[0], plan.extents[x]);
    slower = 1.5 + (shorter >= 8 ? 0 : 4.0 / static_cast<double>(shorter));
  }
  return costs.permute_call + bytes / costs.permute_bytes * slower;
}

// ---------------------------------------------------------------------------------------------------- plans ---------

/// Fills the product and the loops around it.
void set_product(contract_plan& plan, const contract_axes& axes, const choice& chosen) {
  const matrices p = matrices_of(axes, chosen);
  const bool vector_c = p.extent[0] == 1 || p.extent[1] == 1;
  // The matrix that is written lies along its rows, else all is transposed.
  plan.swapped = vector_c ? (p.extent[1] == 1 && p.row[operand_c] != 1 && p.extent[0] != 1) : p.row[operand_c] != 1;
  const contract_operand first = plan.swapped ? operand_b : operand_a, second = plan.swapped ? operand_a : operand_b;
  plan.m = p.extent[plan.swapped ? 1 : 0];
  plan.n = p.extent[plan.swapped ? 0 : 1];
  plan.k = p.extent[2];
  const contract_operand in_order[] = {first, second, operand_c};
  const i64 rows[] = {plan.m, plan.k, plan.m}, columns[] = {plan.k, plan.n, plan.n};
  for (int at = 0; at < 3; ++at) {
    plan.row_step[at] = plan.swapped ? p.column[in_order[at]] : p.row[in_order[at]];
    plan.column_step[at] = plan.swapped ? p.row[in_order[at]] : p.column[in_order[at]];
    const bool plain = plan.row_step[at] == 1 || rows[at] == 1;
    if (at < 2) plan.transposed[at] = !plain;
    const i64 lines = plain ? columns[at] : rows[at];
    plan.ld[at] = lines > 1 ? (plain ? plan.column_step[at] : plan.row_step[at])
                            : std::max<i64>(plain ? rows[at] : columns[at], 1);
  }
  const auto size = static_cast<i64>(element_bytes(plan.shape.type));
  const contract_axis* longest = nullptr;
  const auto loop_of = [&](const contract_axis& axis) {
    contract_loop loop{axis.extent, {}, axis.kind == label_summed};
    for (int which = 0; which < 3; ++which) loop.step[which] = axis.step[which] * size;
    return loop;
  };
  const auto each = [&](bool sums, auto&& function) {
    for (int axis = 0; axis < static_cast<int>(axes.count); ++axis)
      if (axis != chosen.row && axis != chosen.column && axis != chosen.sum &&
          (axes.all[axis].kind == label_summed) == sums)
        function(axes.all[axis]);
  };
  each(false, [&](const contract_axis& axis) {
    if (longest == nullptr || axis.extent > longest->extent) longest = &axis;
  });
  if (longest != nullptr) plan.batch = loop_of(*longest);
  for (const bool sums : {false, true})
    each(sums, [&](const contract_axis& axis) {
      if (&axis != longest) plan.loops[plan.loop_count++] = loop_of(axis);
    });
}

void set_copies(contract_plan& plan, const contract_layout& natural, const contract_layout& laid) {
  const tsr_type type = plan.shape.type;
  for (const contract_operand which : {operand_a, operand_b, operand_c}) {
    if (!plan.copied[which]) continue;
    const std::uint8_t *own = natural.order[which], *other = laid.order[which];
    if (which == operand_c) {
      plan.move_back = permutation(natural, which, other, own, type, true);
      plan.add_back = permutation(natural, which, other, own, type, false);
    } else {
      plan.copy[which] = permutation(natural, which, own, other, type, true);
    }
    plan.place[which] = plan.workspace;
    plan.workspace += (plan.bytes[which] + contract_alignment - 1) / contract_alignment * contract_alignment;
  }
}

double seconds_of(const packed_product& p, const contract_costs& costs) {
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n), k = static_cast<double>(p.k);
  const double bytes = (m * k + k * n + 2 * m * n) * sizeof(double);
  return 2 * p.terms() / costs.packed_flops +
         static_cast<double>(p.batch.size()) * (bytes / costs.packed_bytes + costs.packed);
}

/// Packed products, where they are faster than what was found so far.
void prefer_packed(contract_plan& plan, const contract_layout& layout, const contract_costs& costs) {
  if (costs.packed == 0 || plan.shape.type != TSR_F64) return;
  std::optional<packed_product> packed = plan_packed(fuse(layout));
  if (!packed || seconds_of(*packed, costs) >= plan.seconds) return;
  plan.seconds = seconds_of(*packed, costs);
  plan.workspace = packed->workspace_bytes();
  plan.packed = std::move(packed);
}

}  // namespace

contract_plan plan_contraction(const contract_shape& shape, const contract_layout& layout,
                               const contract_costs& costs) {
  contract_plan plan;
  plan.shape = shape;
  std::copy_n(layout.bytes, 3, plan.bytes);
  plan.nothing_to_do = layout.nothing_to_do;
  if (layout.nothing_to_do) return plan;
  if (layout.empty_sum) {  // C = beta C
    plan.m = static_cast<i64>(layout.bytes[operand_c] / element_bytes(shape.type));
    plan.k = 0;
    plan.ld[0] = plan.ld[2] = plan.m;
    plan.row_step[0] = plan.row_step[2] = 1;
    return plan;
  }
  plan.flops = is_complex(shape.type) ? 8 : 2;
  for (std::uint32_t i = 0; i < layout.labels; ++i) plan.flops *= static_cast<double>(layout.extents[i]);

  contract_layout best_layout;
  choice best;
  bool any = false;
  for (unsigned number = 0; number < 512; ++number) {
    const copies chosen{number >> 6, number >> 3 & 7, number & 7};
    if (!chosen.possible()) continue;
    const contract_layout laid = with_copies(layout, chosen);
    double whole = 0;
    bool same = false;  // a copy in the order of the original
    for (const contract_operand at : {operand_a, operand_b, operand_c}) {
      if (!chosen.has(at)) continue;
      same = same || std::equal(laid.order[at], laid.order[at] + laid.rank[at], layout.order[at]);
      const bool back = at == operand_c;
      whole += seconds_of(permutation(layout, at, back ? laid.order[at] : layout.order[at],
                                      back ? layout.order[at] : laid.order[at], shape.type, true),
                          costs);
    }
    if (same || (any && whole >= plan.seconds)) continue;
    choice one;
    double products = 0;
    if (!choose(fuse(laid), shape.type, costs, one, products) || (any && whole + products >= plan.seconds)) continue;
    any = true;
    best = one;
    best_layout = laid;
    plan.seconds = whole + products;
    for (const contract_operand at : {operand_a, operand_b, operand_c}) plan.copied[at] = chosen.has(at);
  }
  set_product(plan, fuse(best_layout), best);
  set_copies(plan, layout, best_layout);
  prefer_packed(plan, layout, costs);
  return plan;
}

}  // namespace tessera::kit
