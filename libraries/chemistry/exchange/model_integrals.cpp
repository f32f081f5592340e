#include "libraries/chemistry/exchange/model_integrals.hpp"

#include <utility>

namespace tessera::chemistry {
namespace {

class model_engine final : public repulsion_engine {
 public:
  explicit model_engine(const hamiltonian& of) noexcept : m_of(of) {}
  std::span<const double> quartet(std::size_t a, std::size_t b, std::size_t c, std::size_t d) override {
    m_value = m_of.spins_are_apart() ? of_spins(a, b, c, d) : m_of.repulsion(a, b, c, d);
    return {&m_value, 1};
  }

 private:
  double of_spins(std::size_t a, std::size_t b, std::size_t c, std::size_t d) const {
    const std::size_t n = m_of.orbitals;
    const bool first = a < n, second = c < n;  // alpha
    if (first != (b < n) || second != (d < n)) return 0;
    if (first && second) return m_of.repulsion(a, b, c, d);
    if (first) return m_of.mixed_repulsion(a, b, c - n, d - n);
    if (second) return m_of.mixed_repulsion(c, d, a - n, b - n);
    return m_of.two_beta[hamiltonian::pair(hamiltonian::pair(a - n, b - n), hamiltonian::pair(c - n, d - n))];
  }

  const hamiltonian& m_of;
  double m_value = 0;
};

std::vector<shell> shells_of(const hamiltonian& of) {
  std::vector<shell> all(of.spins_are_apart() ? 2 * of.orbitals : of.orbitals);
  for (std::size_t k = 0; k < all.size(); ++k) all[k].atom = k;
  return all;
}

molecule electrons_of(const hamiltonian& of) {
  molecule none;
  none.charge = -of.electrons;
  none.multiplicity = of.unpaired + 1;
  return none;
}

}  // namespace

model_integrals::model_integrals(hamiltonian given)
    : integrals(shells_of(given), electrons_of(given)), m_given(std::move(given)) {}

std::vector<double> model_integrals::overlap() const {
  const std::size_t n = functions();
  std::vector<double> one(n * n, 0.0);
  for (std::size_t k = 0; k < n; ++k) one[k * n + k] = 1;
  return one;
}

std::vector<double> model_integrals::kinetic() const {
  const std::size_t n = functions(), m = m_given.orbitals;
  std::vector<double> h(n * n, 0.0);
  for (std::size_t first = 0; first < n; first += m)
    for (std::size_t p = 0; p < m; ++p)
      for (std::size_t q = 0; q < m; ++q)
        h[(first + p) * n + first + q] = first == 0 ? m_given.h(p, q) : m_given.one_beta[hamiltonian::pair(p, q)];
  return h;
}

function_range model_integrals::functions_of_spin(std::size_t spin) const noexcept {
  return {m_given.spins_are_apart() ? spin * m_given.orbitals : 0, m_given.orbitals};
}

std::vector<double> model_integrals::attraction() const { return std::vector<double>(functions() * functions(), 0.0); }

std::array<std::vector<double>, 3> model_integrals::dipole() const {
  const std::vector<double> none(functions() * functions(), 0.0);
  return {none, none, none};
}

std::unique_ptr<repulsion_engine> model_integrals::engine(double) const {
  return std::make_unique<model_engine>(m_given);
}

}  // namespace tessera::chemistry
