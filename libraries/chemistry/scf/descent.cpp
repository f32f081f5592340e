#include "libraries/chemistry/scf/descent.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "libraries/chemistry/scf/matrix.hpp"

namespace tessera::chemistry {
namespace {

using matrix = std::vector<double>;

/// exp(K angle) by its series; the norm of K is at most about 1.
matrix exponential(std::size_t m, const matrix& k, double angle) {
  matrix sum(m * m, 0.0), power(m * m, 0.0);
  for (std::size_t p = 0; p < m; ++p) sum[p * (m + 1)] = power[p * (m + 1)] = 1;
  for (int term = 1; term <= 24; ++term) {
    power = product(m, m, m, power, k);
    for (std::size_t p = 0; p < m * m; ++p) {
      power[p] *= angle / term;
      sum[p] += power[p];
    }
  }
  return sum;
}

/// A point on the way down: orbitals with their Fock matrices and energy.
class point_of_descent {
 public:
  point_of_descent(const scf_result& scf, reference kind, const integrals& over, fock_builder& builder)
      : m_at(scf), m_kind(kind), m_builder(&builder), m_core(over.kinetic()) {
    const matrix attraction = over.attraction();
    for (std::size_t k = 0; k < m_core.size(); ++k) m_core[k] += attraction[k];
    evaluate();
  }
  double energy() const noexcept { return m_energy; }
  const scf_result& at() const noexcept { return m_at; }
  orbital_hessian hessian() const { return {m_at, m_kind, orbital_rotations::internal, *m_builder}; }

  /// All orbitals turned; `rotations` as curvature::direction.
  point_of_descent turned(const std::array<matrix, 2>& rotations, double angle) const {
    point_of_descent next = *this;
    for (std::size_t s = 0; s < 2; ++s)
      if (!next.m_at.c[s].empty())
        next.m_at.c[s] = product(m_at.functions, m_at.orbitals, m_at.orbitals, m_at.c[s],
                                 exponential(m_at.orbitals, rotations[rotations[1].empty() ? 0 : s], angle));
    next.evaluate();
    return next;
  }
  std::array<matrix, 2> densities() const {
    std::array<matrix, 2> out;
    for (std::size_t s = 0; s < 2; ++s)
      out[s] =
          density_of(m_at.functions, static_cast<std::size_t>(m_at.occupied[s]), m_at.c[m_at.c[1].empty() ? 0 : s]);
    return out;
  }

 private:
  void evaluate() {
    const std::size_t elements = m_at.functions * m_at.functions, spins = m_kind == reference::rhf ? 1 : 2;
    const std::array<matrix, 2> all = densities();
    matrix coulomb(elements, 0.0);
    std::vector<matrix> exchange(spins, matrix(elements, 0.0));
    m_builder->add(std::span(all).first(spins), coulomb, exchange);
    m_energy = 0;
    for (std::size_t s = 0; s < spins; ++s) {
      m_at.fock[s] = m_core;
      for (std::size_t k = 0; k < elements; ++k) {
        m_at.fock[s][k] += (spins == 1 ? 2.0 : 1.0) * coulomb[k] - exchange[s][k];
        m_energy += (spins == 1 ? 1.0 : 0.5) * all[s][k] * (m_core[k] + m_at.fock[s][k]);
      }
    }
  }

  scf_result m_at;
  reference m_kind;
  fock_builder* m_builder;
  matrix m_core;
  double m_energy = 0;
};

double dot_of(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Preconditioned conjugate gradients (E. Polak, G. Ribiere, 1969) with steps that never climb.
point_of_descent go_down(point_of_descent here, reference kind, const descent_settings& how) {
  std::vector<double> last_direction, last_gradient, last_step;
  for (int k = 0; k < how.max_steps; ++k) {
    const orbital_hessian hessian = here.hessian();
    const std::vector<double> gradient = hessian.gradient(), diagonal = hessian.diagonal();
    double largest = 0;
    for (const double g : gradient) largest = std::max(largest, std::abs(g));
    if (largest < how.gradient) break;
    std::vector<double> step(gradient.size());
    for (std::size_t p = 0; p < step.size(); ++p)
      step[p] = -gradient[p] / (2 * hessian.copies() * std::max(diagonal[p], 0.2));
    std::vector<double> direction = step;
    if (!last_gradient.empty()) {
      double change = 0;
      for (std::size_t p = 0; p < step.size(); ++p) change += -step[p] * (gradient[p] - last_gradient[p]);
      const double mixing = std::max(0.0, change / -dot_of(last_step, last_gradient));
      for (std::size_t p = 0; p < step.size(); ++p) direction[p] += mixing * last_direction[p];
    }
    if (dot_of(direction, gradient) >= 0) direction = step;
    const double norm = std::sqrt(dot_of(direction, direction)), slope = dot_of(direction, gradient);
    double length = std::min(1.0, 0.5 / norm);
    const std::array<matrix, 2> rotations{hessian.rotation(direction, 0),
                                          kind == reference::uhf ? hessian.rotation(direction, 1) : matrix()};
    std::optional<point_of_descent> next;
    for (int halving = 0; halving < 8 && !next; ++halving, length *= 0.4) {
      point_of_descent there = here.turned(rotations, length);
      if (there.energy() < here.energy() + 1e-4 * length * slope) next.emplace(std::move(there));
    }
    if (!next) break;
    here = std::move(*next);
    last_direction = std::move(direction);
    last_gradient = gradient;
    last_step = std::move(step);
  }
  return here;
}

}  // namespace

std::array<std::vector<double>, 2> lower_densities(const scf_result& scf, reference kind, const curvature& along,
                                                   const integrals& over, fock_builder& builder,
                                                   const descent_settings& how) {
  const point_of_descent saddle(scf, kind, over, builder);
  std::optional<point_of_descent> best;
  for (const double angle : {0.1, 0.3, 0.6, 0.9}) {
    point_of_descent there = saddle.turned(along.direction, angle);
    if (best && there.energy() > best->energy()) break;
    best.emplace(std::move(there));
  }
  return go_down(std::move(*best), kind, how).densities();
}

double energy_along(const scf_result& scf, reference kind, const curvature& along, double angle, const integrals& over,
                    fock_builder& builder) {
  return point_of_descent(scf, kind, over, builder).turned(along.direction, angle).energy();
}

}  // namespace tessera::chemistry
