#include "libraries/chemistry/exchange/hamiltonian.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "libraries/chemistry/scf/fock.hpp"
#include "libraries/chemistry/scf/matrix.hpp"

namespace tessera::chemistry {
namespace {

constexpr double least_integral = 1e-14;  // hartree; those with a smaller bound are zero

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

/// Adds the field of doubly occupied orbitals to `h`. Returns their energy.
double add_field(const integrals& over, const std::vector<double>& orbitals, std::vector<double>& h) {
  const std::size_t n = over.functions();
  const std::vector<std::vector<double>> density{density_of(n, orbitals.size() / n, orbitals)};
  std::vector<double> coulomb(n * n, 0.0);
  std::vector<std::vector<double>> exchange{std::vector<double>(n * n, 0.0)};
  fock_builder(over, 0, 1).add(density, coulomb, exchange);
  double energy = 0;
  for (std::size_t k = 0; k < h.size(); ++k) {
    const double field = 2 * coulomb[k] - exchange[0][k];
    energy += density[0][k] * (2 * h[k] + field);
    h[k] += field;
  }
  return energy;
}

/// (pq|rs) over orbitals: the second pair first, for each pair of functions.
std::vector<double> transformed_repulsion(const integrals& over, const std::vector<double>& c, std::size_t orbitals) {
  const std::size_t n = over.functions(), function_pairs = hamiltonian::pairs(n), pairs = hamiltonian::pairs(orbitals);
  const std::vector<double> bounds = schwarz_bounds(over);
  const std::unique_ptr<repulsion_engine> engine = over.engine(1e-18);
  require_memory_for(static_cast<double>(pairs) * static_cast<double>(function_pairs + pairs / 2),
                     fmt::format("the integrals over {} orbitals", orbitals));
  std::vector<double> half(pairs * function_pairs), block, matrix(n * n);  // orbitals' pairs, slowest
  const shell_range all{0, over.shells()};
  for (std::size_t b = 0; b < over.shells(); ++b)
    for (std::size_t a = b; a < over.shells(); ++a) {
      block.resize(n * n * over.size(a) * over.size(b));
      fill_block(over, bounds, least_integral, *engine, {all, all, shell_range{a, a + 1}, shell_range{b, b + 1}},
                 block);
      for (std::size_t fb = 0; fb < over.size(b); ++fb)
        for (std::size_t fa = 0; fa < over.size(a); ++fa) {
          const auto begin = block.begin() + static_cast<std::ptrdiff_t>(n * n * (fa + over.size(a) * fb));
          matrix.assign(begin, begin + static_cast<std::ptrdiff_t>(n * n));
          const std::vector<double> over_orbitals = packed(orbitals, transformed(n, orbitals, matrix, c));
          const std::size_t at = hamiltonian::pair(over.offset(a) + fa, over.offset(b) + fb);
          for (std::size_t rs = 0; rs < pairs; ++rs) half[rs * function_pairs + at] = over_orbitals[rs];
        }
    }
  std::vector<double> two(hamiltonian::pairs(pairs));
  for (std::size_t rs = 0; rs < pairs; ++rs) {
    const double* const lower = half.data() + rs * function_pairs;
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = 0; q < n; ++q) matrix[p * n + q] = lower[hamiltonian::pair(p, q)];
    const std::vector<double> over_orbitals = packed(orbitals, transformed(n, orbitals, matrix, c));
    for (std::size_t pq = rs; pq < pairs; ++pq) two[hamiltonian::pair(pq, rs)] = over_orbitals[pq];
  }
  return two;
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
  if (!scf.c[1].empty())
    throw error(error_kind::usage, "both spins have orbitals of their own, and integrals over one set are asked for",
                "", "the reference rhf or rohf");
  const auto first = static_cast<std::size_t>(frozen_core), n = over.functions();
  const auto left_out = first + static_cast<std::size_t>(frozen_virtual);
  if (left_out >= scf.orbitals || frozen_core > scf.occupied[1])
    throw error(error_kind::usage,
                fmt::format("{} orbitals are frozen below and {} above, and there are {}, {} of them doubly occupied",
                            frozen_core, frozen_virtual, scf.orbitals, scf.occupied[1]));
  hamiltonian made;
  made.orbitals = scf.orbitals - left_out;
  made.unpaired = scf.occupied[0] - scf.occupied[1];
  made.electrons = scf.occupied[0] + scf.occupied[1] - 2 * frozen_core;
  std::vector<double> h = core_matrix(over);
  made.core_energy = nuclear_repulsion(over.nuclei());
  if (first > 0) made.core_energy += add_field(over, columns(scf.c[0], n, 0, first), h);
  const std::vector<double> c = columns(scf.c[0], n, first, first + made.orbitals);
  made.one = packed(made.orbitals, transformed(n, made.orbitals, h, c));
  made.two = transformed_repulsion(over, c, made.orbitals);
  return made;
}

}  // namespace tessera::chemistry
