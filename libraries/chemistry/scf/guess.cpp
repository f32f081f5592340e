#include "libraries/chemistry/scf/guess.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "libraries/chemistry/scf/fock.hpp"
#include "libraries/chemistry/scf/matrix.hpp"

namespace tessera::chemistry {
namespace {

/// Electrons in s, p, d, f functions of an atom, in the order in which shells are filled.
std::array<int, 4> electrons_by_momentum(int number) {
  constexpr std::array order{0, 0, 1, 0, 1, 0, 2, 1, 0, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1};
  std::array<int, 4> out{};
  for (const int l : order) {
    const int here = std::min(number, 2 * (2 * l + 1));
    out[static_cast<std::size_t>(l)] += here;
    number -= here;
  }
  return out;
}

/// The density of one spin of an atom alone, over its shells in their order.
std::vector<double> density_of_atom(int number, const std::vector<shell>& shells) {
  molecule alone;
  alone.atoms = {{number, {0, 0, 0}}};
  std::vector<shell> centred = shells;
  for (shell& s : centred) {
    s.at = {0, 0, 0};
    s.atom = 0;
  }
  const std::unique_ptr<integrals> over = make_integrals(centred, alone);
  const std::size_t n = over->functions();
  std::vector<double> core = over->kinetic();
  const std::vector<double> attraction = over->attraction(), overlap = over->overlap();
  for (std::size_t k = 0; k < core.size(); ++k) core[k] += attraction[k];
  fock_builder builder(*over, std::size_t{1} << 26, 1);
  const std::array<int, 4> electrons = electrons_by_momentum(number);
  std::vector<double> density(n * n, 0.0);
  for (int iteration = 0; iteration < 30; ++iteration) {
    std::vector<double> coulomb(n * n, 0.0);
    std::vector<std::vector<double>> exchange{std::vector<double>(n * n, 0.0)};
    builder.add({{density}}, coulomb, exchange);
    std::vector<double> fresh(n * n, 0.0);
    for (int l = 0; l < 4; ++l) {
      // Only shells with as many functions as a sphere needs: Cartesian d and f shells stay empty.
      std::vector<std::size_t> radial;
      for (std::size_t s = 0; s < over->shells(); ++s)
        if (centred[s].momentum == l && over->size(s) == static_cast<std::size_t>(2 * l + 1)) radial.push_back(s);
      const std::size_t m = radial.size(), copies = static_cast<std::size_t>(2 * l + 1);
      if (m == 0 || electrons[static_cast<std::size_t>(l)] == 0) continue;
      std::vector<double> f(m * m, 0.0), o(m * m, 0.0);
      for (std::size_t p = 0; p < m; ++p)
        for (std::size_t q = 0; q < m; ++q)
          for (std::size_t k = 0; k < copies; ++k) {
            const std::size_t at = (over->offset(radial[p]) + k) + n * (over->offset(radial[q]) + k);
            f[p + m * q] += (core[at] + 2 * coulomb[at] - exchange[0][at]) / static_cast<double>(copies);
            o[p + m * q] += overlap[at] / static_cast<double>(copies);
          }
      std::size_t kept = 0;
      const std::vector<double> x = orthonormal_functions(m, o, 1e-10, kept);
      std::vector<double> inner = transformed(m, kept, f, x);
      (void)eigenvalues(kept, inner);
      const std::vector<double> c = product(m, kept, kept, x, inner);
      double left =
          0.5 * electrons[static_cast<std::size_t>(l)] / static_cast<double>(copies);  // of one spin and function
      for (std::size_t k = 0; k < kept && left > 0; ++k, left -= 1)
        for (std::size_t p = 0; p < m; ++p)
          for (std::size_t q = 0; q < m; ++q)
            for (std::size_t one = 0; one < copies; ++one)
              fresh[(over->offset(radial[p]) + one) + n * (over->offset(radial[q]) + one)] +=
                  std::min(left, 1.0) * c[p + m * k] * c[q + m * k];
    }
    double change = 0;
    for (std::size_t k = 0; k < n * n; ++k) {
      change = std::max(change, std::abs(fresh[k] - density[k]));
      density[k] = iteration == 0 ? fresh[k] : 0.5 * (density[k] + fresh[k]);
    }
    if (change < 1e-4) break;
  }
  return density;
}

}  // namespace

std::vector<double> density_of_atoms(const molecule& of, const integrals& over) {
  const std::size_t n = over.functions();
  std::vector<double> all(n * n, 0.0);
  std::map<std::pair<int, std::size_t>, std::vector<double>> known;  // by element and number of functions
  for (std::size_t a = 0; a < of.atoms.size(); ++a) {
    std::vector<shell> shells;
    std::vector<std::size_t> at;  // where each of its functions is
    for (std::size_t s = 0; s < over.shells(); ++s) {
      if (over.shell_at(s).atom != a) continue;
      shells.push_back(over.shell_at(s));
      for (std::size_t f = over.offset(s); f < over.offset(s + 1); ++f) at.push_back(f);
    }
    std::vector<double>& density = known[{of.atoms[a].number, at.size()}];
    if (density.empty()) density = density_of_atom(of.atoms[a].number, shells);
    for (std::size_t p = 0; p < at.size(); ++p)
      for (std::size_t q = 0; q < at.size(); ++q) all[at[p] + n * at[q]] = density[p + at.size() * q];
  }
  return all;
}

}  // namespace tessera::chemistry
