#include "libraries/sparse/product/matrix_form.hpp"

namespace tessera::sparse {

std::string_view name_of(matrix_form form) noexcept {
  switch (form) {
    case matrix_form::csr:
      return "csr";
    case matrix_form::sell:
      return "sell";
    case matrix_form::bcsr:
      return "bcsr";
  }
  return "";
}

std::optional<matrix_form> form_named(std::string_view name) noexcept {
  for (const matrix_form form : matrix_forms)
    if (name_of(form) == name) return form;
  return std::nullopt;
}

}  // namespace tessera::sparse
