#include "libraries/chemistry/exchange/hamiltonian.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "libraries/chemistry/scf/fock.hpp"
#include "libraries/chemistry/scf/matrix.hpp"

namespace tessera::chemistry {
namespace {

constexpr double min_integral = 1e-14;  // hartree; those with a smaller bound are zero

std::vector<double> packed(std::size_t n, const std::vector<double>& matrix) {
  std::vector<double> lower;
  lower.reserve(hamiltonian::pairs(n));
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t q = 0; q <= p; ++q) lower.push_back(matrix[p * n + q]);
  return lower;
}

std::vector<double> columns(const std::vector<double>& c, std::size_t n, std::size_t first, std::size_t last) {
  return {c.begin() + static_cast<std::ptrdiff_t>(n * first), c.begin() + static_cast<std::ptrdiff_t>(n * last)};
}

std::vector<double> core_matrix(const integrals& over) {
  std::vector<double> h = over.kinetic();
  const std::vector<double> attraction = over.attraction();
  for (std::size_t k = 0; k < h.size(); ++k) h[k] += attraction[k];
  return h;
}

/// One- and two-electron parts of spins, one where both are the same.
using of_spins = std::vector<std::vector<double>>;

/// Adds the field of occupied orbitals to `h`. Returns their energy.
double add_field(const integrals& over, const of_spins& orbitals, of_spins& h) {
  const std::size_t n = over.functions();
  of_spins density, exchange;
  for (const std::vector<double>& one : orbitals) {
    density.push_back(density_of(n, one.size() / n, one));
    exchange.emplace_back(n * n, 0.0);
  }
  std::vector<double> coulomb(n * n, 0.0);
  fock_builder(over, 0, 1).add(density, coulomb, exchange);
  const double images = orbitals.size() == 1 ? 2 : 1;
  double energy = 0;
  for (std::size_t s = 0; s < orbitals.size(); ++s)
    for (std::size_t k = 0; k < n * n; ++k) {
      const double field = images * coulomb[k] - exchange[s][k];
      energy += 0.5 * images * density[s][k] * (2 * h[s][k] + field);
      h[s][k] += field;
    }
  return energy;
}

/// (pq|mn) over orbitals p, q and functions m, n: pairs of functions fastest.
std::vector<double> half_transformed(const integrals& over, const std::vector<double>& c, std::size_t orbitals) {
  const std::size_t n = over.functions(), function_pairs = hamiltonian::pairs(n), pairs = hamiltonian::pairs(orbitals);
  const std::vector<double> bounds = schwarz_bounds(over);
  const std::unique_ptr<repulsion_engine> engine = over.engine(1e-18);
  std::vector<double> half(pairs * function_pairs), block, matrix(n * n);
  const shell_range all{0, over.shells()};
  for (std::size_t b = 0; b < over.shells(); ++b)
    for (std::size_t a = b; a < over.shells(); ++a) {
      block.resize(n * n * over.size(a) * over.size(b));
      fill_block(over, bounds, min_integral, *engine, {all, all, shell_range{a, a + 1}, shell_range{b, b + 1}}, block);
      for (std::size_t fb = 0; fb < over.size(b); ++fb)
        for (std::size_t fa = 0; fa < over.size(a); ++fa) {
          const auto begin = block.begin() + static_cast<std::ptrdiff_t>(n * n * (fa + over.size(a) * fb));
          matrix.assign(begin, begin + static_cast<std::ptrdiff_t>(n * n));
          const std::vector<double> over_orbitals = packed(orbitals, transformed(n, orbitals, matrix, c));
          const std::size_t at = hamiltonian::pair(over.offset(a) + fa, over.offset(b) + fb);
          for (std::size_t pq = 0; pq < pairs; ++pq) half[pq * function_pairs + at] = over_orbitals[pq];
        }
    }
  return half;
}

/// (pq|rs) of one pair p, q, for all pairs of the orbitals `c`.
std::vector<double> second_pairs(std::size_t n, const std::vector<double>& half, std::size_t pq,
                                 const std::vector<double>& c, std::size_t orbitals) {
  const double* const lower = half.data() + pq * hamiltonian::pairs(n);
  std::vector<double> matrix(n * n);
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t q = 0; q < n; ++q) matrix[p * n + q] = lower[hamiltonian::pair(p, q)];
  return packed(orbitals, transformed(n, orbitals, matrix, c));
}

/// Of one spin: pairs of pairs.
std::vector<double> alike_repulsion(std::size_t n, const std::vector<double>& half, const std::vector<double>& c,
                                    std::size_t orbitals) {
  const std::size_t pairs = hamiltonian::pairs(orbitals);
  std::vector<double> two(hamiltonian::pairs(pairs));
  for (std::size_t pq = 0; pq < pairs; ++pq) {
    const std::vector<double> second = second_pairs(n, half, pq, c, orbitals);
    for (std::size_t rs = pq; rs < pairs; ++rs) two[hamiltonian::pair(rs, pq)] = second[rs];
  }
  return two;
}

void transform_repulsion(const integrals& over, const of_spins& c, hamiltonian& to) {
  const std::size_t n = over.functions(), m = to.orbitals, pairs = hamiltonian::pairs(m);
  const auto numbers = static_cast<double>(pairs) * static_cast<double>(hamiltonian::pairs(n) + pairs / 2);
  require_memory_for(numbers + (c.size() == 1 ? 0 : 1.5 * static_cast<double>(pairs) * static_cast<double>(pairs)),
                     fmt::format("the integrals over {} orbitals", m));
  std::vector<double> half = half_transformed(over, c[0], m);
  to.two = alike_repulsion(n, half, c[0], m);
  if (c.size() == 1) return;
  to.mixed.reserve(pairs * pairs);
  for (std::size_t pq = 0; pq < pairs; ++pq) {
    const std::vector<double> second = second_pairs(n, half, pq, c[1], m);
    to.mixed.insert(to.mixed.end(), second.begin(), second.end());
  }
  half = {};
  half = half_transformed(over, c[1], m);
  to.two_beta = alike_repulsion(n, half, c[1], m);
}

}  // namespace

void require_memory_for(double numbers, const std::string& what) {
  const double bytes = 8 * numbers,
               all = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (bytes > all)
    throw error(error_kind::memory,
                fmt::format("{} take {}, and the machine has {}", what, format_bytes(bytes), format_bytes(all)), "",
                "fewer orbitals, such as with --frozen-virtual");
}

hamiltonian hamiltonian_of(const integrals& over, const scf_result& scf, int frozen_core, int frozen_virtual) {
  const auto first = static_cast<std::size_t>(frozen_core), n = over.functions();
  const auto left_out = first + static_cast<std::size_t>(frozen_virtual);
  if (left_out >= scf.orbitals || frozen_core > scf.occupied[1])
    throw error(
        error_kind::usage,
        fmt::format("{} orbitals are frozen below and {} above, and there are {}, {} of them occupied for both spins",
                    frozen_core, frozen_virtual, scf.orbitals, scf.occupied[1]));
  hamiltonian made;
  made.orbitals = scf.orbitals - left_out;
  made.unpaired = scf.occupied[0] - scf.occupied[1];
  made.electrons = scf.occupied[0] + scf.occupied[1] - 2 * frozen_core;
  made.core_energy = nuclear_repulsion(over.nuclei());
  const std::size_t spins = scf.c[1].empty() ? 1 : 2;
  of_spins h(spins, core_matrix(over)), frozen, c;
  for (std::size_t s = 0; s < spins; ++s) {
    frozen.push_back(columns(scf.c[s], n, 0, first));
    c.push_back(columns(scf.c[s], n, first, first + made.orbitals));
  }
  if (first > 0) made.core_energy += add_field(over, frozen, h);
  made.one = packed(made.orbitals, transformed(n, made.orbitals, h[0], c[0]));
  if (spins == 2) made.one_beta = packed(made.orbitals, transformed(n, made.orbitals, h[1], c[1]));
  transform_repulsion(over, c, made);
  return made;
}

}  // namespace tessera::chemistry
