#include "core/memory/slab_table.hpp"

#include "core/base/error.hpp"

namespace tessera::memory {

std::uint32_t slab_table::take(const std::string& space) {
  const std::lock_guard guard(m_mutex);
  if (!m_free.empty()) {
    const std::uint32_t entry = m_free.back();
    m_free.pop_back();
    return entry;
  }
  if (m_count == most)
    throw error(error_kind::memory, "space " + space + " has no room for more than 65536 slabs and adopted arrays", {},
                "raise memory.slab_bytes, or adopt the program's memory as fewer and larger arrays");
  if (m_count % per_page == 0) m_pages[m_count / per_page].store(new slab[per_page], std::memory_order_release);
  return m_count++;
}

}  // namespace tessera::memory
