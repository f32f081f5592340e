#pragma once
// Products of a whole matrix with blocks of vectors, panel by panel.
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "libraries/sparse/matrix/row_panels.hpp"
#include "libraries/sparse/product/panel_product.hpp"

namespace tessera::sparse {

/// A square matrix in panels of one form, each of which is made by the thread that first asks for it. Any number of
/// threads at a time.
class matrix_product {
 public:
  /// Both outlive it, and stay as they are. The panels cut the rows of x too.
  matrix_product(const csr_matrix& a, const row_panels& panels, matrix_form form);
  /// The panel; compressed rows where the form does not fit it, or there is no memory for a copy.
  const panel_product& panel(std::int64_t number) const;
  matrix_form form() const noexcept { return m_form; }  ///< that was asked for
  std::int64_t bytes() const;  ///< that a product with all panels reads of the matrix; makes all of them
  /// The same of those panels that are made so far, and of the others what devices read, which make none.
  std::int64_t bytes_so_far() const;

 private:
  struct made_once {
    std::once_flag once;
    std::unique_ptr<panel_product> product;
    std::atomic<bool> made = false;
  };
  const csr_matrix& m_matrix;
  const row_panels& m_panels;
  matrix_form m_form;
  mutable panel_memory m_memory;        ///< of the panels
  std::unique_ptr<made_once[]> m_made;  ///< one per panel
};

}  // namespace tessera::sparse
