#include "core/base/huge_pages.hpp"

#include <cstdint>
#include <cstring>

namespace tessera {
namespace {

constexpr std::size_t rounded(std::size_t bytes) noexcept {
  return (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
}

}  // namespace

#ifdef __SANITIZE_ADDRESS__  // looks for leaks in the heap alone: what records own is found through them

void* map_huge_pages(std::size_t bytes, bool) noexcept { return std::aligned_alloc(huge_page_bytes, rounded(bytes)); }
void unmap_huge_pages(void* memory, std::size_t) noexcept { std::free(memory); }
bool keep_addresses_of_huge_pages(void* memory, std::size_t bytes) noexcept {
  std::memset(memory, 0, rounded(bytes));
  return true;
}

#else

void* map_huge_pages(std::size_t bytes, bool ask) noexcept {
  const std::size_t length = rounded(bytes);
  void* const raw = mmap(nullptr, length + huge_page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(raw);
  const std::size_t ahead = rounded(reinterpret_cast<std::uintptr_t>(raw)) -
                            reinterpret_cast<std::uintptr_t>(raw);  // what lies before the boundary
  if (ahead > 0) munmap(begin, ahead);
  if (ahead < huge_page_bytes) munmap(begin + ahead + length, huge_page_bytes - ahead);
  if (ask) madvise(begin + ahead, length, MADV_HUGEPAGE);  // where it fails, pages are small
  return begin + ahead;
}

void unmap_huge_pages(void* memory, std::size_t bytes) noexcept {
  if (memory != nullptr) munmap(memory, rounded(bytes));
}

bool keep_addresses_of_huge_pages(void* memory, std::size_t bytes) noexcept {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  return mmap(memory, rounded(bytes), PROT_READ, flags, -1, 0) != MAP_FAILED;
}

#endif

}  // namespace tessera
