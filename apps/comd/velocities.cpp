// Momenta of a temperature: the same for an atom's number and a seed, whatever computes them.
#include <cmath>

#include "apps/comd/crystal.hpp"
#include "apps/comd/units.hpp"

namespace tessera::apps::comd {
namespace {

/// The random numbers of one atom: a multiplicative generator modulo 2^64, then modulo the prime 2^61 - 1.
class atom_stream {
 public:
  atom_stream(std::uint64_t atom, std::uint64_t seed)
      : m_state((spread(atom) << 32 | spread(atom + 123)) ^ ((seed - 1) * 0x9e3779b97f4a7c15u)) {
    for (int k = 0; k < 10; ++k) unit();
  }
  /// The next number in [0, 1).
  double unit() {
    m_state = m_state * 437799614237992725u % modulus;
    return static_cast<double>(m_state) / static_cast<double>(modulus);
  }
  /// The next number of the normal distribution, by the polar method of Marsaglia.
  double normal() {
    for (;;) {
      const double u = 2 * unit() - 1, v = 2 * unit() - 1, q = u * u + v * v;
      if (q > 0 && q < 1) return v * std::sqrt(-2 * std::log(q) / q);
    }
  }

 private:
  static constexpr std::uint64_t modulus = (std::uint64_t{1} << 61) - 1;
  static std::uint64_t spread(std::uint64_t number) { return number * 2654435761u & 0xffffffffu; }
  std::uint64_t m_state;
};

}  // namespace

void set_temperature(crystal& of, double mass, double kelvin, std::uint64_t seed) {
  const double width = std::sqrt(mass * boltzmann * kelvin);
  vector3 total{};
  for (std::size_t k = 0; k < of.momenta.size(); ++k) {
    atom_stream from(k, seed);
    for (std::size_t a = 0; a < 3; ++a) total[a] += of.momenta[k][a] = width * from.normal();
  }
  const auto atoms = static_cast<double>(of.atoms());
  double squares = 0;
  for (vector3& p : of.momenta)
    for (std::size_t a = 0; a < 3; ++a) {
      p[a] -= total[a] / atoms;
      squares += p[a] * p[a];
    }
  if (squares == 0) return;
  const double scale = std::sqrt(atoms * thermal_energy(kelvin) / (squares / (2 * mass)));
  for (vector3& p : of.momenta)
    for (double& component : p) component *= scale;
}

}  // namespace tessera::apps::comd
