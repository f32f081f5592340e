#include "core/transfer/claims.hpp"

#include <algorithm>

namespace tessera::transfer {

claims::claims(std::size_t spaces) : m_size(spaces), m_spaces(std::make_unique<claim[]>(spaces)) {}

void claims::set(claim& c, std::uint64_t age, std::vector<const block::record*> blocks) {
  const std::uint64_t before = c.age.exchange(age, std::memory_order_seq_cst);
  c.blocks = std::move(blocks);
  if (before == no_claim && age != no_claim) m_count.fetch_add(1, std::memory_order_seq_cst);
  if (before != no_claim && age == no_claim) m_count.fetch_sub(1, std::memory_order_seq_cst);
}

void claims::reserve_priority(memory::space_number space, std::uint64_t age, std::span<const block::access> blocks) {
  if (age == 0 || m_suspended.load(std::memory_order_relaxed)) return;
  claim& c = m_spaces[space];
  if (age >= c.age.load(std::memory_order_seq_cst)) return;
  std::vector<const block::record*> needed;
  for (const block::access& a : blocks) needed.push_back(a.block);
  const std::lock_guard guard(m_mutex);
  if (age < c.age.load(std::memory_order_relaxed)) set(c, age, std::move(needed));
}

void claims::extend_to_parent(memory::space_number space, memory::space_number behind, std::uint64_t age) {
  if (age == 0 || m_suspended.load(std::memory_order_relaxed)) return;
  const std::lock_guard guard(m_mutex);
  if (m_spaces[space].age.load(std::memory_order_relaxed) == age &&
      age < m_spaces[behind].age.load(std::memory_order_relaxed))
    set(m_spaces[behind], age, m_spaces[space].blocks);
}

std::vector<const block::record*> claims::protected_blocks(std::uint64_t age) const {
  std::vector<const block::record*> kept;
  if (!any()) return kept;
  {
    const std::lock_guard guard(m_mutex);
    for (std::size_t k = 0; k < m_size; ++k)
      if (age == 0 || m_spaces[k].age.load(std::memory_order_relaxed) <= age)
        kept.insert(kept.end(), m_spaces[k].blocks.begin(), m_spaces[k].blocks.end());
  }
  std::ranges::sort(kept);
  return kept;
}

block::space_set claims::end(std::uint64_t age, std::span<const block::access> blocks) {
  if (age == 0 || !any()) return {};
  const auto is_its = [&](const claim& c) {
    return c.age.load(std::memory_order_relaxed) == age &&
           std::ranges::equal(c.blocks, blocks, {}, {}, &block::access::block);
  };
  block::space_set ended;
  const std::lock_guard guard(m_mutex);
  for (std::size_t k = 0; k < m_size; ++k)
    if (is_its(m_spaces[k])) {
      set(m_spaces[k], no_claim, {});
      ended.add(static_cast<memory::space_number>(k));
    }
  return ended;
}

block::space_set claims::suspend() {
  block::space_set ended;
  const std::lock_guard guard(m_mutex);
  m_suspended.store(true, std::memory_order_relaxed);
  for (std::size_t k = 0; k < m_size; ++k)
    if (m_spaces[k].age.load(std::memory_order_relaxed) != no_claim) {
      set(m_spaces[k], no_claim, {});
      ended.add(static_cast<memory::space_number>(k));
    }
  return ended;
}

}  // namespace tessera::transfer
