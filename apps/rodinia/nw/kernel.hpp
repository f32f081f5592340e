#pragma once
// Global alignment as regions: one per anti-diagonal of blocks.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/rodinia/nw/problem.hpp"
#include "tessera/region.hpp"

namespace tessera::apps::rodinia {

/// Two sequences of n symbols. Blocks of an anti-diagonal are an array, whose row is the block's row; those that the
/// anti-diagonal does not have are never touched.
class nw_kernel {
 public:
  nw_kernel(location_model& model, const region_options& how, const nw_input& in, const nw_scores& scores)
      : m_n(static_cast<std::int64_t>(in.a.size())),
        m_blocks((m_n + nw_block - 1) / nw_block),
        m_a(model.make_array<std::int32_t>("a", {m_blocks, nw_block}, {.at = how.at})),
        m_b(model.make_array<std::int32_t>("b", {m_blocks, nw_block}, {.at = how.at})),
        m_scores(model.make_array<std::int32_t>("scores", {nw_symbols, nw_symbols}, {.at = how.at})),
        m_model(model),
        m_how(how) {
    for (std::int64_t d = -2; d < 2 * m_blocks - 1; ++d)
      m_diagonals.push_back(model.make_array<std::int32_t>("anti-diagonal " + std::to_string(d),
                                                           {m_blocks, nw_block * nw_block}, {.at = how.at}));
    fill(m_a, in.a);
    fill(m_b, in.b);
    std::ranges::copy(scores, m_scores.write().begin());
  }

  void run() {
    for (std::int64_t d = 0; d < 2 * m_blocks - 1; ++d) diagonal(d);
  }
  /// The table of (n + 1) x (n + 1); waits.
  std::vector<std::int32_t> table() const {
    const std::int64_t width = m_n + 1;
    std::vector<std::int32_t> f(static_cast<std::size_t>(width * width));
    for (std::int64_t k = 0; k <= m_n; ++k)
      f[static_cast<std::size_t>(k)] = f[static_cast<std::size_t>(k * width)] =
          static_cast<std::int32_t>(-nw_penalty * k);
    for (std::int64_t d = 0; d < 2 * m_blocks - 1; ++d) {
      const auto seen = of(d).read();
      for (std::int64_t bi = std::max<std::int64_t>(0, d - m_blocks + 1); bi <= std::min(d, m_blocks - 1); ++bi)
        for (std::int64_t i = bi * nw_block; i < std::min(m_n, (bi + 1) * nw_block); ++i)
          for (std::int64_t j = (d - bi) * nw_block; j < std::min(m_n, (d - bi + 1) * nw_block); ++j)
            f[static_cast<std::size_t>((i + 1) * width + j + 1)] =
                seen(bi, (i - bi * nw_block) * nw_block + j - (d - bi) * nw_block);
    }
    return f;
  }

 private:
  static void fill(array<std::int32_t, 2>& to, const std::vector<std::int32_t>& from) {
    const auto memory = to.write();
    std::ranges::fill(memory, 0);
    std::ranges::copy(from, memory.begin());
  }
  const array<std::int32_t, 2>& of(std::int64_t d) const { return m_diagonals[static_cast<std::size_t>(d + 2)]; }

  void diagonal(std::int64_t d) {
    const access_pattern neighbours = halo(m_blocks > 1 ? 1 : 0);
    const std::int64_t first = std::max<std::int64_t>(0, d - m_blocks + 1), last = std::min(d, m_blocks - 1);
    m_model.region("anti-diagonal", m_how, iterate(first, last + 1), read(of(d - 1), neighbours),
                   read(of(d - 2), neighbours), read(m_a, whole), read(m_b, whole), read(m_scores, whole), write(of(d)),
                   with_kernel(
                       [d](auto bi, auto before, auto second, auto a, auto b, auto scores, auto to) {
                         const std::int64_t bj = d - bi;
                         nw_fill_block(bi > 0 ? &before(bi - 1, 0) : nullptr, bj > 0 ? &before(bi, 0) : nullptr,
                                       bi > 0 && bj > 0 ? &second(bi - 1, 0) : nullptr, &to(bi, 0), &a(bi, 0),
                                       &b(bj, 0), &scores[0], bi * nw_block + 1, bj * nw_block + 1);
                       },
                       block, d, std::int64_t{nw_penalty}));
  }

  /// What nw_fill_block does. A work item has a block: its cells follow each other, and those of an anti-diagonal of
  /// blocks do not.
  static constexpr const char* block = R"((bi, before, second, a, b, scores, to, d, penalty) {
  const long bj = d - bi;
  int above[64];  // the row over the one that is filled
  for (long j = 0; j < 64; ++j)
    above[j] = bi > 0 ? before(bi - 1, 63 * 64 + j) : (int)(-penalty * (bj * 64 + j + 1));
  int corner = bi > 0 && bj > 0 ? second(bi - 1, 64 * 64 - 1) : (int)(-penalty * 64 * (bi + bj));
  for (long i = 0; i < 64; ++i) {
    int beside = bj > 0 ? before(bi, i * 64 + 63) : (int)(-penalty * (bi * 64 + i + 1));
    const int below_corner = beside, mine = a(bi, i);
    for (long j = 0; j < 64; ++j) {
      int best = corner + scores(mine, b(bj, j));
      const int over = above[j] - (int)penalty, left = beside - (int)penalty;
      if (over > best) best = over;
      if (left > best) best = left;
      corner = above[j];
      above[j] = beside = best;
      to(bi, i * 64 + j) = best;
    }
    corner = below_corner;
  }
})";
  static_assert(nw_block == 64, "the text has the number");

  std::int64_t m_n, m_blocks;
  array<std::int32_t, 2> m_a, m_b, m_scores;
  std::vector<array<std::int32_t, 2>> m_diagonals;  // two that are empty, then those of the table
  location_model& m_model;
  region_options m_how;
};

}  // namespace tessera::apps::rodinia
