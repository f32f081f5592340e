#include "languages/sial/estimate/values.hpp"

#include <cmath>

namespace tessera::sial {
namespace {

template <class Value>
std::optional<bool> compare(relation_kind what, const std::optional<Value>& left, const std::optional<Value>& right) {
  if (!left || !right) return std::nullopt;
  switch (what) {
    case relation_kind::less:
      return *left < *right;
    case relation_kind::less_equal:
      return *left <= *right;
    case relation_kind::greater:
      return *left > *right;
    case relation_kind::greater_equal:
      return *left >= *right;
    case relation_kind::equal:
      return *left == *right;
    case relation_kind::not_equal:
      return *left != *right;
  }
  return std::nullopt;
}

/// The result; nothing beyond 64 bits, where the run ends.
template <class Function>
std::optional<std::int64_t> within(const Function& overflows) {
  std::int64_t result = 0;
  return overflows(&result) ? std::nullopt : std::optional(result);
}

}  // namespace

void values::merge(const values& other) {
  for (std::size_t k = 0; k < ints.size(); ++k)
    if (ints[k] != other.ints[k]) ints[k].reset();
  for (std::size_t k = 0; k < scalars.size(); ++k)
    if (scalars[k] != other.scalars[k]) scalars[k].reset();
}

void values::forget(const std::set<symbol>& the_ints, const std::set<symbol>& the_scalars) {
  for (const symbol s : the_ints) ints[s].reset();
  for (const symbol s : the_scalars) scalars[s].reset();
}

std::optional<std::int64_t> values::int_of(const expression& e) const {
  switch (e.kind) {
    case operation::int_literal:
      return e.i;
    case operation::int_variable:
      return ints[e.variable];
    case operation::index_variable:
      return indices[e.variable] == any_value || indices[e.variable] == unbound ? std::nullopt
                                                                                : std::optional(indices[e.variable]);
    case operation::to_int: {
      const std::optional<double> value = scalar_of(e.operands[0]);
      if (!value || !(std::abs(*value) < 0x1p62)) return std::nullopt;
      return static_cast<std::int64_t>(std::nearbyint(*value));
    }
    default:
      break;
  }
  if (e.operands.empty()) return std::nullopt;
  const std::optional<std::int64_t> a = int_of(e.operands[0]),
                                    b = e.operands.size() > 1 ? int_of(e.operands[1]) : std::optional<std::int64_t>(0);
  if (!a || !b) return std::nullopt;
  const std::int64_t x = *a, y = *b;
  switch (e.kind) {
    case operation::negate:
      return within([&](auto* to) { return __builtin_sub_overflow(std::int64_t{0}, x, to); });
    case operation::add:
      return within([&](auto* to) { return __builtin_add_overflow(x, y, to); });
    case operation::subtract:
      return within([&](auto* to) { return __builtin_sub_overflow(x, y, to); });
    case operation::multiply:
      return within([&](auto* to) { return __builtin_mul_overflow(x, y, to); });
    case operation::divide:
      if (y == 0) return std::nullopt;
      if (y == -1) return within([&](auto* to) { return __builtin_sub_overflow(std::int64_t{0}, x, to); });
      return x / y;
    default:
      return std::nullopt;
  }
}

std::optional<double> values::scalar_of(const expression& e) const {
  switch (e.kind) {
    case operation::scalar_literal:
      return e.d;
    case operation::scalar_variable:
      return scalars[e.variable];
    case operation::simple_block:
      return element_of(e.blocks[0]);
    case operation::to_scalar: {
      const std::optional<std::int64_t> value = int_of(e.operands[0]);
      return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
    }
    default:
      break;
  }
  if (e.operands.empty()) return std::nullopt;
  const std::optional<double> a = scalar_of(e.operands[0]),
                              b = e.operands.size() > 1 ? scalar_of(e.operands[1]) : std::optional(0.0);
  if (!a || !b) return std::nullopt;
  switch (e.kind) {
    case operation::negate:
      return -*a;
    case operation::square_root:
      return std::sqrt(*a);
    case operation::add:
      return *a + *b;
    case operation::subtract:
      return *a - *b;
    case operation::multiply:
      return *a * *b;
    case operation::divide:
      return *a / *b;
    case operation::power:
      return std::pow(*a, *b);
    default:
      return std::nullopt;
  }
}

std::optional<double> values::element_of(const block_reference& b) const {
  const std::vector<double>* const table = tables[b.array];
  if (table == nullptr || b.subscripts.size() != 1) return std::nullopt;
  const subscript& s = b.subscripts[0];
  const std::optional<std::int64_t> at = s.value ? int_of(*s.value) : std::optional(indices[s.index]);
  if (!at || *at < 1 || *at > static_cast<std::int64_t>(table->size())) return std::nullopt;
  return (*table)[static_cast<std::size_t>(*at - 1)];
}

std::optional<bool> values::holds(const relation& r) const {
  return r.left.type == value_type::integer ? compare(r.kind, int_of(r.left), int_of(r.right))
                                            : compare(r.kind, scalar_of(r.left), scalar_of(r.right));
}

values start_values(const program& of, const geometry& sizes, const use_table& uses, const init_data* data) {
  values v;
  for (std::uint32_t k = 0; k < sizes.arrays(); ++k) {
    v.tables.push_back(nullptr);
    const array_geometry& a = sizes.array(k);
    if (data == nullptr || a.kind != array_kind::fixed || !of.arrays[k].predefined || uses.is_written(k)) continue;
    const bool counted = a.rank == 1 && a.dims[0].lengths == nullptr && a.dims[0].low == 1;
    const auto found = data->float_arrays.find(a.name);
    if (counted && found != data->float_arrays.end()) v.tables.back() = &found->second.values;
  }
  v.indices.assign(of.indices.size(), unbound);
  for (std::size_t k = 0; k < of.ints.size(); ++k)
    v.ints.emplace_back(sizes.int_start()[k]);  // the first registers are the ints
  for (std::size_t k = 0; k < of.scalars.size(); ++k) v.scalars.emplace_back(sizes.scalar_start()[k]);
  return v;
}

segment_range range_of(symbol index, const code& lowered, const geometry& sizes) {
  const index_range& registers = lowered.ranges[index];
  return {sizes.int_start()[registers.low], sizes.int_start()[registers.high]};
}

}  // namespace tessera::sial
