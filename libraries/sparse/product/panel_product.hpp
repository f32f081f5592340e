#pragma once
// Products of some rows of a matrix with a block of vectors.
#include <cstdint>
#include <memory>

#include "libraries/sparse/matrix/csr_matrix.hpp"
#include "libraries/sparse/matrix/row_panels.hpp"
#include "libraries/sparse/product/matrix_form.hpp"
#include "libraries/sparse/product/panel_memory.hpp"

namespace tessera::sparse {

/// Rows of a matrix in one form. Does not change: any number of threads may multiply at a time.
class panel_product {
 public:
  panel_product() = default;
  virtual ~panel_product() = default;
  panel_product(const panel_product&) = delete;
  panel_product& operator=(const panel_product&) = delete;

  /// Rows [begin, end) of y = A x, some of the panel's rows. x and y are row-major with `width` columns; `x` is row 0
  /// of the whole block, `y` is row `begin`. The bits of a row depend on neither the form nor the other rows, as long
  /// as x is finite: some forms multiply x by zeros that fill up. Rows of x are read in those of its parts alone in
  /// which the panel has entries: others may be elsewhere, or about to be written.
  virtual void multiply(std::int64_t begin, std::int64_t end, std::int64_t width, const double* x, double* y) const = 0;

  virtual matrix_form form() const noexcept = 0;  ///< what it is
  /// Bytes of the matrix that a product with all rows reads.
  virtual std::int64_t bytes() const noexcept = 0;
  /// Makes the next product read them from memory, on processors that have an instruction for it; for measurements.
  virtual void forget() const noexcept = 0;
};

/// Rows [begin, end) of a matrix in a form; compressed rows where that form does not fit these rows, since it would
/// need more than a quarter of zeros that fill up. `parts` are those of x. Keeps looking at `a`, which must stay as it
/// is; a copy lies in `memory`, which outlives it. Throws std::bad_alloc.
std::unique_ptr<panel_product> make_panel_product(const csr_matrix& a, std::int64_t begin, std::int64_t end,
                                                  matrix_form form, const row_panels& parts, panel_memory& memory);

}  // namespace tessera::sparse
