#include "libraries/sparse/solver/copies.hpp"

#include "libraries/sparse/solver/diagonal_mass.hpp"
#include "libraries/sparse/solver/scale.hpp"

namespace tessera::sparse {
namespace {

double bytes_of(const csr_matrix& m) {
  return static_cast<double>(sizeof(std::int64_t)) * static_cast<double>(m.row_starts.size()) +
         static_cast<double>(sizeof(std::int32_t) + sizeof(double)) * static_cast<double>(m.nonzeros());
}

}  // namespace

double memory_of_copies(const csr_matrix& a, const eigen_options& o) {
  double bytes = has_moderate_scale(a) ? 0 : bytes_of(a);
  if (o.mass != nullptr) bytes += has_diagonal_mass(a, o) ? bytes_of(a) : bytes_of(*o.mass);
  return bytes;
}

}  // namespace tessera::sparse
