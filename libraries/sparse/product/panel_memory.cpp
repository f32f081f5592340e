#include "libraries/sparse/product/panel_memory.hpp"

#include <algorithm>
#include <new>

#include "core/base/huge_pages.hpp"

namespace tessera::sparse {

panel_memory::~panel_memory() {
  for (const auto& [memory, bytes] : m_pieces) unmap_huge_pages(memory, bytes);
}

void* panel_memory::take_bytes(std::size_t bytes) {
  constexpr std::size_t line = 64, piece = 8 * huge_page_bytes;  // what is not touched costs nothing
  const std::size_t rounded = std::max(line, (bytes + line - 1) / line * line);
  const std::lock_guard hold(m_lock);
  if (rounded > m_left) {
    const std::size_t fresh = (std::max(rounded, piece) + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
    m_pieces.reserve(m_pieces.size() + 1);
    void* const memory = map_huge_pages(fresh);
    if (memory == nullptr) throw std::bad_alloc();
    m_pieces.emplace_back(memory, fresh);
    m_free = static_cast<char*>(memory);
    m_left = fresh;
  }
  m_left -= rounded;
  return std::exchange(m_free, m_free + rounded);
}

}  // namespace tessera::sparse
