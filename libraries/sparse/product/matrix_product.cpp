#include "libraries/sparse/product/matrix_product.hpp"

#include <new>

#include "libraries/sparse/product/block_rows.hpp"
#include "libraries/sparse/product/compressed_rows.hpp"
#include "libraries/sparse/product/sliced_rows.hpp"

namespace tessera::sparse {
namespace {

/// None where the form does not fit.
std::unique_ptr<panel_product> make_fitting(const csr_matrix& a, std::int64_t begin, std::int64_t end, matrix_form form,
                                            const row_panels& parts, panel_memory& memory) {
  switch (form) {
    case matrix_form::csr:
      return nullptr;
    case matrix_form::sell:
      return make_sliced_rows(a, begin, end, memory);
    case matrix_form::bcsr:
      return make_block_rows(a, begin, end, parts, memory);
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<panel_product> make_panel_product(const csr_matrix& a, std::int64_t begin, std::int64_t end,
                                                  matrix_form form, const row_panels& parts, panel_memory& memory) {
  auto made = make_fitting(a, begin, end, form, parts, memory);
  return made != nullptr ? std::move(made) : make_compressed_rows(a, begin, end);
}

matrix_product::matrix_product(const csr_matrix& a, const row_panels& panels, matrix_form form)
    : m_matrix(a),
      m_panels(panels),
      m_form(form),
      m_made(std::make_unique<made_once[]>(static_cast<std::size_t>(panels.count()))) {}

const panel_product& matrix_product::panel(std::int64_t number) const {
  made_once& one = m_made[static_cast<std::size_t>(number)];
  std::call_once(one.once, [&] {
    const std::int64_t begin = m_panels.begin(number), end = m_panels.end(number);
    try {
      one.product = make_panel_product(m_matrix, begin, end, m_form, m_panels, m_memory);
    } catch (const std::bad_alloc&) {
      one.product = make_compressed_rows(m_matrix, begin, end);
    }
    one.made.store(true, std::memory_order_release);
  });
  return *one.product;
}

std::int64_t matrix_product::bytes() const {
  std::int64_t sum = 0;
  for (std::int64_t p = 0; p < m_panels.count(); ++p) sum += panel(p).bytes();
  return sum;
}

std::int64_t matrix_product::bytes_so_far() const {
  constexpr std::int64_t of_row = sizeof(std::int32_t), of_entry = sizeof(double) + sizeof(std::int32_t);
  std::int64_t sum = 0;
  for (std::int64_t p = 0; p < m_panels.count(); ++p) {
    const made_once& one = m_made[static_cast<std::size_t>(p)];
    const auto begin = static_cast<std::size_t>(m_panels.begin(p)), end = static_cast<std::size_t>(m_panels.end(p));
    sum += one.made.load(std::memory_order_acquire)
               ? one.product->bytes()
               : of_entry * (m_matrix.row_starts[end] - m_matrix.row_starts[begin]) +
                     of_row * static_cast<std::int64_t>(end - begin);
  }
  return sum;
}

}  // namespace tessera::sparse
