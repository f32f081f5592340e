#include "core/memory/foreign_memory.hpp"

#include <utility>

namespace tessera::memory {

block::chunk foreign_memory::adopt(void* pointer, std::uint64_t bytes, std::size_t parts,
                                   std::shared_ptr<const void> owner) {
  const std::uint32_t entry = m_slabs.take(m_name);
  slab& s = m_slabs.at(entry);
  s.base = static_cast<std::byte*>(pointer);
  s.foreign = true;
  s.foreign_parts = parts;
  s.owner = std::move(owner);
  m_pieces.fetch_add(1, std::memory_order_relaxed);
  const block::chunk all = block::chunk::at(entry, 0);
  if (m_registrations != nullptr) try {
      m_registrations->acquire(pointer, bytes);
    } catch (...) {
      (void)end(all);
      throw;
    }
  return all;
}

void foreign_memory::share(block::chunk memory, std::size_t parts) {
  const std::lock_guard guard(m_mutex);
  m_slabs.at(memory.slab()).foreign_parts += parts;
}

void foreign_memory::forget(block::chunk memory, std::size_t parts) {
  slab& s = m_slabs.at(memory.slab());
  {
    const std::lock_guard guard(m_mutex);
    s.foreign_parts -= parts;
    if (s.foreign_parts != 0) return;
  }
  if (m_registrations != nullptr) m_registrations->release(s.base);
  (void)end(memory);
}

/// Returns the owner, so that its memory is freed without a lock.
std::shared_ptr<const void> foreign_memory::end(block::chunk memory) {
  slab& s = m_slabs.at(memory.slab());
  std::shared_ptr<const void> owner = std::move(s.owner);
  s = slab{};
  m_slabs.give_back(memory.slab());
  m_pieces.fetch_sub(1, std::memory_order_relaxed);
  return owner;
}

}  // namespace tessera::memory
