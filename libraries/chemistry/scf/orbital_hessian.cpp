#include "libraries/chemistry/scf/orbital_hessian.hpp"

#include "libraries/chemistry/scf/matrix.hpp"

namespace tessera::chemistry {
namespace {

using matrix = std::vector<double>;

}  // namespace

orbital_hessian::orbital_hessian(const scf_result& scf, reference kind, orbital_rotations which, fock_builder& builder)
    : m_kind(kind), m_which(which), m_n(scf.functions), m_m(scf.orbitals), m_builder(builder) {
  for (std::size_t s = 0; s < (kind == reference::rhf ? 1u : 2u); ++s) {
    orbitals_of_spin& of = m_spins.emplace_back();
    of.occupied = static_cast<std::size_t>(scf.occupied[s]);
    of.c = &scf.c[kind == reference::uhf ? s : 0];
    of.fock = transformed(m_n, m_m, scf.fock[s], *of.c);
  }
  for (std::size_t s = 0; s < m_spins.size(); ++s)
    for (std::size_t i = 0; i < m_spins[s].occupied; ++i)
      for (std::size_t a = m_spins[s].occupied; a < m_m; ++a) add_pair(s, i, a);
}

void orbital_hessian::add_pair(std::size_t spin, std::size_t i, std::size_t a) {
  const std::size_t alpha = m_spins[0].occupied;
  if (m_kind == reference::rohf && spin == 1 && a >= alpha)  // there for alpha, in this order
    m_pairs[i * (m_m - alpha) + (a - alpha)].turns[1] = true;
  else
    m_pairs.push_back({i, a, {spin == 0, spin == 1}});
}

std::vector<double> orbital_hessian::gradient() const {
  std::vector<double> out(m_pairs.size(), 0.0);
  for (std::size_t k = 0; k < m_pairs.size(); ++k)
    for (std::size_t s = 0; s < m_spins.size(); ++s)
      if (m_pairs[k].turns[s]) out[k] += 2 * copies() * m_spins[s].fock[m_pairs[k].a + m_m * m_pairs[k].i];
  return out;
}

std::vector<double> orbital_hessian::diagonal() const {
  std::vector<double> out(m_pairs.size(), 0.0);
  for (std::size_t k = 0; k < m_pairs.size(); ++k)
    for (std::size_t s = 0; s < m_spins.size(); ++s)
      if (m_pairs[k].turns[s]) {
        const matrix& f = m_spins[s].fock;
        out[k] += f[m_pairs[k].a * (m_m + 1)] - f[m_pairs[k].i * (m_m + 1)];
      }
  return out;
}

std::vector<double> orbital_hessian::rotation(const std::vector<double>& x, std::size_t spin) const {
  matrix out(m_m * m_m, 0.0);
  for (std::size_t k = 0; k < m_pairs.size(); ++k) {
    const pair& p = m_pairs[k];
    if (m_kind == reference::uhf && !p.turns[spin]) continue;  // shared orbitals turn for both spins
    out[p.a + m_m * p.i] = x[k];
    out[p.i + m_m * p.a] = -x[k];
  }
  return out;
}

std::vector<double> orbital_hessian::product_with(const std::vector<double>& x) {
  const std::size_t spins = m_spins.size();
  std::vector<matrix> turned(spins), densities, exchange(spins, matrix(m_n * m_n, 0.0));
  matrix coulomb(m_n * m_n, 0.0);
  for (std::size_t s = 0; s < spins; ++s) {
    // X over all orbitals, symmetric: the change of the density.
    matrix change(m_m * m_m, 0.0);
    for (std::size_t k = 0; k < m_pairs.size(); ++k)
      if (m_pairs[k].turns[s])
        change[m_pairs[k].a + m_m * m_pairs[k].i] = change[m_pairs[k].i + m_m * m_pairs[k].a] = x[k];
    densities.push_back(back(m_n, m_m, change, *m_spins[s].c));
    turned[s] = std::move(change);
  }
  m_builder.add(densities, coulomb, exchange);
  const double of_coulomb = m_which == orbital_rotations::triplet ? 0.0 : m_kind == reference::rhf ? 2.0 : 1.0;
  std::vector<double> out(m_pairs.size(), 0.0);
  for (std::size_t s = 0; s < spins; ++s) {
    matrix response = std::move(exchange[s]);
    for (std::size_t k = 0; k < response.size(); ++k) response[k] = of_coulomb * coulomb[k] - response[k];
    response = transformed(m_n, m_m, response, *m_spins[s].c);
    const matrix& f = m_spins[s].fock;
    const std::size_t o = m_spins[s].occupied;
    for (std::size_t k = 0; k < m_pairs.size(); ++k) {
      if (!m_pairs[k].turns[s]) continue;
      const std::size_t i = m_pairs[k].i, a = m_pairs[k].a;
      double sum = response[a + m_m * i];
      for (std::size_t b = o; b < m_m; ++b) sum += f[a + m_m * b] * turned[s][b + m_m * i];
      for (std::size_t j = 0; j < o; ++j) sum -= turned[s][a + m_m * j] * f[j + m_m * i];
      out[k] += sum;
    }
  }
  if (m_kind == reference::rohf) add_shared_orbitals(x, out);
  return out;
}

/// Turning d to s and s to v turns d to v in second order, in opposite directions for both spins: half of
/// F_beta(v,d) - F_alpha(v,d) between the two.
void orbital_hessian::add_shared_orbitals(const std::vector<double>& x, std::vector<double>& to) const {
  const std::size_t doubly = m_spins[1].occupied, occupied = m_spins[0].occupied;
  matrix at(m_m * m_m, 0.0);
  for (std::size_t k = 0; k < m_pairs.size(); ++k) at[m_pairs[k].a + m_m * m_pairs[k].i] = x[k];
  const auto half = [&](std::size_t v, std::size_t d) {
    return 0.5 * (m_spins[1].fock[v + m_m * d] - m_spins[0].fock[v + m_m * d]);
  };
  for (std::size_t k = 0; k < m_pairs.size(); ++k) {
    const std::size_t i = m_pairs[k].i, a = m_pairs[k].a;
    if (i >= doubly)  // s to v
      for (std::size_t d = 0; d < doubly; ++d) to[k] += half(a, d) * at[i + m_m * d];
    else if (a < occupied)  // d to s
      for (std::size_t v = occupied; v < m_m; ++v) to[k] += half(v, i) * at[v + m_m * a];
  }
}

}  // namespace tessera::chemistry
