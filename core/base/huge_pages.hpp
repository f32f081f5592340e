#pragma once
// Memory for large tables that are visited at random: on huge pages, where the system has them.
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace tessera {

/// An allocator that asks for huge pages once a table fills several: visits at random then miss the cache, and not the
/// translation of addresses on top. Where the system has none it is the plain allocator.
template <class T>
struct huge_page_allocator {
  using value_type = T;
  static constexpr std::size_t page_bytes = std::size_t{2} << 20;

  huge_page_allocator() noexcept = default;
  template <class U>
  huge_page_allocator(const huge_page_allocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    if (!is_large(count)) return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{alignof(T)}));
    const std::size_t bytes = (count * sizeof(T) + page_bytes - 1) / page_bytes * page_bytes;
    void* const memory = std::aligned_alloc(page_bytes, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    madvise(memory, bytes, MADV_HUGEPAGE);  // where it fails, pages are small
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (is_large(count)) std::free(memory);
    else ::operator delete(memory, std::align_val_t{alignof(T)});
  }
  template <class U>
  bool operator==(const huge_page_allocator<U>&) const noexcept {
    return true;
  }

 private:
  static constexpr bool is_large(std::size_t count) noexcept { return count >= 2 * page_bytes / sizeof(T); }
};

/// A vector for tables of up to millions of entries.
template <class T>
using large_vector = std::vector<T, huge_page_allocator<T>>;

}  // namespace tessera
