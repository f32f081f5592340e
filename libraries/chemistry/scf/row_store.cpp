#include "libraries/chemistry/scf/row_store.hpp"

#include <algorithm>
#include <new>

#include "core/base/huge_pages.hpp"

namespace tessera::chemistry {
namespace {

constexpr std::size_t bytes_of_piece = 8 * huge_page_bytes;

}  // namespace

void row_store::unmapped::operator()(double* memory) const noexcept { unmap_huge_pages(memory, bytes); }

std::span<double> row_store::take(std::size_t count) {
  if (count > m_free.size()) {
    const std::size_t bytes = std::max(bytes_of_piece, count * sizeof(double));
    auto* const memory = static_cast<double*>(map_huge_pages(bytes));
    if (memory == nullptr) throw std::bad_alloc();
    m_pieces.emplace_back(memory, unmapped{bytes});
    m_free = {memory, bytes / sizeof(double)};
  }
  const std::span<double> taken = m_free.first(count);
  m_free = m_free.subspan(count);
  return taken;
}

void row_store::clear() noexcept {
  m_pieces.clear();
  m_free = {};
}

}  // namespace tessera::chemistry
