#pragma once
// The two-electron part of Fock matrices.
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "libraries/chemistry/integrals/integrals.hpp"

namespace tessera::chemistry {

/// Bytes of all two-electron integrals that are not negligible, each once.
double bytes_of_repulsion(const integrals& over);

/// Coulomb and exchange matrices from two-electron integrals, of which it keeps what fits. One caller at a time.
class fock_builder {
 public:
  /// @param kept_bytes  for integrals that are kept between calls
  fock_builder(const integrals& over, std::size_t kept_bytes, unsigned threads);
  fock_builder(const fock_builder&) = delete;
  fock_builder& operator=(const fock_builder&) = delete;

  /// Whether there is room for all integrals: then only the first Fock matrix needs to compute them.
  bool keeps_all() const noexcept;

  /// Adds to `coulomb` that of the sum of the densities, to each of `exchange` that of one of them: J_mn = (mn|ls)
  /// D_ls, K_mn = (ml|ns) D_ls. Densities are symmetric.
  void add(std::span<const std::vector<double>> densities, std::vector<double>& coulomb,
           std::span<std::vector<double>> exchange);

 private:
  struct pair_of_shells {
    std::size_t a, b;
    double bound;
    std::size_t quartets = 0;       ///< with itself and those before it that are not negligible
    std::size_t values = 0;         ///< integrals of these
    bool is_kept = false;           ///< there is room for its integrals
    std::vector<double> kept = {};  ///< they, quartet by quartet; empty: not computed yet
  };
  struct sums {
    std::vector<double> coulomb;
    std::vector<std::vector<double>> exchange;
  };
  static std::vector<pair_of_shells> pairs_of(const integrals& over);
  friend double bytes_of_repulsion(const integrals& over);
  void run(pair_of_shells& first, repulsion_engine& engine, std::span<const std::vector<double>> densities, sums& into);
  void add_quartet(const pair_of_shells& first, const pair_of_shells& second, const double* values, double images,
                   std::span<const std::vector<double>> densities, sums& into) const;

  const integrals& m_over;
  std::vector<pair_of_shells> m_pairs;                       // bounds descend
  std::vector<std::unique_ptr<repulsion_engine>> m_engines;  // one for each thread
};

}  // namespace tessera::chemistry
