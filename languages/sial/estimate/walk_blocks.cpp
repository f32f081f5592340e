// Statements on values and blocks.
#include <fmt/format.h>

#include <algorithm>

#include "languages/sial/estimate/walk.hpp"

namespace tessera::sial {
namespace {

constexpr std::int64_t max_allocated = 4'000'000;  // blocks at once that are looked at one by one

/// What stands for the ordinal of a block of which an index is not known: from its subscripts, one after the other.
class nameless {
 public:
  void add_segment(std::int64_t value) { mix(static_cast<std::uint64_t>(value)); }
  void add_any(symbol index) { mix(0xabcd0000u + index); }
  std::int64_t identity() const noexcept { return -static_cast<std::int64_t>(m_name >> 2) - 1; }

 private:
  void mix(std::uint64_t word) { m_name = (m_name ^ word) * 0x9e3779b97f4a7c15ull; }
  std::uint64_t m_name = 0x51a1;
};

/// The longest of some segments of a dimension.
std::int64_t longest(const dimension& d, std::int64_t low, std::int64_t high) {
  std::int64_t most = 0;
  for (std::int64_t s = std::max(low, d.low); s <= std::min(high, d.high); ++s) {
    most = std::max(most, d.length(s));
    if (d.lengths == nullptr) break;
  }
  return most;
}

}  // namespace

walker::placed walker::place_of(const block_reference& b) {
  const array_geometry& a = m_sizes.array(b.array);
  placed at;
  std::int64_t ordinal = 0;
  nameless name;
  bool known = true;
  for (std::size_t d = 0; d < a.rank; ++d) {
    const subscript& s = b.subscripts[d];
    std::optional<std::int64_t> value;
    std::int64_t low = a.dims[d].low, high = a.dims[d].high;
    symbol by = s.index;
    if (s.value) {
      value = m_values.int_of(*s.value);
    } else {
      if (m_program.indices[by].kind == index_kind::sub && a.dims[d].kind != index_kind::sub)
        by = m_program.indices[by].parent;
      const std::int64_t index = m_values.indices[by];
      if (index == unbound) {
        note(m_at->where, fmt::format("index '{}' has no value here: this will fail", m_program.indices[by].name));
        at.fits = false;
        return at;
      }
      if (index != any_value)
        value = index;
      else if (m_program.indices[by].kind != index_kind::sub)
        low = range_of(by, m_code, m_sizes).low, high = range_of(by, m_code, m_sizes).high;
    }
    if (value && (*value < a.dims[d].low || *value > a.dims[d].high)) {
      note(m_at->where, fmt::format("segment {} is outside of dimension {} of '{}', which has {}:{}: this will fail",
                                    *value, d + 1, a.name, a.dims[d].low, a.dims[d].high));
      at.fits = false;
      return at;
    }
    known = known && value.has_value();
    at.extents.push_back(value ? a.dims[d].length(*value) : longest(a.dims[d], low, high));
    at.elements *= static_cast<double>(at.extents.back());
    if (value) ordinal += (*value - a.dims[d].low) * a.stride[d];
    if (value)
      name.add_segment(*value);
    else
      name.add_any(by);
  }
  if (known) at.ordinal = ordinal;
  at.identity = known ? ordinal : name.identity();
  return at;
}

void walker::holds(std::uint32_t array, const placed& at) {
  const std::pair block{array, at.identity};
  if (std::ranges::find(m_in_hand, block) != m_in_hand.end()) return;
  m_in_hand.push_back(block);
  m_hand += amount_of(at.elements).room;
}

void walker::reads(const block_reference& b) {
  const array_kind kind = m_sizes.array(b.array).kind;
  if (kind != array_kind::distributed && kind != array_kind::served) return;
  const placed at = place_of(b);
  if (at.fits) holds(b.array, at);
}

void walker::writes(const block_reference& b) {
  const array_kind kind = m_sizes.array(b.array).kind;
  if (kind != array_kind::temp && kind != array_kind::local) return;
  const placed at = place_of(b);
  if (!at.fits) return;
  if (m_blocks.has(b.array, at.identity)) return;
  if (kind == array_kind::local && !at.ordinal) {
    if (m_blocks.has_unnamed(b.array)) return;  // one of those
    m_whole_locals.insert(b.array);
    return;
  }
  (kind == array_kind::temp ? m_temps_most : m_locals_most) |= !sure() || !at.ordinal;
  m_blocks.make(b.array, at.identity, m_blocks.kind_of(kind, at.extents), kind == array_kind::temp);
}

void walker::value(const expression& e) {
  for (const block_reference& b : e.blocks) reads(b);
  for (const expression& operand : e.operands) value(operand);
}

walker::flow walker::look(const assign_int& s) {
  value(s.value);
  if (!m_uses.decides_int(s.to)) {
    m_values.ints[s.to].reset();
    return flow::normal;
  }
  std::optional<std::int64_t>& to = m_values.ints[s.to];
  const std::optional<std::int64_t> by = m_values.int_of(s.value);
  if (!by || (s.assignment != assign::set && !to)) {
    to.reset();
    return flow::normal;
  }
  const auto a = static_cast<std::uint64_t>(to.value_or(0)), b = static_cast<std::uint64_t>(*by);
  to = static_cast<std::int64_t>(s.assignment == assign::set        ? b
                                 : s.assignment == assign::add      ? a + b
                                 : s.assignment == assign::subtract ? a - b
                                                                    : a * b);
  return flow::normal;
}

walker::flow walker::look(const assign_scalar& s) {
  value(s.value);
  if (!m_uses.decides_scalar(s.to)) {
    m_values.scalars[s.to].reset();
    return flow::normal;
  }
  std::optional<double>& to = m_values.scalars[s.to];
  const std::optional<double> by = m_values.scalar_of(s.value);
  if (!by || (s.assignment != assign::set && !to))
    to.reset();
  else
    to = s.assignment == assign::set        ? *by
         : s.assignment == assign::add      ? *to + *by
         : s.assignment == assign::subtract ? *to - *by
                                            : *to * *by;
  return flow::normal;
}

walker::flow walker::look(const collective_statement& s) {
  value(s.value);
  std::optional<double>& to = m_values.scalars[s.scalar];
  const std::optional<double> by = m_uses.decides_scalar(s.scalar) ? m_values.scalar_of(s.value) : std::nullopt;
  if (!by || !to) {
    to.reset();
    return flow::normal;
  }
  double sum = 0;  // what is known is the same on all workers
  for (unsigned w = 0; w < m_settings.workers; ++w) sum += *by;
  to = *to + sum;
  return flow::normal;
}

walker::flow walker::look(const execute_statement& s) {
  const std::string& letters = m_program.specials[s.special].signature;
  for (std::size_t k = 0; k < s.arguments.size(); ++k) {
    if (const auto* scalar = std::get_if<scalar_argument>(&s.arguments[k]); scalar != nullptr && letters[k] != 'r')
      m_values.scalars[scalar->scalar].reset();
    if (const auto* b = std::get_if<block_reference>(&s.arguments[k])) letters[k] == 'w' ? writes(*b) : reads(*b);
  }
  double elements = 0;
  for (const auto& argument : s.arguments)
    if (const auto* b = std::get_if<block_reference>(&argument); b != nullptr && elements == 0)
      elements = place_of(*b).elements;
  count(&s, false, elements, m_program.specials[s.special].name);
  return flow::normal;
}

walker::flow walker::look(const fetch_statement& s) {
  const placed at = place_of(s.block);
  if (!at.fits) return flow::normal;
  tally one;
  one.fetches = m_in_pardo ? 1 : m_settings.workers;
  one.fetched_bytes = one.fetches * at.elements * sizeof(double);
  m_tally.add(one, m_weight, m_unsure > 0);
  return flow::normal;
}

walker::flow walker::look(const store_statement& s) {
  if (const auto* from = std::get_if<block_reference>(&s.from))
    reads(*from);
  else
    value(std::get<expression>(s.from));
  const placed at = place_of(s.to);
  if (!at.fits) return flow::normal;
  holds(s.to.array, at);
  m_shared.write(s.to.array, at.ordinal, at.elements, sure());
  return flow::normal;
}

walker::flow walker::look(const delete_statement& s) {
  if (sure()) m_shared.remove(s.array);
  return flow::normal;
}

walker::flow walker::look(const allocate_statement& s) {
  const array_geometry& a = m_sizes.array(s.array);
  if (s.release && s.subscripts.empty()) {
    m_blocks.release_all(s.array);
    return flow::normal;
  }
  // In each dimension all segments, or one, which may not be known: one of the longest then.
  std::vector<std::int64_t> low, high;
  std::vector<symbol> unknown(a.rank, no_symbol);
  double blocks = 1;
  bool inside = true, known = true;
  for (std::size_t d = 0; d < a.rank; ++d) {
    const bool all = s.subscripts.empty() || s.subscripts[d] == no_symbol;
    const std::int64_t value = all ? 0 : m_values.indices[s.subscripts[d]];
    if (!all && value == any_value) unknown[d] = s.subscripts[d];
    const bool one = !all && value != any_value;
    inside = inside && (!one || (value >= a.dims[d].low && value <= a.dims[d].high));
    low.push_back(all ? a.dims[d].low : one ? value : 0);
    high.push_back(all ? a.dims[d].high : low.back());
    known = known && (all || one);
    blocks *= static_cast<double>(high.back() - low.back() + 1);
  }
  if (!inside || blocks > max_allocated) {
    if (!s.release) m_whole_locals.insert(s.array);
    return flow::normal;
  }
  for (std::vector<std::int64_t> at = low;;) {
    std::int64_t ordinal = 0;
    nameless name;
    std::vector<std::int64_t> extents;
    for (std::size_t d = 0; d < a.rank; ++d) {
      if (unknown[d] != no_symbol) {
        const segment_range range = range_of(unknown[d], m_code, m_sizes);
        extents.push_back(longest(a.dims[d], range.low, range.high));
        name.add_any(unknown[d]);
        continue;
      }
      ordinal += (at[d] - a.dims[d].low) * a.stride[d];
      extents.push_back(a.dims[d].length(at[d]));
      name.add_segment(at[d]);
    }
    const std::int64_t identity = known ? ordinal : name.identity();
    if (s.release) {
      m_blocks.release(s.array, identity);
    } else {
      m_locals_most |= !sure() || !known;
      m_blocks.make(s.array, identity, m_blocks.kind_of(a.kind, extents), false);
    }
    std::size_t d = 0;
    while (d < a.rank && ++at[d] > high[d]) {
      at[d] = low[d];
      ++d;
    }
    if (d == a.rank) return flow::normal;
  }
}

walker::flow walker::look(const allocate_region_statement& s) {
  const array_geometry& a = m_sizes.array(s.region.array);
  std::vector<std::int64_t> ends;
  double bytes = sizeof(double);
  bool known = sure();
  for (std::size_t d = 0; d < a.rank; ++d) {
    const std::optional<std::int64_t> low = m_values.int_of(s.region.ranges[d].first),
                                      high = m_values.int_of(s.region.ranges[d].second);
    if (!low || !high || *low < a.dims[d].low || *high > a.dims[d].high || *low > *high) {
      known = false;
      break;
    }
    ends.insert(ends.end(), {*low, *high});
    bytes *= static_cast<double>(a.dims[d].offset(*high + 1) - a.dims[d].offset(*low));
  }
  if (ends.size() < 2 * a.rank) {
    ends.clear();  // stands for all regions that are not known
    bytes = a.elements() * sizeof(double);
  }
  const std::pair key{s.region.array, ends};
  if (s.release) {
    const auto found = m_regions.find(key);
    if (!known || found == m_regions.end()) return flow::normal;
    m_region_bytes -= found->second;
    m_regions.erase(found);
    return flow::normal;
  }
  m_regions_most |= !known;
  if (m_regions.try_emplace(key, bytes).second) m_region_bytes += bytes;
  m_region_most = std::max(m_region_most, m_region_bytes);
  return flow::normal;
}

walker::flow walker::look(const persistent_statement& s) {
  if (!s.restore) {
    if (!s.is_scalar)
      m_to_keep[s.label] = s.operand;
    else
      m_kept[s.label] = {};
    return flow::normal;
  }
  if (s.is_scalar) m_values.scalars[s.operand].reset();
  const auto found = m_kept.find(s.label);
  if (found == m_kept.end())
    note(m_at->where,
         fmt::format(
             "no program before keeps anything under \"{}\": this will fail, or it is in a checkpoint and not counted",
             s.label));
  else if (!s.is_scalar && m_sizes.array(s.operand).kind != array_kind::fixed)
    m_base[s.operand] = found->second;
  return flow::normal;
}

walker::flow walker::look(const block_scalar& s) {
  value(s.value);
  writes(s.to);
  return flow::normal;
}

walker::flow walker::look(const block_copy& s) {
  reads(s.from);
  writes(s.to);
  return flow::normal;
}

walker::flow walker::look(const block_sum& s) {
  reads(s.left);
  reads(s.right);
  writes(s.to);
  return flow::normal;
}

walker::flow walker::look(const block_scaled& s) {
  value(s.factor);
  reads(s.from);
  writes(s.to);
  return flow::normal;
}

walker::flow walker::look(const block_product& s) {
  reads(s.left);
  reads(s.right);
  writes(s.to);
  const placed left = place_of(s.left), right = place_of(s.right);
  if (!left.fits || !right.fits) return flow::normal;
  double flops = 2 * left.elements;
  for (std::size_t d = 0; d < s.right.subscripts.size(); ++d) {
    const bool shared = std::ranges::any_of(s.left.subscripts, [&](const subscript& l) {
      return !l.value && !s.right.subscripts[d].value && l.index == s.right.subscripts[d].index;
    });
    if (!shared) flops *= static_cast<double>(right.extents[d]);
  }
  count(&s, true, flops);
  return flow::normal;
}

walker::flow walker::look(const block_slice& s) {
  reads(s.from);
  writes(s.to);
  return flow::normal;
}

walker::flow walker::look(const region_from_block& s) {
  reads(s.from);
  return flow::normal;
}

walker::flow walker::look(const block_from_region& s) {
  writes(s.to);
  return flow::normal;
}

}  // namespace tessera::sial
