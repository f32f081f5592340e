#pragma once
// Which form a matrix gets: measured on some of its rows.
#include <cstdint>
#include <string>
#include <vector>

#include "libraries/sparse/matrix/csr_matrix.hpp"
#include "libraries/sparse/product/matrix_form.hpp"

namespace tessera::sparse {

/// What a form took for the rows that were measured.
struct measured_form {
  matrix_form form;
  double seconds;      ///< of the fastest of several products
  std::int64_t bytes;  ///< of the matrix that a product reads
};

/// A form for products with so many vectors.
struct form_choice {
  matrix_form chosen = matrix_form::csr;
  std::vector<measured_form> measured;  ///< csr first; empty where nothing was measured
  /// "sell (csr 1.00, sell 0.71 of the time)"; the name alone where nothing was measured.
  std::string text() const;
};

/// Measures all forms that fit on about a hundredth of the rows, from all over the matrix, with `width` vectors, and
/// takes the fastest one; one that copies the matrix has to be 5 % faster than the matrix as it is. This takes about
/// the time of a product at most. Where the matrix is larger than the last cache, each product that is measured
/// reads it from memory. Small matrices stay as they are. The choice may differ from run to run; results do not.
form_choice choose_form(const csr_matrix& a, std::int64_t width);

}  // namespace tessera::sparse
