#pragma once
// The two-electron part of Fock matrices.
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libraries/chemistry/integrals/integrals.hpp"
#include "libraries/chemistry/scf/integral_rows.hpp"
#include "libraries/chemistry/scf/row_store.hpp"

namespace tessera::chemistry {

/// Bytes of all two-electron integrals that are not negligible, each once.
double bytes_of_repulsion(const integrals& over);
/// What a thread of fock_builder has beside its matrices and its engine, at most.
double bytes_of_rows(const integrals& over);

/// Coulomb and exchange matrices from two-electron integrals, of which it keeps what fits: those first that take the
/// most time to compute. One caller at a time.
class fock_builder {
 public:
  /// @param kept_bytes  for integrals that are kept between calls
  fock_builder(const integrals& over, std::size_t kept_bytes, unsigned threads);
  fock_builder(const fock_builder&) = delete;
  fock_builder& operator=(const fock_builder&) = delete;

  /// Whether there is room for all integrals: then only the first Fock matrix needs to compute them.
  bool keeps_all() const noexcept { return m_keeps_all; }

  /// Adds to `coulomb` that of the sum of the densities, to each of `exchange` that of one of them: J_mn = (mn|ls)
  /// D_ls, K_mn = (ml|ns) D_ls. Densities are symmetric. Integrals that are not kept are left out where what they add
  /// is negligible, so a small density takes less time.
  void add(std::span<const std::vector<double>> densities, std::vector<double>& coulomb,
           std::span<std::vector<double>> exchange);

  /// Gives back the memory of what is kept: from now on integrals are computed. Nobody reads meanwhile.
  void forget() noexcept;

  class reader;

 private:
  struct pair_of_shells {
    std::size_t a, b;
    double bound;
    double work;                           ///< for one integral with any other pair, relative
    bool is_kept = false;                  ///< there is room for its integrals
    std::span<const double> kept = {};     ///< they, as rows; empty: not computed yet
    std::vector<std::size_t> begins = {};  ///< the first of these of each shell c
  };
  /// Shells d that (ab|cd) is not negligible with, and their functions.
  struct partners {
    std::vector<std::size_t> shells;
    std::vector<function_run> runs;
    std::size_t functions = 0;
  };
  struct thread_state {
    std::unique_ptr<repulsion_engine> engine;  // while integrals are computed: it is large
    partners with;
    std::vector<double> rows;  // that are not kept
    fock_sums sums;
    row_store kept;
  };
  struct density_in_parts;

  function_run functions_of(std::size_t shell) const;
  std::size_t rows_of(const pair_of_shells& first, std::size_t c) const;
  void choose(const pair_of_shells& first, std::size_t c, const density_in_parts* density, partners& into) const;
  static double weight_of(const pair_of_shells& first, std::size_t c, std::size_t d);
  std::size_t values_of(const pair_of_shells& first, partners& with) const;
  void keep_within(std::size_t values);
  void compute(const pair_of_shells& first, std::size_t c, const partners& with, repulsion_engine& engine,
               double* rows) const;
  void run(pair_of_shells& first, const row_contraction& contraction, const density_in_parts& density,
           thread_state& mine);

  const integrals& m_over;
  const std::vector<double> m_bounds;                // shells x shells
  std::vector<std::vector<std::size_t>> m_partners;  // of c: the shells d up to c that matter with the largest pair
  std::vector<pair_of_shells> m_pairs;               // those first whose integrals take the most time
  std::vector<std::size_t> m_pair_at;                // shells x shells, of a >= b: where it is; past the end: nowhere
  std::vector<thread_state> m_threads;
  bool m_keeps_all = false;
};

/// Quartets of what a builder has kept. One thread at a time.
class fock_builder::reader {
 public:
  explicit reader(const fock_builder& of) : m_of(of) {}
  /// As repulsion_engine::quartet; nothing where it is not kept.
  std::optional<std::span<const double>> quartet(std::size_t a, std::size_t b, std::size_t c, std::size_t d);

 private:
  void look_at(const pair_of_shells& first, std::size_t c);

  const fock_builder& m_of;
  const pair_of_shells* m_first = nullptr;  // with which, and with shell c, `m_with` was chosen
  std::size_t m_c = 0;
  partners m_with;
  std::vector<double> m_values;
};

}  // namespace tessera::chemistry
