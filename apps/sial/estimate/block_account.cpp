#include "apps/sial/estimate/block_account.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace tessera::sial {

amount& amount::operator+=(const amount& more) noexcept {
  bytes += more.bytes;
  room += more.room;
  return *this;
}

namespace {

double page() {
  static const auto bytes = static_cast<double>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

amount amount_of(double elements) {
  const double bytes = elements * sizeof(double);
  return {bytes, std::max(1.0, std::ceil(bytes / page())) * page()};
}

amount amount_of(const array_geometry& a) {
  const double bytes = a.elements() * sizeof(double);
  return {bytes, bytes + static_cast<double>(a.blocks) * (page() - sizeof(double))};
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
  growth& g = m_watched.back().try_emplace(kind, growth{before, before}).first->second;
  g.most = std::max(g.most, live);
}

void block_account::make(std::uint32_t array, std::int64_t ordinal, block_kind kind, bool is_temp) {
  if (!m_blocks.try_emplace({array, ordinal}, kind).second) return;
  if (is_temp)
    m_temps.push_back({array, ordinal});
  else
    ++m_locals_made;
  const std::int64_t live = ++m_shapes[kind].live;
  rises_to(kind, live, live - 1);
}

void block_account::release(std::uint32_t array, std::int64_t ordinal) {
  const auto found = m_blocks.find({array, ordinal});
  if (found == m_blocks.end()) return;
  --m_shapes[found->second].live;
  m_blocks.erase(found);
  ++m_releases[array];
}

void block_account::release_all(std::uint32_t array) {
  std::erase_if(m_blocks, [&](const auto& entry) {
    if (entry.first.array != array) return false;
    --m_shapes[entry.second].live;
    return true;
  });
  ++m_releases[array];
}

std::uint64_t block_account::releases(std::uint32_t array) const {
  const auto found = m_releases.find(array);
  return found == m_releases.end() ? 0 : found->second;
}

void block_account::drop_temps(std::size_t down_to) {
  while (m_temps.size() > down_to) {
    const auto found = m_blocks.find(m_temps.back());
    m_temps.pop_back();
    --m_shapes[found->second].live;
    m_blocks.erase(found);
  }
}

block_growth block_account::watched() {
  const std::map<block_kind, growth> seen = std::move(m_watched.back());
  m_watched.pop_back();
  block_growth by;
  for (const auto& [kind, g] : seen) {
    by[kind] = g.most - g.before;
    rises_to(kind, g.most, g.before);  // the outer watch has seen it too
  }
  return by;
}

void block_account::grow(const block_growth& by) {
  for (const auto& [kind, more] : by) rises_to(kind, m_shapes[kind].live + more, m_shapes[kind].live);
}

amount block_account::most(array_kind of) const {
  amount all;
  for (const shape_entry& s : m_shapes)
    if (s.of == of) all += {s.each.bytes * static_cast<double>(s.most), s.each.room * static_cast<double>(s.most)};
  return all;
}

}  // namespace tessera::sial
