#include "libraries/chemistry/scf/matrix.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "libraries/lapack/lapack.hpp"

namespace tessera::chemistry {

std::vector<double> product(std::size_t m, std::size_t n, std::size_t k, const std::vector<double>& a,
                            const std::vector<double>& b) {
  std::vector<double> c(m * n, 0.0);
  lapack::dgemm(false, false, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), a.data(), b.data(),
                c.data());
  return c;
}

std::vector<double> transformed(std::size_t n, std::size_t m, const std::vector<double>& a,
                                const std::vector<double>& c) {
  const std::vector<double> ac = product(n, m, n, a, c);
  std::vector<double> out(m * m, 0.0);
  lapack::dgemm(true, false, static_cast<int>(m), static_cast<int>(m), static_cast<int>(n), c.data(), ac.data(),
                out.data());
  return out;
}

std::vector<double> back(std::size_t n, std::size_t m, const std::vector<double>& a, const std::vector<double>& c) {
  const std::vector<double> ca = product(n, m, m, c, a);
  std::vector<double> out(n * n, 0.0);
  lapack::dgemm(false, true, static_cast<int>(n), static_cast<int>(n), static_cast<int>(m), ca.data(), c.data(),
                out.data());
  return out;
}

std::vector<double> density_of(std::size_t n, std::size_t occupied, const std::vector<double>& c) {
  std::vector<double> out(n * n, 0.0);
  if (occupied != 0)
    lapack::dgemm(false, true, static_cast<int>(n), static_cast<int>(n), static_cast<int>(occupied), c.data(), c.data(),
                  out.data());
  return out;
}

std::vector<double> eigenvalues(std::size_t n, std::vector<double>& a) {
  std::vector<double> values(n);
  if (const int info = lapack::dsyev(static_cast<int>(n), a.data(), values.data()); info != 0)
    throw error(error_kind::numerical, fmt::format("an eigenproblem of {} rows has failed: dsyev says {}", n, info));
  return values;
}

std::vector<double> orthonormal_functions(std::size_t n, const std::vector<double>& overlap, double limit,
                                          std::size_t& count) {
  std::vector<double> vectors = overlap;
  const std::vector<double> values = eigenvalues(n, vectors);
  std::vector<double> out;
  count = 0;
  for (std::size_t k = 0; k < n; ++k) {
    if (values[k] < limit) continue;
    ++count;
    for (std::size_t p = 0; p < n; ++p) out.push_back(vectors[p + n * k] / std::sqrt(values[k]));
  }
  return out;
}

}  // namespace tessera::chemistry
