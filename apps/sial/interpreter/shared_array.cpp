#include "apps/sial/interpreter/shared_array.hpp"

#include <algorithm>

namespace tessera::sial {
namespace {

std::vector<std::int64_t> counts_of(const array_geometry& of) {
  std::vector<std::int64_t> counts;
  for (std::size_t d = 0; d < of.rank; ++d) counts.push_back(of.dims[d].segments());
  return counts;
}

}  // namespace

std::optional<race> note_use(shared_block& b, std::uint64_t section, block_use how, std::int32_t worker, std::uint32_t site) {
  if (b.section != section) {
    b.section = section;
    b.used = {};
  }
  const auto conflicts = [&](block_use other) {
    const std::int32_t who = b.used[static_cast<std::size_t>(other)].who;
    return who != shared_block::nobody && who != worker;
  };
  for (const block_use other : {block_use::get, block_use::replace, block_use::accumulate}) {
    const bool harmless = how == other && how != block_use::replace;  // any number get; any number add
    if (!harmless && conflicts(other)) {
      const shared_block::user& by = b.used[static_cast<std::size_t>(other)];
      return race{other, by.who, by.site};
    }
  }
  shared_block::user& mine = b.used[static_cast<std::size_t>(how)];
  mine = {mine.who == shared_block::nobody || mine.who == worker ? worker : shared_block::several, site};
  return std::nullopt;
}

array_life::array_life(runtime& rt, const array_geometry& of)
    : m_runtime(rt), m_geometry(of), m_group(rt, of.name, counts_of(of)) {}

array_life::~array_life() {
  for (stripe& s : m_stripes)
    for (auto& [ordinal, block] : s.blocks) m_group.destroy(block->elements);
}

shared_block* array_life::find(std::int64_t ordinal) {
  stripe& s = stripe_of(ordinal);
  const std::lock_guard guard(s.lock);
  const auto found = s.blocks.find(ordinal);
  return found == s.blocks.end() ? nullptr : found->second.get();
}

shared_block& array_life::find_or_make(std::int64_t ordinal, const shape& extents) {
  stripe& s = stripe_of(ordinal);
  const std::lock_guard guard(s.lock);
  std::unique_ptr<shared_block>& block = s.blocks[ordinal];
  if (!block) block = std::make_unique<shared_block>(m_group.make(extents, static_cast<std::uint32_t>(ordinal)));
  return *block;
}

std::shared_ptr<array_life> array_life::next() {
  const std::lock_guard guard(m_lock);
  if (!m_next) m_next = std::make_shared<array_life>(m_runtime, m_geometry);
  return m_next;
}

std::vector<std::int64_t> array_life::ordinals() {
  std::vector<std::int64_t> all;
  for (stripe& s : m_stripes) {
    const std::lock_guard guard(s.lock);
    for (const auto& [ordinal, block] : s.blocks)
      if (block->written) all.push_back(ordinal);
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace tessera::sial
