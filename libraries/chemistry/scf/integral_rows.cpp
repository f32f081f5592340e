#include "libraries/chemistry/scf/integral_rows.hpp"

#include "core/base/wide_vectors.hpp"

namespace tessera::chemistry {
namespace {

constexpr std::size_t row_lanes = 4;
using row_vector = double __attribute__((vector_size(row_lanes * sizeof(double)), aligned(sizeof(double)), may_alias));

inline const row_vector& lanes_at(const double* from) { return *reinterpret_cast<const row_vector*>(from); }
inline row_vector& lanes_at(double* from) { return *reinterpret_cast<row_vector*>(from); }

/// Of a row v(d): `sum` is the sum of v(d) with(d), and to(d) grows by factor v(d).
struct row_part {
  const double* with;
  double factor;
  double* to;
  double sum = 0;
};

/// Of several parts at once, which add to different rows.
template <std::size_t parts>
inline void add_row(std::size_t count, const double* v, row_part (&of)[parts]) {
  row_vector sums[parts] = {};
  std::size_t k = 0;
  for (; k + row_lanes <= count; k += row_lanes)
    for (std::size_t p = 0; p < parts; ++p) {
      sums[p] += lanes_at(v + k) * lanes_at(of[p].with + k);
      lanes_at(of[p].to + k) += lanes_at(v + k) * of[p].factor;
    }
  for (std::size_t p = 0; p < parts; ++p) {
    of[p].sum = (sums[p][0] + sums[p][1]) + (sums[p][2] + sums[p][3]);
    for (std::size_t rest = k; rest < count; ++rest) {
      of[p].sum += v[rest] * of[p].with[rest];
      of[p].to[rest] += v[rest] * of[p].factor;
    }
  }
}

}  // namespace

row_contraction::row_contraction(std::size_t n, std::span<const std::vector<double>> densities)
    : m_n(n), m_densities(densities) {
  if (densities.size() > 1) m_sum = densities[0];
  for (std::size_t s = 1; s < densities.size(); ++s)
    for (std::size_t k = 0; k < m_sum.size(); ++k) m_sum[k] += densities[s][k];
  m_total = m_sum.empty() ? densities[0].data() : m_sum.data();
}

void row_contraction::add(const integral_rows& rows, fock_sums& into) const {
  with_wide_vectors([&] { add_all(rows, into); });
}

inline void row_contraction::add_all(const integral_rows& rows, fock_sums& into) const {
  const double* v = rows.values;
  for (std::size_t a = rows.a.first; a < rows.a.first + rows.a.count; ++a)
    for (std::size_t b = rows.b.first; b < rows.b.first + rows.b.count; ++b)
      for (std::size_t c = rows.c.first; c < rows.c.first + rows.c.count; ++c)
        for (const function_run& d : rows.d) {
          add_one(a, b, c, d, v, into);
          v += d.count;
        }
}

/// (ab|cd) of all d of a run.
inline void row_contraction::add_one(std::size_t a, std::size_t b, std::size_t c, const function_run& d,
                                     const double* v, fock_sums& into) const {
  const std::size_t n = m_n;
  double* const J = into.coulomb.data();
  row_part coulomb{m_total + c * n + d.first, m_total[a * n + b], J + c * n + d.first};
  for (std::size_t s = 0; s < m_densities.size(); ++s) {
    const double* const D = m_densities[s].data();
    double* const K = into.exchange[s].data();
    row_part parts[]{{D + b * n + d.first, D[b * n + c], K + a * n + d.first},
                     {D + a * n + d.first, D[a * n + c], K + b * n + d.first},
                     coulomb};
    if (a == b) {  // both add to one row
      for (std::size_t p = 0; p < (s == 0 ? 3 : 2); ++p) {
        row_part one[]{parts[p]};
        add_row(d.count, v, one);
        parts[p].sum = one[0].sum;
      }
    } else if (s == 0) {
      add_row(d.count, v, parts);
    } else {
      row_part two[]{parts[0], parts[1]};
      add_row(d.count, v, two);
      parts[0].sum = two[0].sum;
      parts[1].sum = two[1].sum;
    }
    K[a * n + c] += parts[0].sum;
    K[b * n + c] += parts[1].sum;
    if (s == 0) J[a * n + b] += parts[2].sum;
  }
}

}  // namespace tessera::chemistry
