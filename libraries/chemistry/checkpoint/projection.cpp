#include "libraries/chemistry/checkpoint/projection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.hpp"
#include "libraries/chemistry/scf/matrix.hpp"
#include "libraries/lapack/lapack.hpp"

namespace tessera::chemistry {
namespace {

/// Where less of an orbital than this is left by a projection, it means nothing.
constexpr double min_square_of_norm = 0.05;

/// A^T B: A is k x m, B is k x n.
std::vector<double> product_of_transposed(std::size_t m, std::size_t n, std::size_t k, const std::vector<double>& a,
                                          const std::vector<double>& b) {
  std::vector<double> c(m * n, 0.0);
  if (k != 0 && m != 0 && n != 0)
    lapack::dgemm(true, false, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), a.data(), b.data(),
                  c.data());
  return c;
}

std::vector<double> transposed(std::size_t rows, std::size_t columns, const std::vector<double>& a) {
  std::vector<double> out(a.size());
  for (std::size_t p = 0; p < rows; ++p)
    for (std::size_t q = 0; q < columns; ++q) out[q + columns * p] = a[p + rows * q];
  return out;
}

std::vector<double> columns_of(const std::vector<double>& c, std::size_t rows, std::size_t first, std::size_t count) {
  return {c.begin() + static_cast<std::ptrdiff_t>(rows * first),
          c.begin() + static_cast<std::ptrdiff_t>(rows * (first + count))};
}

/// Each index of t goes through its matrix (from x to): the first one is contracted and comes back last, so that after
/// all of them they are in their order.
std::vector<double> turned(std::vector<double> t,
                           const std::vector<std::pair<const std::vector<double>*, std::size_t>>& by) {
  for (const auto& [matrix, from] : by) {
    const std::size_t to = from == 0 ? 0 : matrix->size() / from, rest = from == 0 ? 0 : t.size() / from;
    t = product_of_transposed(rest, to, from, t, *matrix);
  }
  return t;
}

/// t += S^T (old - S t S^T) S, for the indices of t, each with its overlaps: from x to.
void improve(std::vector<double>& t, const std::vector<double>& old,
             const std::vector<std::pair<const std::vector<double>*, std::size_t>>& up,
             const std::vector<std::pair<const std::vector<double>*, std::size_t>>& down) {
  std::vector<double> difference = turned(t, down);
  for (std::size_t k = 0; k < difference.size(); ++k) difference[k] = old[k] - difference[k];
  difference = turned(std::move(difference), up);
  if (difference.size() != t.size()) return;  // one of them has no orbitals there
  for (std::size_t k = 0; k < t.size(); ++k) t[k] += difference[k];
}

/// Amplitudes of closed shells as those of open ones.
amplitudes opened(const amplitudes& t) {
  amplitudes out = t;
  out.closed = false;
  out.spins[1] = t.spins[0];
  out.singles[1] = t.singles[0];
  const std::size_t v = t.spins[0].empty, o = t.spins[0].occupied;
  out.alike[0] = t.mixed;
  for (std::size_t j = 0; j < o; ++j)
    for (std::size_t b = 0; b < v; ++b)
      for (std::size_t i = 0; i < o; ++i)
        for (std::size_t a = 0; a < v; ++a)
          out.alike[0][a + v * (i + o * (b + v * j))] -= t.mixed[a + v * (j + o * (b + v * i))];
  out.alike[1] = out.alike[0];
  return out;
}

/// The smallest singular value.
double smallest_part(std::size_t rows, std::size_t columns, std::vector<double> a) {
  const std::size_t k = std::min(rows, columns);
  if (k == 0) return 1;
  std::vector<double> values(k), left(rows * k), right(k * columns);
  if (lapack::dgesvd(static_cast<int>(rows), static_cast<int>(columns), a.data(), values.data(), left.data(),
                     right.data()) != 0)
    return 0;
  return values.back();
}

}  // namespace

std::vector<double> overlap_of_functions(const std::vector<shell>& others, const integrals& over) {
  std::vector<shell> all = others;
  for (shell& s : all) s.at = over.nuclei().atoms.at(s.atom).at;
  const std::size_t m = functions(all), n = over.functions();
  for (std::size_t s = 0; s < over.shells(); ++s) all.push_back(over.shell_at(s));
  const std::vector<double> overlap = make_integrals(std::move(all), over.nuclei())->overlap();
  std::vector<double> cross(m * n);
  for (std::size_t q = 0; q < n; ++q)
    for (std::size_t p = 0; p < m; ++p) cross[p + m * q] = overlap[p + (m + n) * (m + q)];
  return cross;
}

std::array<std::vector<double>, 2> projected_densities(const scf_result& other, const std::vector<double>& cross,
                                                       const integrals& over, std::array<int, 2> electrons,
                                                       double linear_dependence) {
  const std::size_t n = over.functions(), m = other.functions;
  std::size_t count = 0;
  const std::vector<double> x = orthonormal_functions(n, over.overlap(), linear_dependence, count);
  const std::vector<double> to_new = product(m, count, n, cross, x);  // others x orthonormal functions
  std::array<std::vector<double>, 2> densities;
  for (std::size_t s = 0; s < 2; ++s) {
    const std::vector<double>& c = other.c[other.c[1].empty() ? 0 : s];
    const auto occupied = static_cast<std::size_t>(electrons[s]);
    if (occupied > other.orbitals)
      throw error(error_kind::input,
                  fmt::format("the field to begin with has {} orbitals, and {} electrons of one spin need as many",
                              other.orbitals, occupied),
                  "", "begin without it");
    // Y = X^T S C, then Y (Y^T Y)^(-1/2).
    const std::vector<double> y = product_of_transposed(count, occupied, m, to_new, columns_of(c, m, 0, occupied));
    std::vector<double> vectors = product_of_transposed(occupied, occupied, count, y, y);
    const std::vector<double> values = occupied == 0 ? std::vector<double>() : eigenvalues(occupied, vectors);
    if (!values.empty() && !(values.front() > min_square_of_norm))
      throw error(error_kind::input,
                  fmt::format("these basis functions cannot describe the orbitals to begin with: {:.1e} of one is left",
                              std::max(0.0, values.front())),
                  "", "begin without them: --guess sad");
    std::vector<double> roots(occupied * occupied, 0.0);
    for (std::size_t k = 0; k < occupied; ++k) roots[k + occupied * k] = 1 / std::sqrt(values[k]);
    const std::vector<double> inverse = occupied == 0 ? roots : back(occupied, occupied, roots, vectors);
    const std::vector<double> orthonormal = product(count, occupied, occupied, y, inverse);
    densities[s] = density_of(n, occupied, product(n, occupied, count, x, orthonormal));
  }
  return densities;
}

amplitude_projection::amplitude_projection(const amplitudes& from, const std::vector<double>& cross,
                                           const amplitudes& now)
    : m_opened(from.closed && !now.closed ? opened(from) : amplitudes()),
      m_from(from.closed && !now.closed ? m_opened : from) {
  if (!from.closed && now.closed) {
    m_why_not = "they are those of open shells";
    return;
  }
  for (std::size_t s = 0; s < (now.closed ? 1u : 2u); ++s) {
    const active_orbitals &a = m_from.spins[s], &b = now.spins[s];
    const std::size_t all = b.occupied + b.empty;
    if (all == 0 || a.occupied + a.empty == 0) continue;
    const std::size_t n = b.c.size() / all, m = cross.size() / n;
    const std::vector<double> half = product(m, all, n, cross, b.c);
    overlaps& of = m_spins[s];
    of.occupied_from = a.occupied;
    of.empty_from = a.empty;
    of.occupied_to = b.occupied;
    of.empty_to = b.empty;
    of.occupied = product_of_transposed(a.occupied, b.occupied, m, columns_of(a.c, m, 0, a.occupied),
                                        columns_of(half, m, 0, b.occupied));
    of.empty = product_of_transposed(a.empty, b.empty, m, columns_of(a.c, m, a.occupied, a.empty),
                                     columns_of(half, m, b.occupied, b.empty));
    const double least = smallest_part(a.occupied, b.occupied, of.occupied);
    if (!(least * least > min_square_of_norm))
      m_why_not = fmt::format("their occupied orbitals are others: one of them overlaps with these by {:.2f}", least);
  }
}

void amplitude_projection::improve_singles(const overlaps& of, const std::vector<double>& old,
                                           std::vector<double>& t) const {
  const std::vector<double> empty = transposed(of.empty_from, of.empty_to, of.empty),
                            occupied = transposed(of.occupied_from, of.occupied_to, of.occupied);
  improve(t, old, {{&of.empty, of.empty_from}, {&of.occupied, of.occupied_from}},
          {{&empty, of.empty_to}, {&occupied, of.occupied_to}});
}

void amplitude_projection::improve_doubles(const overlaps& a, const overlaps& b, const std::vector<double>& old,
                                           std::vector<double>& t) const {
  const std::vector<double> empty_a = transposed(a.empty_from, a.empty_to, a.empty),
                            occupied_a = transposed(a.occupied_from, a.occupied_to, a.occupied),
                            empty_b = transposed(b.empty_from, b.empty_to, b.empty),
                            occupied_b = transposed(b.occupied_from, b.occupied_to, b.occupied);
  improve(t, old,
          {{&a.empty, a.empty_from},
           {&a.occupied, a.occupied_from},
           {&b.empty, b.empty_from},
           {&b.occupied, b.occupied_from}},
          {{&empty_a, a.empty_to}, {&occupied_a, a.occupied_to}, {&empty_b, b.empty_to}, {&occupied_b, b.occupied_to}});
}

amplitudes amplitude_projection::improved(amplitudes first) const {
  const std::size_t spins = first.closed ? 1 : 2;
  for (std::size_t s = 0; s < spins; ++s) {
    improve_singles(m_spins[s], m_from.singles[s], first.singles[s]);
    if (!first.closed) improve_doubles(m_spins[s], m_spins[s], m_from.alike[s], first.alike[s]);
  }
  improve_doubles(m_spins[0], m_spins[spins - 1], m_from.mixed, first.mixed);
  return first;
}

}  // namespace tessera::chemistry
