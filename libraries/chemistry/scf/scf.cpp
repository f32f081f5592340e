#include "libraries/chemistry/scf/scf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "libraries/chemistry/scf/diis.hpp"
#include "libraries/chemistry/scf/fock.hpp"
#include "libraries/chemistry/scf/guess.hpp"
#include "libraries/chemistry/scf/matrix.hpp"

namespace tessera::chemistry {
namespace {

constexpr std::size_t remembered = 8;     // iterations that are extrapolated from
constexpr int matrices_from_changes = 7;  // one after the other, so that their errors do not add up

struct occupation {
  std::array<int, 2> electrons{};  // alpha, beta
};

occupation occupation_of(const molecule& of, reference kind) {
  const int all = electrons(of), unpaired = of.multiplicity - 1;
  if (kind == reference::rhf && unpaired != 0)
    throw error(error_kind::input,
                fmt::format("rhf is for closed shells, and {} has multiplicity {}",
                            of.name.empty() ? "the molecule" : of.name, of.multiplicity),
                "", "use the reference uhf or rohf");
  return {{(all + unpaired) / 2, (all - unpaired) / 2}};
}

/// Orthonormal combinations of the functions that orbitals of a spin are made of: functions x count.
std::vector<double> orthonormal_of_spin(const integrals& over, std::size_t spin, const std::vector<double>& overlap,
                                        double limit, std::size_t& count) {
  const std::size_t n = over.functions();
  const function_range of = over.functions_of_spin(spin);
  if (of.count == n) return orthonormal_functions(n, overlap, limit, count);
  std::vector<double> own(of.count * of.count);
  for (std::size_t p = 0; p < of.count; ++p)
    for (std::size_t q = 0; q < of.count; ++q) own[p + of.count * q] = overlap[of.first + p + n * (of.first + q)];
  const std::vector<double> inner = orthonormal_functions(of.count, own, limit, count);
  std::vector<double> all(n * count, 0.0);
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t p = 0; p < of.count; ++p) all[of.first + p + n * k] = inner[p + of.count * k];
  return all;
}

/// One calculation.
class calculation {
 public:
  calculation(const molecule& of, const integrals& over, const scf_settings& how, fock_builder& builder)
      : m_molecule(of),
        m_over(over),
        m_how(how),
        m_n(over.functions()),
        m_electrons(occupation_of(of, how.kind).electrons),
        m_overlap(over.overlap()),
        m_core(over.kinetic()),
        m_builder(builder),
        m_nuclei(nuclear_repulsion(of)) {
    const std::vector<double> attraction = over.attraction();
    for (std::size_t k = 0; k < m_core.size(); ++k) m_core[k] += attraction[k];
    for (std::size_t s = 0; s < (over.spins_are_apart() ? 2u : 1u); ++s)
      m_orthonormal[s] = orthonormal_of_spin(over, s, m_overlap, how.linear_dependence, m_orbitals);
    if (static_cast<std::size_t>(m_electrons[0]) > m_orbitals)
      throw error(error_kind::input,
                  fmt::format("the basis has {} orbitals, and {} electrons of one spin need as many", m_orbitals,
                              m_electrons[0]),
                  "", "use a larger basis");
  }

  scf_result run();

 private:
  std::size_t spins() const noexcept { return m_how.kind == reference::rhf ? 1 : 2; }
  void add_repulsion();
  void build_fock();
  double energy() const;
  const std::vector<double>& orthonormal(std::size_t set) const {
    return m_orthonormal[m_orthonormal[1].empty() ? 0 : set];
  }
  std::vector<double> gradient_of(const std::vector<double>& fock, const std::vector<double>& density,
                                  std::size_t set) const;
  std::vector<double> shared_fock() const;
  void make_orbitals(const std::vector<double>& fock, std::size_t set, double shift);
  void make_densities(double damping);
  void first_orbitals();
  void orbitals_of_densities(const std::array<std::vector<double>, 2>& densities);
  scf_result result(bool converged, const scf_iteration& last) const;

  const molecule& m_molecule;
  const integrals& m_over;
  const scf_settings& m_how;
  const std::size_t m_n;
  const std::array<int, 2> m_electrons;
  const std::vector<double> m_overlap;
  std::vector<double> m_core;
  fock_builder& m_builder;
  const double m_nuclei;
  std::size_t m_orbitals = 0;
  std::array<std::vector<double>, 2> m_orthonormal;  // functions x orbitals; the second where spins are apart
  std::array<std::vector<double>, 2> m_c, m_energies, m_density, m_fock;
  std::vector<double> m_coulomb;
  std::vector<std::vector<double>> m_exchange, m_added;  // of each spin; the densities that both matrices are of
  int m_changes = 0;                                     // that have been added to them
};

/// The matrices of repulsion. Where integrals are computed again, of the change of the density: most are negligible
/// then.
void calculation::add_repulsion() {
  std::vector<std::vector<double>> added(m_density.begin(), m_density.begin() + static_cast<std::ptrdiff_t>(spins()));
  const bool from_nothing = m_builder.keeps_all() || m_added.empty() || m_changes == matrices_from_changes;
  if (from_nothing) {
    m_coulomb.assign(m_n * m_n, 0.0);
    m_exchange.assign(spins(), std::vector<double>(m_n * m_n, 0.0));
  } else {
    for (std::size_t s = 0; s < spins(); ++s)
      for (std::size_t k = 0; k < m_n * m_n; ++k) added[s][k] -= m_added[s][k];
  }
  m_changes = from_nothing ? 0 : m_changes + 1;
  m_builder.add(added, m_coulomb, m_exchange);
  m_added.assign(m_density.begin(), m_density.begin() + static_cast<std::ptrdiff_t>(spins()));
}

void calculation::build_fock() {
  add_repulsion();
  const double of_both = spins() == 1 ? 2.0 : 1.0;
  for (std::size_t s = 0; s < spins(); ++s) {
    m_fock[s] = m_core;
    for (std::size_t k = 0; k < m_n * m_n; ++k) m_fock[s][k] += of_both * m_coulomb[k] - m_exchange[s][k];
  }
}

double calculation::energy() const {
  double sum = 0;
  for (std::size_t s = 0; s < spins(); ++s)
    for (std::size_t k = 0; k < m_n * m_n; ++k) sum += m_density[s][k] * (m_core[k] + m_fock[s][k]);
  return m_nuclei + (spins() == 1 ? 1.0 : 0.5) * sum;
}

/// FDS - SDF over the orthonormal functions.
std::vector<double> calculation::gradient_of(const std::vector<double>& fock, const std::vector<double>& density,
                                             std::size_t set) const {
  const std::vector<double> ds = product(m_n, m_n, m_n, density, m_overlap);
  const std::vector<double> fds = product(m_n, m_n, m_n, fock, ds);
  std::vector<double> commutator(m_n * m_n);
  for (std::size_t a = 0; a < m_n; ++a)
    for (std::size_t b = 0; b < m_n; ++b) commutator[a + m_n * b] = fds[a + m_n * b] - fds[b + m_n * a];
  return transformed(m_n, m_orbitals, commutator, orthonormal(set));
}

/// The one Fock matrix of rohf, over functions: between doubly occupied, singly occupied and virtual orbitals the mean
/// of both spins, except beta's between doubly and singly occupied ones and alpha's between those and virtual ones
/// (M. F. Guest, V. R. Saunders, Mol. Phys. 28 (1974) 819).
std::vector<double> calculation::shared_fock() const {
  const std::vector<double> alpha = transformed(m_n, m_orbitals, m_fock[0], m_c[0]),
                            beta = transformed(m_n, m_orbitals, m_fock[1], m_c[0]);
  const auto doubly = static_cast<std::size_t>(m_electrons[1]), occupied = static_cast<std::size_t>(m_electrons[0]);
  const auto kind = [&](std::size_t p) { return p < doubly ? 0 : p < occupied ? 1 : 2; };
  std::vector<double> fock(m_orbitals * m_orbitals);
  for (std::size_t p = 0; p < m_orbitals; ++p)
    for (std::size_t q = 0; q < m_orbitals; ++q) {
      const std::size_t k = p + m_orbitals * q;
      const int both = kind(p) + kind(q);
      const bool apart = kind(p) != kind(q);
      fock[k] = apart && both == 1 ? beta[k] : apart && both == 3 ? alpha[k] : 0.5 * (alpha[k] + beta[k]);
    }
  // Back to functions: S C F C^T S.
  const std::vector<double> sc = product(m_n, m_orbitals, m_n, m_overlap, m_c[0]);
  return back(m_n, m_orbitals, fock, sc);
}

void calculation::make_orbitals(const std::vector<double>& fock, std::size_t set, double shift) {
  std::vector<double> f = transformed(m_n, m_orbitals, fock, orthonormal(set));
  if (shift != 0 && !m_density[set].empty()) {
    // Virtual orbitals are raised: + shift (1 - X^T S D S X).
    const std::vector<double> sx = product(m_n, m_orbitals, m_n, m_overlap, orthonormal(set));
    const std::vector<double> occupied = transformed(m_n, m_orbitals, m_density[set], sx);
    for (std::size_t p = 0; p < m_orbitals; ++p)
      for (std::size_t q = 0; q < m_orbitals; ++q)
        f[p + m_orbitals * q] += shift * ((p == q ? 1.0 : 0.0) - occupied[p + m_orbitals * q]);
  }
  m_energies[set] = eigenvalues(m_orbitals, f);
  m_c[set] = product(m_n, m_orbitals, m_orbitals, orthonormal(set), f);
}

void calculation::make_densities(double damping) {
  for (std::size_t s = 0; s < spins(); ++s) {
    const std::vector<double>& c = m_c[m_how.kind == reference::uhf ? s : 0];
    std::vector<double> fresh = density_of(m_n, static_cast<std::size_t>(m_electrons[s]), c);
    if (damping != 0 && !m_density[s].empty())
      for (std::size_t k = 0; k < fresh.size(); ++k) fresh[k] = (1 - damping) * fresh[k] + damping * m_density[s][k];
    m_density[s] = std::move(fresh);
  }
}

/// Orbitals of which the first ones have these densities: eigenvectors of -S D S. Shared ones have the sum of both.
void calculation::orbitals_of_densities(const std::array<std::vector<double>, 2>& densities) {
  const bool apart = m_how.kind == reference::uhf;
  for (std::size_t s = 0; s < (apart ? 2u : 1u); ++s) {
    std::vector<double> density = densities[s];
    if (!apart)
      for (std::size_t k = 0; k < density.size(); ++k) density[k] += densities[1][k];
    std::vector<double> sds = transformed(m_n, m_n, density, m_overlap);
    for (double& x : sds) x = -x;
    make_orbitals(sds, s, 0);
  }
}

/// The guess is a density: of its Fock matrix the orbitals.
void calculation::first_orbitals() {
  if (m_how.guess == scf_guess::density) {
    orbitals_of_densities(m_how.start);
    make_densities(0);
    return;
  }
  std::vector<double> fock = m_core;
  if (m_how.guess == scf_guess::sad) {
    const std::vector<std::vector<double>> half{density_of_atoms(m_molecule, m_over)};
    std::vector<double> coulomb(m_n * m_n, 0.0);
    std::vector<std::vector<double>> exchange{std::vector<double>(m_n * m_n, 0.0)};
    m_builder.add(half, coulomb, exchange);
    for (std::size_t k = 0; k < fock.size(); ++k) fock[k] += 2 * coulomb[k] - exchange[0][k];
  }
  for (std::size_t s = 0; s < (m_how.kind == reference::uhf ? 2u : 1u); ++s) make_orbitals(fock, s, 0);
  make_densities(0);
}

scf_result calculation::run() {
  first_orbitals();
  const std::size_t sets = m_how.kind == reference::uhf ? 2 : 1;
  diis extrapolation(remembered);
  double last = 0, gradient = 1;
  for (int k = 1; k <= m_how.max_iterations; ++k) {
    build_fock();
    const double e = energy();
    std::vector<double> error;
    std::array<std::vector<double>, 2> fock{m_fock[0], m_fock[1]};
    if (m_how.kind == reference::rohf) {
      fock[0] = shared_fock();
      std::vector<double> both = m_density[0];
      // With the shared matrix both densities must commute with it.
      error = gradient_of(fock[0], both, 0);
      const std::vector<double> second = gradient_of(fock[0], m_density[1], 0);
      error.insert(error.end(), second.begin(), second.end());
    } else {
      for (std::size_t s = 0; s < sets; ++s) {
        const std::vector<double> one = gradient_of(fock[s], m_density[s], s);
        error.insert(error.end(), one.begin(), one.end());
      }
    }
    gradient = 0;
    for (const double g : error) gradient = std::max(gradient, std::abs(g));
    const scf_iteration now{k, e, k == 1 ? e : e - last, gradient};
    const bool goes_on = !m_how.tell || m_how.tell(now);
    const bool converged = k > 1 && std::abs(e - last) < m_how.energy_change && gradient < m_how.gradient;
    last = e;
    if (converged || !goes_on || k == m_how.max_iterations) {
      // Orbitals of the last matrix, without what has helped to get there.
      for (std::size_t s = 0; s < sets; ++s) make_orbitals(fock[s], s, 0);
      return result(converged, now);
    }
    if (m_how.keep && k % m_how.keep_interval == 0) m_how.keep(result(false, now));
    std::vector<double> all;
    for (std::size_t s = 0; s < sets; ++s) all.insert(all.end(), fock[s].begin(), fock[s].end());
    all = extrapolation.next(std::move(all), std::move(error));
    for (std::size_t s = 0; s < sets; ++s) {
      fock[s].assign(all.begin() + static_cast<std::ptrdiff_t>(s * m_n * m_n),
                     all.begin() + static_cast<std::ptrdiff_t>((s + 1) * m_n * m_n));
      make_orbitals(fock[s], s, gradient > 1e-3 ? m_how.level_shift : 0.0);
    }
    make_densities(gradient > 1e-1 ? m_how.damping : 0.0);
  }
  return result(false, {});
}

scf_result calculation::result(bool converged, const scf_iteration& last) const {
  scf_result r;
  r.converged = converged;
  r.iterations = last.number;
  r.energy = last.energy;
  r.change = last.change;
  r.gradient = last.gradient;
  r.functions = m_n;
  r.orbitals = m_orbitals;
  r.occupied = m_electrons;
  r.c = m_c;
  r.energies = m_energies;
  for (std::size_t s = 0; s < spins(); ++s) {
    r.fock[s] = m_fock[s];
    r.density[s] = m_density[s];
  }
  const double excess = 0.5 * (m_electrons[0] - m_electrons[1]);
  r.spin_squared = excess * (excess + 1);
  if (m_how.kind == reference::uhf) {
    // + N_beta less the overlap of the occupied orbitals of both spins: trace of D_a S D_b S.
    const std::vector<double> a = product(m_n, m_n, m_n, m_density[0], m_overlap),
                              b = product(m_n, m_n, m_n, m_density[1], m_overlap);
    double trace = 0;
    for (std::size_t p = 0; p < m_n; ++p)
      for (std::size_t q = 0; q < m_n; ++q) trace += a[p + m_n * q] * b[q + m_n * p];
    r.spin_squared += m_electrons[1] - trace;
  }
  const std::array<std::vector<double>, 3> moments = m_over.dipole();
  for (std::size_t x = 0; x < 3; ++x) {
    for (const atom& a : m_molecule.atoms) r.dipole[x] += a.number * a.at[x];
    for (std::size_t s = 0; s < spins(); ++s)
      for (std::size_t k = 0; k < m_n * m_n; ++k)
        r.dipole[x] -= (spins() == 1 ? 2 : 1) * m_density[s][k] * moments[x][k];
  }
  return r;
}

}  // namespace

scf_memory memory_of_scf(const integrals& over, const scf_settings& how) {
  const auto n = static_cast<double>(over.functions());
  const double matrix = n * n * sizeof(double), spins = how.kind == reference::rhf ? 1 : 2;
  // Of each spin: orbitals, density, the one before and the change, Fock and exchange matrix; vectors and errors of
  // iterations; what products need.
  const double of_spin = 6 + 2 * remembered + 6, of_thread = 1 + spins, shared = 14;
  scf_memory needs;
  needs.matrices = matrix * (shared + of_spin * spins) +
                   std::max(1u, how.threads) * (of_thread * matrix + over.engine_bytes() + bytes_of_rows(over));
  needs.integrals = bytes_of_repulsion(over);
  needs.result = 3 * spins * matrix;
  return needs;
}

std::size_t independent_functions(const integrals& over, double linear_dependence) {
  std::size_t count = 0;
  (void)orthonormal_of_spin(over, 0, over.overlap(), linear_dependence, count);
  return count;
}

scf_result run_scf(const molecule& of, const integrals& over, const scf_settings& how) {
  fock_builder builder(over, how.kept_bytes, how.threads);
  return run_scf(of, over, how, builder);
}

scf_result run_scf(const molecule& of, const integrals& over, const scf_settings& how, fock_builder& builder) {
  return calculation(of, over, how, builder).run();
}

}  // namespace tessera::chemistry
