#include "languages/sial/interpreter/private_blocks.hpp"

#include <unistd.h>

#include "core/base/allocated_size.hpp"

namespace tessera::sial {
namespace {

std::uint64_t bytes_of(std::int64_t count) {
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));  // the host plugin's alignment
  return allocated_size(static_cast<std::uint64_t>(count) * sizeof(double), page);
}

}  // namespace

block_pool::~block_pool() {
  for (const auto& b : m_all) {
    b->seen.reset();
    b->held.reset();
    if (!b->is_gone) m_group.destroy(b->elements);
  }
}

/// Null: none waits.
private_block* block_pool::longest_waiting() {
  std::vector<private_block*>* found = nullptr;
  for (auto& [extents, waiting] : m_waiting)
    if (!waiting.empty() && (found == nullptr || waiting.front()->given < found->front()->given)) found = &waiting;
  if (found == nullptr) return nullptr;
  private_block* const b = found->front();
  found->erase(found->begin());
  return b;
}

void block_pool::free_memory(private_block& b) {
  const std::uint64_t bytes = bytes_of(b.count);
  m_bytes -= bytes;
  if (bytes >= large) m_large_waiting -= bytes;
  b.data = nullptr;
  b.held.reset();
  m_group.destroy(b.elements);
  b.is_gone = true;
  m_gone.push_back(&b);
}

void block_pool::make_room(std::uint64_t bytes) {
  while (m_bytes + bytes > m_max_bytes) {
    private_block* const b = longest_waiting();
    if (b == nullptr) return;
    free_memory(*b);
  }
}

private_block& block_pool::make(const shape& extents) {
  const std::uint64_t bytes = bytes_of(extents.count());
  if (bytes >= large) free_waiting(bytes);
  make_room(bytes);
  private_block* one = nullptr;
  if (m_gone.empty()) {
    m_all.push_back(std::make_unique<private_block>(m_group.make(extents, 0)));
    one = m_all.back().get();
  } else {  // others may still look at it, and see that it is not theirs
    one = m_gone.back();
    one->elements = m_group.make(extents, 0);
    one->spaces = {};
    one->is_gone = false;
    m_gone.pop_back();
  }
  private_block& b = *one;
  m_bytes += bytes;
  m_group.keep_to_this_thread(b.elements);
  b.count = extents.count();
  return b;
}

void block_pool::free_waiting(std::uint64_t bytes) {
  if (m_large_waiting < bytes) return;
  std::uint64_t freed = 0;
  for (auto& [extents, waiting] : m_waiting) {
    const std::uint64_t each = bytes_of(extents.count());
    if (each < large) continue;
    for (; freed < bytes && !waiting.empty(); freed += each) {
      private_block& b = *waiting.back();
      waiting.pop_back();
      free_memory(b);
    }
  }
}

private_block& block_pool::take_waiting(std::vector<private_block*>& waiting) {
  ++m_reused;
  private_block& b = *waiting.back();
  waiting.pop_back();
  if (const std::uint64_t bytes = bytes_of(b.count); bytes >= large) m_large_waiting -= bytes;
  return b;
}

private_block& block_pool::take(const shape& extents) {
  ++m_taken;
  if (std::vector<private_block*>& waiting = m_waiting[extents]; !waiting.empty()) return take_waiting(waiting);
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
  if (busy.size() < tasks_apart) {
    std::vector<private_block*>& waiting = m_waiting[extents];
    if (waiting.empty()) return make(extents);
    private_block& b = take_waiting(waiting);
    let_go(b);
    return b;
  }
  ++m_reused;
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
      b.seen.emplace(b.elements.read());
      b.data = const_cast<double*>(b.seen->data());
    }
    return;
  }
  if (b.held) return;
  b.data = nullptr;
  b.seen.reset();
  b.held.emplace(how == intent::write ? b.elements.write() : b.elements.update());
  b.data = b.held->data();
}

void block_pool::give(private_block& b) noexcept {
  b.array = ~std::uint32_t{0};
  b.ordinal = -1;
  b.given = ++m_gives;
  if (b.held) {
    m_waiting[b.extents()].push_back(&b);
    if (const std::uint64_t bytes = bytes_of(b.count); bytes >= large) m_large_waiting += bytes;
    return;
  }
  let_go(b);
  m_with_tasks[b.extents()].push_back(&b);
}

}  // namespace tessera::sial
