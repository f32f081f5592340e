#pragma once
// Global alignment of two sequences: input, scores, reference.
#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "apps/common/workload.hpp"

namespace tessera::apps::rodinia {

inline constexpr std::int32_t nw_symbols = 24, nw_penalty = 10;

inline constexpr std::int64_t nw_block = 64;  ///< rows and columns of a block

/// What two symbols score beside each other.
using nw_scores = std::array<std::int32_t, static_cast<std::size_t>(nw_symbols* nw_symbols)>;
/// BLOSUM62.
const nw_scores& nw_blosum62();
/// Reads 24 rows of 24 scores. Throws tessera::error (input).
nw_scores read_nw_scores(const std::filesystem::path& file);

/// Two sequences of n symbols.
struct nw_input {
  std::vector<std::int32_t> a, b;
};
/// Random symbols 1 to 10, first those of a.
nw_input make_nw_input(std::int64_t n, std::uint64_t seed);

/// A block of F from its neighbours; a null one is beyond the border. `i0`, `j0`: of its first value, from 1.
void nw_fill_block(const std::int32_t* up, const std::int32_t* left, const std::int32_t* corner, std::int32_t* to,
                   const std::int32_t* a, const std::int32_t* b, const std::int32_t* scores, std::int64_t i0,
                   std::int64_t j0);

/// What identifies a table F of (n + 1) x (n + 1) values, its borders -10 k included.
struct nw_summary {
  std::int64_t sum = 0;
  std::int32_t last = 0, before_last = 0, largest = 0;  ///< F(n, n), F(n - 1, n - 1), the maximum
  friend bool operator==(const nw_summary&, const nw_summary&) = default;
};
/// @param at  F(i, j) for i and j from 1 to n
template <class At>
nw_summary nw_summary_of(std::int64_t n, const At& at) {
  nw_summary found;
  for (std::int64_t k = 1; k <= n; ++k) found.sum -= 2 * nw_penalty * k;
  for (std::int64_t i = 1; i <= n; ++i)
    for (std::int64_t j = 1; j <= n; ++j) {
      const std::int32_t v = at(i, j);
      found.sum += v;
      if (v > found.largest) found.largest = v;
    }
  found.last = at(n, n);
  found.before_last = n > 1 ? at(n - 1, n - 1) : 0;
  return found;
}

/// The whole table, row after row, of (n + 1) x (n + 1).
std::vector<std::int32_t> nw_serial(const nw_input& in, const nw_scores& scores);
/// The score of the path from the end to the begin (diagonal first, then left, then up). @param table  of nw_serial
std::int64_t nw_path_score(const nw_input& in, const nw_scores& scores, const std::vector<std::int32_t>& table);

/// Blocks write their values once, read the last row and column of their neighbours and the symbols at their sides.
/// Integers alone.
workload nw_workload(std::int64_t n);

}  // namespace tessera::apps::rodinia
