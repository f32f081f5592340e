#include "languages/sial/exchange/local_generation.hpp"

#include <algorithm>

namespace tessera::sial {

local_generation::local_generation(runtime& rt, std::string name, std::vector<std::int64_t> counts,
                                   std::shared_ptr<array_generation> base)
    : array_generation(rt, std::move(name), std::move(counts)), m_runtime(rt), m_base(std::move(base)) {}

local_generation::~local_generation() {
  for (stripe& s : m_stripes)
    for (shared_block& block : s.all) group().destroy(block.elements);
}

shared_block* local_generation::find_own(std::int64_t ordinal) {
  stripe& s = stripe_of(ordinal);
  const std::lock_guard guard(s.lock);
  return s.blocks.find(ordinal);
}

shared_block* local_generation::find(std::int64_t ordinal) {
  shared_block* const own = find_own(ordinal);
  if (own != nullptr && own->written) return own;
  return m_base ? m_base->find(ordinal) : nullptr;
}

shared_block& local_generation::begin_store(std::int64_t ordinal, const shape& extents, store_kind how) {
  shared_block* const before = m_base && how != store_kind::replace ? m_base->find(ordinal) : nullptr;
  stripe& s = stripe_of(ordinal);
  const std::lock_guard guard(s.lock);
  shared_block* const found = s.blocks.find(ordinal);
  shared_block& block =
      found != nullptr ? *found : s.all.emplace_back(group().make(extents, static_cast<std::uint32_t>(ordinal)));
  if (found == nullptr) s.blocks.add(ordinal, block);
  if (before != nullptr && !block.written) {
    const auto from = before->elements.read();
    auto to = block.elements.write();
    std::copy(from.begin(), from.end(), to.begin());
    block.written = true;
  }
  return block;
}

shared_block& local_generation::place_of(std::int64_t ordinal, shared_block& found) {
  return m_base ? begin_store(ordinal, found.elements.stored_extents(), store_kind::replace) : found;
}

std::shared_ptr<array_generation> local_generation::kept(const std::shared_ptr<array_generation>& self) {
  if (!m_base) return self;
  for (stripe& s : m_stripes)
    if (std::ranges::any_of(s.all, [](const shared_block& one) { return one.written.load(); })) return self;
  return m_base->kept(m_base);
}

std::shared_ptr<array_generation> local_generation::next() {
  const std::lock_guard guard(m_lock);
  if (!m_next) m_next = std::make_shared<local_generation>(m_runtime, name(), counts());
  return m_next;
}

std::vector<std::int64_t> local_generation::ordinals() {
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
