#include "apps/sial/interpreter/private_blocks.hpp"

namespace tessera::sial {

block_pool::~block_pool() {
  for (const auto& b : m_all) {
    b->held.reset();
    m_group.destroy(b->elements);
  }
}

private_block& block_pool::take(const shape& extents) {
  ++m_taken;
  std::vector<private_block*>& waiting = m_waiting[extents];
  if (!waiting.empty()) {
    ++m_reused;
    private_block& b = *waiting.back();
    waiting.pop_back();
    return b;
  }
  m_all.push_back(std::make_unique<private_block>(m_group.make(extents, 0)));
  private_block& b = *m_all.back();
  b.elements.record().flow.is_private = true;
  b.held.emplace(m_group.write_host(b.elements));
  b.data = b.held->data();
  b.count = extents.count();
  return b;
}

void block_pool::give(private_block& b) noexcept {
  b.array = ~std::uint32_t{0};
  b.ordinal = -1;
  m_waiting[b.extents()].push_back(&b);
}

void block_pool::clear() noexcept {
  for (auto& [extents, waiting] : m_waiting) {
    for (private_block* b : waiting) {
      b->held.reset();
      m_group.destroy(b->elements);
      std::erase_if(m_all, [b](const auto& mine) { return mine.get() == b; });
    }
    waiting.clear();
  }
}

}  // namespace tessera::sial
