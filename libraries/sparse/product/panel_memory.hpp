#pragma once
// Memory for the panels of a matrix, on huge pages.
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace tessera::sparse {

/// Pieces of huge pages, which are given back together. A panel is smaller than such a page; pages of their own would
/// cost several products to touch, and each product the translation of their addresses. Any number of threads.
class panel_memory {
 public:
  panel_memory() = default;
  ~panel_memory();
  panel_memory(const panel_memory&) = delete;
  panel_memory& operator=(const panel_memory&) = delete;

  /// Numbers that are not set; valid as long as this. Throws std::bad_alloc.
  template <class Element>
  Element* take(std::int64_t count) {
    return static_cast<Element*>(take_bytes(static_cast<std::size_t>(count) * sizeof(Element)));
  }

 private:
  void* take_bytes(std::size_t bytes);
  std::mutex m_lock;
  std::vector<std::pair<void*, std::size_t>> m_pieces;  ///< of the system, and their bytes
  char* m_free = nullptr;                               ///< the rest of the last one
  std::size_t m_left = 0;
};

}  // namespace tessera::sparse
