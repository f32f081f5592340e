#pragma once
// Arrays of matrices on huge pages.
#include <sys/mman.h>

#include <cstdint>
#include <vector>

#include "core/base/huge_pages.hpp"

namespace tessera::sparse {

/// Room for `count` elements; of memory that was not touched so far the whole huge pages become such.
template <class Element>
void reserve_large(std::vector<Element>& array, std::size_t count) {
  array.reserve(count);
  const auto begin = reinterpret_cast<std::uintptr_t>(array.data());
  const std::uintptr_t first = (begin + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes,
                       last = (begin + count * sizeof(Element)) / huge_page_bytes * huge_page_bytes;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // advice alone
}

}  // namespace tessera::sparse
