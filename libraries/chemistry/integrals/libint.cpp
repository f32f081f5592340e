// Integrals by libint2 (E. F. Valeev, https://github.com/evaleev/libint). The one source that includes it.
#include <libint2.hpp>
// The line above comes first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/error.hpp"
#include "libraries/chemistry/integrals/library.hpp"

namespace tessera::chemistry {
namespace {

/// The library's state is made once and stays.
void prepare() {
  static const bool done = [] {
    libint2::initialize();
    return true;
  }();
  (void)done;
}

constexpr double pair_precision = 1e-16;  // of pairs whose primitives are prepared

/// Pairs of shells a >= b with their primitives.
class pairs_of_shells {
 public:
  explicit pairs_of_shells(const std::vector<libint2::Shell>& shells) {
    m_all.reserve(shells.size() * (shells.size() + 1) / 2);
    for (std::size_t a = 0; a < shells.size(); ++a)
      for (std::size_t b = 0; b <= a; ++b) {
        m_all.emplace_back(shells[a], shells[b], std::log(pair_precision));
        m_all.back().primpairs.shrink_to_fit();
      }
  }
  /// nullptr where a < b.
  const libint2::ShellPair* at(std::size_t a, std::size_t b) const {
    return a < b ? nullptr : &m_all[a * (a + 1) / 2 + b];
  }

 private:
  std::vector<libint2::ShellPair> m_all;
};

class libint_engine final : public repulsion_engine {
 public:
  libint_engine(const std::vector<libint2::Shell>& shells, const pairs_of_shells& pairs, std::size_t primitives,
                int momentum, double bound)
      : m_shells(shells), m_pairs(pairs), m_engine(libint2::Operator::coulomb, primitives, momentum, 0, bound) {}

  std::span<const double> quartet(std::size_t a, std::size_t b, std::size_t c, std::size_t d) override {
    const libint2::Shell &A = m_shells[a], &B = m_shells[b], &C = m_shells[c], &D = m_shells[d];
    const libint2::ShellPair *bra = m_pairs.at(a, b), *ket = m_pairs.at(c, d);
    if (bra == nullptr || ket == nullptr) bra = ket = nullptr;  // the library makes both
    m_engine.compute2<libint2::Operator::coulomb, libint2::BraKet::xx_xx, 0>(A, B, C, D, bra, ket);
    const double* const values = m_engine.results()[0];
    if (values == nullptr) return {};
    return {values, A.size() * B.size() * C.size() * D.size()};
  }

 private:
  const std::vector<libint2::Shell>& m_shells;
  const pairs_of_shells& m_pairs;
  libint2::Engine m_engine;
};

class libint_integrals final : public integrals {
 public:
  libint_integrals(std::vector<shell> shells, const molecule& of) : integrals(std::move(shells), of) {
    for (std::size_t s = 0; s < this->shells(); ++s) {
      const shell& one = shell_at(s);
      libint2::svector<double> exponents(one.exponents.begin(), one.exponents.end());
      libint2::svector<double> coefficients(one.coefficients.begin(), one.coefficients.end());
      m_primitives = std::max(m_primitives, one.exponents.size());
      m_momentum = std::max(m_momentum, one.momentum);
      m_libint.emplace_back(
          std::move(exponents),
          libint2::svector<libint2::Shell::Contraction>{{one.momentum, one.spherical, std::move(coefficients)}},
          one.at);
    }
    for (const atom& a : of.atoms) m_charges.emplace_back(a.number, a.at);
    m_pairs = std::make_unique<pairs_of_shells>(m_libint);
  }

  std::vector<double> overlap() const override { return std::move(one_electron(libint2::Operator::overlap, 1)[0]); }
  std::vector<double> kinetic() const override { return std::move(one_electron(libint2::Operator::kinetic, 1)[0]); }
  std::vector<double> attraction() const override { return std::move(one_electron(libint2::Operator::nuclear, 1)[0]); }
  std::array<std::vector<double>, 3> dipole() const override {
    std::vector<std::vector<double>> all = one_electron(libint2::Operator::emultipole1, 4);  // the first: overlap
    return {std::move(all[1]), std::move(all[2]), std::move(all[3])};
  }
  std::unique_ptr<repulsion_engine> engine(double bound) const override {
    return std::make_unique<libint_engine>(m_libint, *m_pairs, m_primitives, m_momentum, bound);
  }
  /// Each quartet of primitives has a state of its own, and shares the room for intermediates.
  double engine_bytes() const override {
    return std::pow(static_cast<double>(m_primitives), 4) * sizeof(Libint_t) +
           static_cast<double>(libint2_need_memory_eri(m_momentum)) * sizeof(double);
  }

 private:
  std::vector<std::vector<double>> one_electron(libint2::Operator what, std::size_t count) const {
    libint2::Engine engine(what, m_primitives, m_momentum, 0);
    if (what == libint2::Operator::nuclear) engine.set_params(m_charges);
    const std::size_t n = functions();
    std::vector<std::vector<double>> all(count, std::vector<double>(n * n, 0.0));
    for (std::size_t a = 0; a < shells(); ++a)
      for (std::size_t b = 0; b <= a; ++b) {
        engine.compute(m_libint[a], m_libint[b]);
        for (std::size_t k = 0; k < count; ++k) {
          const double* values = engine.results()[k];
          if (values == nullptr) continue;
          for (std::size_t fa = offset(a); fa < offset(a + 1); ++fa)
            for (std::size_t fb = offset(b); fb < offset(b + 1); ++fb)
              all[k][fa * n + fb] = all[k][fb * n + fa] = *values++;
        }
      }
    return all;
  }

  std::vector<libint2::Shell> m_libint;
  std::unique_ptr<const pairs_of_shells> m_pairs;
  std::vector<std::pair<double, std::array<double, 3>>> m_charges;
  std::size_t m_primitives = 1;
  int m_momentum = 0;
};

std::unique_ptr<integrals> make(std::vector<shell> shells, const molecule& of) {
  for (const shell& s : shells)
    if (s.momentum > LIBINT2_MAX_AM_eri)
      throw error(error_kind::input,
                  fmt::format("the basis has a shell of momentum {}, and the integral library goes up to {}",
                              s.momentum, LIBINT2_MAX_AM_eri));
  prepare();
  return std::make_unique<libint_integrals>(std::move(shells), of);
}

}  // namespace
}  // namespace tessera::chemistry

/// See integral_library_entry.
extern "C" const tessera::chemistry::integral_library* tessera_integral_library() {
  static constexpr tessera::chemistry::integral_library offered{"libint2 " LIBINT_VERSION, tessera::chemistry::make};
  return &offered;
}
