#pragma once
// Memory for large tables that are visited at random: on huge pages, where the system has them.
#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

namespace tessera {

inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// Fresh memory from the beginning of a huge page on, for `bytes` rounded up to whole ones; what is not touched costs
/// nothing. `ask`: on huge pages, where the system has any. Null when there is no memory.
void* map_huge_pages(std::size_t bytes, bool ask = true) noexcept;
/// Gives it back; `bytes` as they were.
void unmap_huge_pages(void* memory, std::size_t bytes) noexcept;
/// Gives back what lies there and keeps the addresses: they read as zero, and are not to be written. False: they are
/// gone, or still hold what they did.
bool keep_addresses_of_huge_pages(void* memory, std::size_t bytes) noexcept;

/// An allocator that asks for huge pages once a table fills several: visits at random then miss the cache, and not the
/// translation of addresses on top. Where the system has none it is the plain allocator.
template <class T>
struct huge_page_allocator {
  using value_type = T;

  huge_page_allocator() noexcept = default;
  template <class U>
  huge_page_allocator(const huge_page_allocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    if (!is_large(count)) return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{alignof(T)}));
    const std::size_t bytes = (count * sizeof(T) + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
    void* const memory = std::aligned_alloc(huge_page_bytes, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    madvise(memory, bytes, MADV_HUGEPAGE);  // where it fails, pages are small
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (is_large(count))
      std::free(memory);
    else
      ::operator delete (memory, std::align_val_t{alignof(T)});
  }
  template <class U>
  bool operator==(const huge_page_allocator<U>&) const noexcept {
    return true;
  }

 private:
  static constexpr bool is_large(std::size_t count) noexcept { return count >= 2 * huge_page_bytes / sizeof(T); }
};

/// A vector for tables of up to millions of entries.
template <class T>
using large_vector = std::vector<T, huge_page_allocator<T>>;

}  // namespace tessera
