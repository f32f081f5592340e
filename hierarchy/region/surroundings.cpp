#include "hierarchy/region/surroundings.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>

namespace tessera::hierarchy {
namespace {

constexpr std::uint32_t max_codes = 1024, max_per_side = 32;

std::uint64_t mixed(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Of its own for each task, so that what an earlier one has computed from such rows is not found again.
std::uint64_t fresh_seed() {
  static const std::uint64_t of_this_run = [] {
    std::random_device source;
    return std::uint64_t{source()} << 32 | source();
  }();
  static std::atomic<std::uint64_t> next{0};
  return mixed(of_this_run + next.fetch_add(1, std::memory_order_relaxed));
}

/// How many rows are put beside the tiles on each side: as far as a stencil that is wrong may reach.
std::int64_t rows_beside(std::uint64_t row_bytes) noexcept {
  constexpr std::uint64_t usual = 32u << 10, most = 8u << 20;
  const std::uint64_t rows = std::max<std::uint64_t>(usual / row_bytes, 2);
  return static_cast<std::int64_t>(std::min(rows, std::max<std::uint64_t>(most / row_bytes, 1)));
}

// A float's payload has 22 bits: 12 that tell that it is one of ours, and a code of 10. A double's has the same in the
// bits that a conversion keeps, and 29 more of ours.
constexpr std::uint32_t f32_nan = 0x7f80'0000u, f32_payload = 0x003f'ffffu;
constexpr std::uint64_t f64_nan = 0x7ff0'0000'0000'0000u, f64_payload = 0x0007'ffff'ffff'ffffu,
                        f64_low = (1u << 29) - 1;

std::uint32_t f32_tag(std::uint64_t seed) noexcept { return static_cast<std::uint32_t>(seed >> 52) | 1u; }
std::uint64_t f64_tag(std::uint64_t seed) noexcept { return (mixed(seed + 1) & f64_low) | 1u; }
std::uint64_t i64_tag(std::uint64_t seed) noexcept { return mixed(seed + 2) >> 10 << 10; }
std::int32_t i32_of(std::uint64_t seed, std::uint32_t code) noexcept {
  return static_cast<std::int32_t>(mixed(seed + 3 + code));
}

template <class T>
T value_at(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// The size of what is drawn: a part of a complex number.
std::size_t drawn_bytes(element_type type) noexcept {
  if (type == element_type::c64) return 4;
  return type == element_type::c128 ? 8 : size_of(type);
}

}  // namespace

surroundings::surroundings(const operation::context& c, const detail::region_uses& uses,
                           std::span<const kernel_use> layout)
    : m_outer(c),
      m_context(c),
      m_operands(c.operands.begin(), c.operands.end()),
      m_seed(fresh_seed()),
      m_per_side(
          std::clamp<std::uint32_t>(max_codes / 2 / static_cast<std::uint32_t>(layout.size() + 1), 1, max_per_side)) {
  m_uses.reserve(layout.size());
  for (std::size_t u = 0; u < layout.size(); ++u) {
    if (layout[u].reduction != detail::reduction_kind::none)
      m_results.push_back(uses.operands[u].first);
    else if (uses.operands[u].count > 0)
      surround(u, uses.operands[u], uses.extents[u], layout[u].written);
  }
  m_context.operands = m_operands;
}

template <class On>
void surroundings::for_tiles(surrounded& s, const On& on) const {
  std::int64_t row = s.tiles_from;
  for (std::size_t k = s.first_operand; k < s.first_operand + s.operands; ++k) {
    const std::int64_t end = row + static_cast<std::int64_t>(m_outer.operands[k].bytes / s.row_bytes);
    const std::int64_t first = std::clamp(s.declared.begin, row, end), last = std::clamp(s.declared.end, first, end);
    on(k, row_interval{row, end}, row_interval{first, last});
    row = end;
  }
}

void surroundings::surround(std::size_t use, const detail::region_operand& operand, const row_extents& extents,
                            bool written) {
  const element_type type = m_outer.operands[operand.first].type;
  const std::uint64_t row_bytes = static_cast<std::uint64_t>(extents.row_elements()) * size_of(type);
  if (row_bytes == 0) return;
  surrounded& s = m_uses.emplace_back();
  s.use = use, s.first_operand = operand.first, s.operands = operand.count;
  s.tiles_from = operand.row, s.row_bytes = row_bytes, s.type = type, s.written = written;
  s.declared = {operand.begin, operand.end};
  std::uint64_t bytes = 0;
  for (std::size_t k = 0; k < s.operands; ++k) bytes += m_outer.operands[s.first_operand + k].bytes;
  const std::int64_t beside = rows_beside(row_bytes);
  s.rows = {operand.row - beside, operand.row + static_cast<std::int64_t>(bytes / row_bytes) + beside};
  constexpr std::uint64_t alignment = 64;
  s.memory.resize(static_cast<std::uint64_t>(s.rows.end - s.rows.begin) * row_bytes + alignment);
  const auto tiles = reinterpret_cast<std::uintptr_t>(s.memory.data()) + static_cast<std::uint64_t>(beside) * row_bytes;
  s.begin = s.memory.data() + (alignment - tiles % alignment) % alignment;
  for (std::int64_t row = s.rows.begin; row < s.rows.end; ++row) {
    if (row == s.declared.begin) row = std::max(row, s.declared.end);  // those have contents
    if (row >= s.rows.end) break;
    const std::uint32_t code = code_of(s, row);
    if (type == element_type::i32) m_short.emplace(i32_of(m_seed, code), code);
    for (std::uint64_t at = 0; at < row_bytes; at += drawn_bytes(type)) draw(s.at(row) + at, type, code);
  }
  for_tiles(s, [&](std::size_t k, const row_interval& tile, const row_interval& declared) {
    const auto* const from = static_cast<const std::byte*>(m_outer.operands[k].host);
    std::memcpy(s.at(declared.begin), from + static_cast<std::uint64_t>(declared.begin - tile.begin) * row_bytes,
                static_cast<std::uint64_t>(declared.end - declared.begin) * row_bytes);
    m_operands[k].host = s.at(tile.begin);
    m_operands[k].address = {nullptr, reinterpret_cast<std::uintptr_t>(m_operands[k].host)};
  });
}

void surroundings::put_back() {
  for (surrounded& s : m_uses)
    for_tiles(s, [&](std::size_t k, const row_interval& tile, const row_interval& declared) {
      auto* const to = static_cast<std::byte*>(m_outer.operands[k].host);
      std::memcpy(to + static_cast<std::uint64_t>(declared.begin - tile.begin) * s.row_bytes, s.at(declared.begin),
                  static_cast<std::uint64_t>(declared.end - declared.begin) * s.row_bytes);
    });
}

std::uint32_t surroundings::code_of(const surrounded& s, std::int64_t row) const noexcept {
  const bool behind = row >= s.declared.end;
  const std::int64_t away = std::min(behind ? row - s.declared.end : s.declared.begin - 1 - row, told_apart());
  const std::uint32_t side = 2 * static_cast<std::uint32_t>(s.use) + (behind ? 1 : 0);
  return std::min(side * m_per_side + static_cast<std::uint32_t>(away), max_codes - 1);
}

void surroundings::draw(std::byte* to, element_type type, std::uint32_t code) const noexcept {
  const auto put = [&](auto value) { std::memcpy(to, &value, sizeof value); };
  const std::uint32_t payload = f32_tag(m_seed) << 10 | code;
  switch (type) {
    case element_type::f64:
    case element_type::c128:
      return put(f64_nan | std::uint64_t{payload} << 29 | f64_tag(m_seed));
    case element_type::f32:
    case element_type::c64:
      return put(f32_nan | payload);
    case element_type::i64:
      return put(i64_tag(m_seed) | code);
    case element_type::i32:
      return put(i32_of(m_seed, code));
    default: {
      const std::uint64_t value = mixed(m_seed + 4 + code);
      std::memcpy(to, &value, std::min(sizeof value, drawn_bytes(type)));
    }
  }
}

std::optional<std::uint32_t> surroundings::code_in(const std::byte* element, element_type type) const noexcept {
  const auto of_payload = [&](std::uint64_t payload) -> std::optional<std::uint32_t> {
    if (payload >> 10 != f32_tag(m_seed)) return std::nullopt;
    return static_cast<std::uint32_t>(payload & (max_codes - 1));
  };
  switch (type) {
    case element_type::f64:
    case element_type::c128: {
      const auto value = value_at<std::uint64_t>(element);
      const std::uint64_t low = value & f64_low;
      if ((value & f64_nan) != f64_nan || (low != f64_tag(m_seed) && low != 0)) return std::nullopt;
      return of_payload((value & f64_payload) >> 29);
    }
    case element_type::f32:
    case element_type::c64: {
      const auto value = value_at<std::uint32_t>(element);
      if ((value & f32_nan) != f32_nan) return std::nullopt;
      return of_payload(value & f32_payload);
    }
    case element_type::i64: {
      const auto value = value_at<std::uint64_t>(element);
      if (value >> 10 << 10 != i64_tag(m_seed)) return std::nullopt;
      return static_cast<std::uint32_t>(value & (max_codes - 1));
    }
    case element_type::i32: {
      const auto found = m_short.find(value_at<std::int32_t>(element));
      return found != m_short.end() ? std::optional(found->second) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

void surroundings::note(std::optional<undeclared_rows>& all, std::uint32_t code) const {
  const std::size_t use = code / m_per_side / 2;
  const auto s = std::ranges::find(m_uses, use, &surrounded::use);
  if (s == m_uses.end() || (all && use != all->use)) return;
  if (!all) all = undeclared_rows{use, s->declared, told_apart()};
  const bool behind = code / m_per_side % 2 == 1;
  const std::int64_t away = code % m_per_side + 1;
  const auto away_from = [&](std::int64_t row) {
    return row < s->declared.begin ? s->declared.begin - row : row - s->declared.end + 1;
  };
  if (away <= told_apart() && (!all->row || away < away_from(*all->row)))
    all->row = behind ? s->declared.end - 1 + away : s->declared.begin - away;
  std::int64_t& farthest = behind ? all->behind : all->before;
  farthest = std::max(farthest, away);
}

std::optional<undeclared_rows> surroundings::written_elsewhere() const {
  std::byte expected[16];
  for (const surrounded& s : m_uses) {
    for (std::int64_t row = s.rows.begin; row < s.rows.end; ++row) {
      if (row == s.declared.begin) row = std::max(row, s.declared.end);
      if (row >= s.rows.end) break;
      draw(expected, s.type, code_of(s, row));
      const std::size_t step = drawn_bytes(s.type);
      for (std::uint64_t at = 0; at < s.row_bytes; at += step) {
        if (std::memcmp(s.at(row) + at, expected, step) == 0) continue;
        const std::int64_t before = row < s.declared.begin ? s.declared.begin - row : 0,
                           behind = row >= s.declared.end ? row - s.declared.end + 1 : 0;
        return undeclared_rows{s.use, s.declared, told_apart(), before, behind, row, true};
      }
    }
  }
  return std::nullopt;
}

std::optional<undeclared_rows> surroundings::find() const {
  if (auto elsewhere = written_elsewhere()) return elsewhere;
  std::optional<undeclared_rows> all;
  const auto look = [&](const std::byte* from, std::uint64_t bytes, element_type type) {
    for (std::uint64_t at = 0; at + drawn_bytes(type) <= bytes; at += drawn_bytes(type))
      if (const auto code = code_in(from + at, type)) note(all, *code);
  };
  for (const surrounded& s : m_uses)
    if (s.written)
      look(s.at(s.declared.begin), static_cast<std::uint64_t>(s.declared.end - s.declared.begin) * s.row_bytes, s.type);
  for (const std::size_t k : m_results)
    look(static_cast<const std::byte*>(m_operands[k].host), m_operands[k].bytes, m_operands[k].type);
  return all;
}

}  // namespace tessera::hierarchy
