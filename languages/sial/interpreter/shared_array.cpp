#include "languages/sial/interpreter/shared_array.hpp"

#include <algorithm>

namespace tessera::sial {
namespace {

std::vector<std::int64_t> counts_of(const array_geometry& of) {
  std::vector<std::int64_t> counts;
  for (std::size_t d = 0; d < of.rank; ++d) counts.push_back(of.dims[d].segments());
  return counts;
}

}  // namespace

std::optional<race> note_use(shared_block& b, std::uint64_t section, block_use how, std::int32_t worker,
                             std::uint32_t site) {
  if (b.section != section) {
    b.section = section;
    b.used = {};
  }
  const auto conflicts = [&](block_use other) {
    const std::int32_t user = b.used[static_cast<std::size_t>(other)].worker;
    return user != shared_block::no_worker && user != worker;
  };
  for (const block_use other : {block_use::get, block_use::replace, block_use::accumulate}) {
    const bool harmless = how == other && how != block_use::replace;  // any number get; any number add
    if (!harmless && conflicts(other)) {
      const shared_block::user& by = b.used[static_cast<std::size_t>(other)];
      return race{other, by.worker, by.site};
    }
  }
  shared_block::user& mine = b.used[static_cast<std::size_t>(how)];
  mine = {mine.worker == shared_block::no_worker || mine.worker == worker ? worker : shared_block::several, site};
  return std::nullopt;
}

array_generation::array_generation(runtime& rt, const array_geometry& of, std::shared_ptr<array_generation> base)
    : m_runtime(rt), m_name(of.name), m_counts(counts_of(of)), m_base(std::move(base)), m_group(rt, m_name, m_counts) {}

array_generation::array_generation(runtime& rt, std::string name, std::vector<std::int64_t> counts)
    : m_runtime(rt), m_name(std::move(name)), m_counts(std::move(counts)), m_group(rt, m_name, m_counts) {}

array_generation::~array_generation() {
  for (stripe& s : m_stripes)
    for (shared_block& block : s.all) m_group.destroy(block.elements);
}

shared_block* array_generation::find_own(std::int64_t ordinal) {
  stripe& s = stripe_of(ordinal);
  const std::lock_guard guard(s.lock);
  return s.blocks.find(ordinal);
}

shared_block* array_generation::find(std::int64_t ordinal) {
  shared_block* const own = find_own(ordinal);
  if (own != nullptr && own->written) return own;
  return m_base ? m_base->find(ordinal) : nullptr;
}

shared_block& array_generation::find_or_make(std::int64_t ordinal, const shape& extents, bool update) {
  shared_block* const before = m_base && update ? m_base->find(ordinal) : nullptr;
  stripe& s = stripe_of(ordinal);
  const std::lock_guard guard(s.lock);
  shared_block* const found = s.blocks.find(ordinal);
  shared_block& block =
      found != nullptr ? *found : s.all.emplace_back(m_group.make(extents, static_cast<std::uint32_t>(ordinal)));
  if (found == nullptr) s.blocks.add(ordinal, block);
  if (before != nullptr && !block.written) {
    const auto from = m_group.read_host(before->elements);
    auto to = m_group.write_host(block.elements);
    std::copy(from.begin(), from.end(), to.begin());
    block.written = true;
  }
  return block;
}

shared_block& array_generation::place_of(std::int64_t ordinal, shared_block& found) {
  return m_base ? find_or_make(ordinal, found.elements.extents(), false) : found;
}

std::shared_ptr<array_generation> array_generation::kept(const std::shared_ptr<array_generation>& generation) {
  if (!generation->m_base) return generation;
  for (stripe& s : generation->m_stripes)
    if (std::ranges::any_of(s.all, [](const shared_block& one) { return one.written.load(); })) return generation;
  return kept(generation->m_base);
}

std::shared_ptr<array_generation> array_generation::next() {
  const std::lock_guard guard(m_lock);
  if (!m_next) m_next = std::make_shared<array_generation>(m_runtime, m_name, m_counts);
  return m_next;
}

std::vector<std::int64_t> array_generation::ordinals() {
  std::vector<std::int64_t> all = m_base ? m_base->ordinals() : std::vector<std::int64_t>{};
  for (stripe& s : m_stripes) {
    const std::lock_guard guard(s.lock);
    s.blocks.for_each([&](std::int64_t ordinal, const shared_block& block) {
      if (block.written) all.push_back(ordinal);
    });
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace tessera::sial
