#include "languages/sial/estimate/block_account.hpp"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "core/base/allocated_size.hpp"

namespace tessera::sial {

amount& amount::operator+=(const amount& more) noexcept {
  bytes += more.bytes;
  room += more.room;
  blocks += more.blocks;
  return *this;
}

amount amount_of(double elements) {
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));  // the host plugin's alignment
  const double bytes = elements * sizeof(double);
  const bool counts = bytes < 0x1p60;  // beyond that a page more or less is nothing
  return {bytes, counts ? static_cast<double>(allocated_size(static_cast<std::uint64_t>(bytes), page)) : bytes, 1};
}

amount amount_of(const array_geometry& a) {
  std::map<double, double> blocks{{1, 1}};  // by their elements, of the dimensions so far
  for (std::size_t d = 0; d < a.rank; ++d) {
    std::map<std::int64_t, double> lengths;
    if (a.dims[d].lengths == nullptr)
      lengths[1] = static_cast<double>(std::max<std::int64_t>(a.dims[d].segments(), 0));
    else
      for (std::int64_t s = a.dims[d].low; s <= a.dims[d].high; ++s) ++lengths[a.dims[d].length(s)];
    std::map<double, double> longer;
    for (const auto& [elements, number] : blocks)
      for (const auto& [length, times] : lengths) longer[elements * static_cast<double>(length)] += number * times;
    blocks = std::move(longer);
  }
  amount all;
  for (const auto& [elements, number] : blocks) {
    const amount one = amount_of(elements);
    all += {one.bytes * number, one.room * number, number};
  }
  return all;
}

block_kind block_account::kind_of(array_kind of, const std::vector<std::int64_t>& extents) {
  const auto [at, is_new] = m_kinds.try_emplace({of, extents}, static_cast<block_kind>(m_shapes.size()));
  if (is_new) {
    double elements = 1;
    for (const std::int64_t e : extents) elements *= static_cast<double>(e);
    m_shapes.push_back({of, amount_of(elements)});
  }
  return at->second;
}

void block_account::rises_to(block_kind kind, std::int64_t live, std::int64_t before) {
  m_shapes[kind].most = std::max(m_shapes[kind].most, live);
  if (m_watched.empty()) return;
  growth& g = m_watched.back().kinds.try_emplace(kind, growth{before, before}).first->second;
  g.most = std::max(g.most, live);
}

void block_account::room_rises_to(double room) {
  m_room_most = std::max(m_room_most, room);
  if (!m_watched.empty()) m_watched.back().room_most = std::max(m_watched.back().room_most, room);
}

void block_account::gone(block_kind kind) {
  --m_shapes[kind].live;
  m_room -= m_shapes[kind].each.room;
}

void block_account::enter(const key& what, const live_block& block) {
  m_blocks.emplace(what, block);
  if (what.ordinal < 0) ++m_unnamed[what.array];
  const std::int64_t live = ++m_shapes[block.kind].live;
  rises_to(block.kind, live, live - 1);
  m_room += m_shapes[block.kind].each.room;
  room_rises_to(m_room);
}

void block_account::make(std::uint32_t array, std::int64_t ordinal, block_kind kind, bool is_temp) {
  const key what{array, ordinal};
  if (m_blocks.contains(what)) return;
  if (is_temp)
    m_temps.push_back(what);
  else
    ++m_locals_made;
  enter(what, {kind, ++m_clock});
}

void block_account::release(live_blocks::iterator at) {
  const auto both =
      std::find_if(m_forks.rbegin(), m_forks.rend(), [&](const fork_point& f) { return at->second.born <= f.since; });
  if (both != m_forks.rend()) both->released.emplace_back(at->first, at->second);
  gone(at->second.kind);
  ++m_releases[at->first.array];
  if (at->first.ordinal < 0) --m_unnamed[at->first.array];
  m_blocks.erase(at);
}

void block_account::release(std::uint32_t array, std::int64_t ordinal) {
  const auto found = m_blocks.find({array, ordinal});
  if (found != m_blocks.end()) release(found);
}

void block_account::release_all(std::uint32_t array) {
  for (auto at = m_blocks.begin(); at != m_blocks.end();) {
    const auto next = std::next(at);
    if (at->first.array == array) release(at);
    at = next;
  }
  ++m_releases[array];
}

bool block_account::has_unnamed(std::uint32_t array) const {
  const auto found = m_unnamed.find(array);
  return found != m_unnamed.end() && found->second > 0;
}

void block_account::close_fork() {
  const fork_point ended = std::move(m_forks.back());
  m_forks.pop_back();
  for (const auto& [what, block] : ended.released)
    if (!m_blocks.contains(what)) enter(what, block);
}

std::set<std::uint32_t> block_account::release_unnamed(std::uint64_t since) {
  const std::set<key> temps(m_temps.begin(), m_temps.end());
  std::set<std::uint32_t> arrays;
  std::vector<key> found;
  for (const auto& [what, block] : m_blocks)
    if (what.ordinal < 0 && block.born > since && !temps.contains(what)) found.push_back(what);
  for (const key& what : found) {
    arrays.insert(what.array);
    release(what.array, what.ordinal);
  }
  return arrays;
}

std::uint64_t block_account::releases(std::uint32_t array) const {
  const auto found = m_releases.find(array);
  return found == m_releases.end() ? 0 : found->second;
}

void block_account::drop_temps(std::size_t down_to) {
  while (m_temps.size() > down_to) {
    const auto found = m_blocks.find(m_temps.back());
    m_temps.pop_back();
    gone(found->second.kind);
    if (found->first.ordinal < 0) --m_unnamed[found->first.array];
    m_blocks.erase(found);
  }
}

block_growth block_account::watched() {
  const watched_blocks seen = std::move(m_watched.back());
  m_watched.pop_back();
  block_growth by;
  by.room = seen.room_most - seen.room_before;
  for (const auto& [kind, g] : seen.kinds) {
    by.kinds[kind] = g.most - g.before;
    rises_to(kind, g.most, g.before);  // the outer watch has seen it too
  }
  room_rises_to(seen.room_most);
  return by;
}

void block_account::grow(const block_growth& by) {
  for (const auto& [kind, more] : by.kinds) rises_to(kind, m_shapes[kind].live + more, m_shapes[kind].live);
  room_rises_to(m_room + by.room);
}

amount block_account::most(array_kind of) const {
  amount all;
  for (const shape_entry& s : m_shapes)
    if (s.kind == of) {
      const auto most = static_cast<double>(s.most);
      all += {s.each.bytes * most, s.each.room * most, most};
    }
  return all;
}

}  // namespace tessera::sial
