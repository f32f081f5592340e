#include "languages/sial/interpreter/private_blocks.hpp"

namespace tessera::sial {

block_pool::~block_pool() {
  for (const auto& b : m_all) {
    b->seen.reset();
    b->held.reset();
    m_group.destroy(b->elements);
  }
}

private_block& block_pool::make(const shape& extents) {
  m_all.push_back(std::make_unique<private_block>(m_group.make(extents, 0)));
  private_block& b = *m_all.back();
  m_group.keep_to_this_thread(b.elements);
  b.count = extents.count();
  return b;
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
  if (!m_with_tasks.empty()) {
    std::deque<private_block*>& busy = m_with_tasks[extents];
    if (busy.size() >= tasks_apart) {
      ++m_reused;
      private_block& b = *busy.front();
      busy.pop_front();
      bring(b, intent::write);
      return b;
    }
  }
  private_block& b = make(extents);
  bring(b, intent::write);
  return b;
}

private_block& block_pool::take_for_task(const shape& extents) {
  ++m_taken;
  std::deque<private_block*>& busy = m_with_tasks[extents];
  std::vector<private_block*>& waiting = m_waiting[extents];
  if (busy.size() < tasks_apart && waiting.empty()) return make(extents);
  ++m_reused;
  if (busy.size() < tasks_apart) {
    private_block& b = *waiting.back();
    waiting.pop_back();
    let_go(b);
    return b;
  }
  private_block& b = *busy.front();
  busy.pop_front();
  return b;
}

void block_pool::let_go(private_block& b) {
  if (b.data == nullptr) return;
  if (b.held)
    b.spaces = m_host;
  else
    b.spaces |= m_host;
  b.data = nullptr;
  b.seen.reset();
  b.held.reset();
}

void block_pool::bring(private_block& b, intent how) {
  if (how == intent::read) {
    if (b.data == nullptr) {
      b.seen.emplace(m_group.read_host(b.elements));
      b.data = const_cast<double*>(b.seen->data());
    }
    return;
  }
  if (b.held) return;
  b.data = nullptr;
  b.seen.reset();
  b.held.emplace(how == intent::write ? m_group.write_host(b.elements) : m_group.update_host(b.elements));
  b.data = b.held->data();
}

void block_pool::give(private_block& b) noexcept {
  b.array = ~std::uint32_t{0};
  b.ordinal = -1;
  if (b.held) {
    m_waiting[b.extents()].push_back(&b);
    return;
  }
  let_go(b);
  m_with_tasks[b.extents()].push_back(&b);
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
  for (auto& [extents, waiting] : m_with_tasks) {
    for (private_block* b : waiting) {
      m_group.destroy(b->elements);
      std::erase_if(m_all, [b](const auto& mine) { return mine.get() == b; });
    }
    waiting.clear();
  }
}

}  // namespace tessera::sial
