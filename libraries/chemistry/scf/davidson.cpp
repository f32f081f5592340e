#include "libraries/chemistry/scf/davidson.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "libraries/chemistry/scf/matrix.hpp"

namespace tessera::chemistry {
namespace {

using vector = std::vector<double>;

constexpr std::size_t first_vectors = 3;

double dot(const vector& a, const vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

void add(double factor, const vector& a, vector& to) {
  for (std::size_t k = 0; k < a.size(); ++k) to[k] += factor * a[k];
}

/// Makes it orthogonal to the others and of norm 1. False where nothing is left.
bool join(const std::vector<vector>& others, vector& one) {
  const double before = std::sqrt(dot(one, one));
  for (int twice = 0; twice < 2; ++twice)
    for (const vector& other : others) add(-dot(other, one), other, one);
  const double norm = std::sqrt(dot(one, one));
  if (!(norm > 1e-8 * before)) return false;
  for (double& x : one) x /= norm;
  return true;
}

/// Small numbers that are the same in each run.
double noise(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<double>(state >> 40) / static_cast<double>(1u << 24) - 0.5;
}

}  // namespace

eigenpair lowest_eigenpair(const vector& diagonal, const std::function<vector(const vector&)>& product,
                           const davidson_settings& how) {
  const std::size_t n = diagonal.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return diagonal[k]; });
  std::vector<vector> basis, images;
  std::vector<vector> candidates;
  std::uint64_t state = 1;
  for (std::size_t k = 0; k < std::min(n, first_vectors); ++k) {
    vector one(n);
    for (double& x : one) x = 0.02 * noise(state);
    one[order[k]] += 1;
    candidates.push_back(std::move(one));
  }
  eigenpair found;
  while (true) {
    bool grows = false;
    for (vector& one : candidates) {
      if (!join(basis, one)) continue;
      grows = true;
      images.push_back(product(one));
      basis.push_back(std::move(one));
      ++found.products;
    }
    const std::size_t m = basis.size();
    if (m == 0) return found;
    vector small(m * m);
    for (std::size_t p = 0; p < m; ++p)
      for (std::size_t q = 0; q < m; ++q)
        small[p + m * q] = 0.5 * (dot(basis[p], images[q]) + dot(basis[q], images[p]));
    const vector values = eigenvalues(m, small);
    found.value = values[0];
    found.vector.assign(n, 0.0);
    vector rest(n, 0.0);
    for (std::size_t p = 0; p < m; ++p) {
      add(small[p], basis[p], found.vector);
      add(small[p], images[p], rest);
    }
    add(-found.value, found.vector, rest);
    found.residual = std::sqrt(dot(rest, rest));
    found.converged = found.residual < std::max(how.residual, how.relative * std::abs(found.value)) || m == n;
    if (found.converged || !grows || found.products >= how.max_products) return found;
    for (std::size_t k = 0; k < n; ++k) {
      const double below = diagonal[k] - found.value;
      rest[k] /= std::abs(below) < 0.05 ? std::copysign(0.05, below) : below;
    }
    candidates.assign(1, std::move(rest));
  }
}

}  // namespace tessera::chemistry
