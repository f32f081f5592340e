#include "apps/rodinia/nw/problem.hpp"

#include <algorithm>

#include "apps/common/text_input.hpp"
#include "apps/rodinia/common/random_stream.hpp"

namespace tessera::apps::rodinia {

const nw_scores& nw_blosum62() {
  // In the order A R N D C Q E G H I L K M F P S T W Y V B Z X *.
  static constexpr nw_scores scores = {
      4,  -1, -2, -2, 0,  -1, -1, 0,  -2, -1, -1, -1, -1, -2, -1, 1,  0,  -3, -2, 0,  -2, -1, 0,  -4, -1, 5,  0,  -2,
      -3, 1,  0,  -2, 0,  -3, -2, 2,  -1, -3, -2, -1, -1, -3, -2, -3, -1, 0,  -1, -4, -2, 0,  6,  1,  -3, 0,  0,  0,
      1,  -3, -3, 0,  -2, -3, -2, 1,  0,  -4, -2, -3, 3,  0,  -1, -4, -2, -2, 1,  6,  -3, 0,  2,  -1, -1, -3, -4, -1,
      -3, -3, -1, 0,  -1, -4, -3, -3, 4,  1,  -1, -4, 0,  -3, -3, -3, 9,  -3, -4, -3, -3, -1, -1, -3, -1, -2, -3, -1,
      -1, -2, -2, -1, -3, -3, -2, -4, -1, 1,  0,  0,  -3, 5,  2,  -2, 0,  -3, -2, 1,  0,  -3, -1, 0,  -1, -2, -1, -2,
      0,  3,  -1, -4, -1, 0,  0,  2,  -4, 2,  5,  -2, 0,  -3, -3, 1,  -2, -3, -1, 0,  -1, -3, -2, -2, 1,  4,  -1, -4,
      0,  -2, 0,  -1, -3, -2, -2, 6,  -2, -4, -4, -2, -3, -3, -2, 0,  -2, -2, -3, -3, -1, -2, -1, -4, -2, 0,  1,  -1,
      -3, 0,  0,  -2, 8,  -3, -3, -1, -2, -1, -2, -1, -2, -2, 2,  -3, 0,  0,  -1, -4, -1, -3, -3, -3, -1, -3, -3, -4,
      -3, 4,  2,  -3, 1,  0,  -3, -2, -1, -3, -1, 3,  -3, -3, -1, -4, -1, -2, -3, -4, -1, -2, -3, -4, -3, 2,  4,  -2,
      2,  0,  -3, -2, -1, -2, -1, 1,  -4, -3, -1, -4, -1, 2,  0,  -1, -3, 1,  1,  -2, -1, -3, -2, 5,  -1, -3, -1, 0,
      -1, -3, -2, -2, 0,  1,  -1, -4, -1, -1, -2, -3, -1, 0,  -2, -3, -2, 1,  2,  -1, 5,  0,  -2, -1, -1, -1, -1, 1,
      -3, -1, -1, -4, -2, -3, -3, -3, -2, -3, -3, -3, -1, 0,  0,  -3, 0,  6,  -4, -2, -2, 1,  3,  -1, -3, -3, -1, -4,
      -1, -2, -2, -1, -3, -1, -1, -2, -2, -3, -3, -1, -2, -4, 7,  -1, -1, -4, -3, -2, -2, -1, -2, -4, 1,  -1, 1,  0,
      -1, 0,  0,  0,  -1, -2, -2, 0,  -1, -2, -1, 4,  1,  -3, -2, -2, 0,  0,  0,  -4, 0,  -1, 0,  -1, -1, -1, -1, -2,
      -2, -1, -1, -1, -1, -2, -1, 1,  5,  -2, -2, 0,  -1, -1, 0,  -4, -3, -3, -4, -4, -2, -2, -3, -2, -2, -3, -2, -3,
      -1, 1,  -4, -3, -2, 11, 2,  -3, -4, -3, -2, -4, -2, -2, -2, -3, -2, -1, -2, -3, 2,  -1, -1, -2, -1, 3,  -3, -2,
      -2, 2,  7,  -1, -3, -2, -1, -4, 0,  -3, -3, -3, -1, -2, -2, -3, -3, 3,  1,  -2, 1,  -1, -2, -2, 0,  -3, -1, 4,
      -3, -2, -1, -4, -2, -1, 3,  4,  -3, 0,  1,  -1, 0,  -3, -4, 0,  -3, -3, -2, 0,  -1, -4, -3, -3, 4,  1,  -1, -4,
      -1, 0,  0,  1,  -3, 3,  4,  -2, 0,  -3, -3, 1,  -1, -3, -1, 0,  -1, -3, -2, -2, 1,  4,  -1, -4, 0,  -1, -1, -1,
      -2, -1, -1, -1, -1, -1, -1, -1, -1, -1, -2, 0,  0,  -2, -1, -1, -1, -1, -1, -4, -4, -4, -4, -4, -4, -4, -4, -4,
      -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, -4, 1};
  return scores;
}

nw_scores read_nw_scores(const std::filesystem::path& file) {
  text_input in(file);
  nw_scores read{};
  for (std::int32_t& score : read) score = static_cast<std::int32_t>(in.integer("a score", -1000, 1000));
  in.expect_end();
  return read;
}

nw_input make_nw_input(std::int64_t n, std::uint64_t seed) {
  random_stream from(seed);
  nw_input made;
  for (std::int64_t k = 0; k < n; ++k) made.a.push_back(from.digit() + 1);
  for (std::int64_t k = 0; k < n; ++k) made.b.push_back(from.digit() + 1);
  return made;
}

namespace {

/// Two rows, the second one column behind the first: neither waits for what the other does in the same turn.
/// @param left, next_left  what is beside their first values  @param pair, next_pair  the scores of their symbols
void nw_fill_rows(const std::int32_t* above, std::int32_t diagonal, std::int32_t left, std::int32_t next_left,
                  std::int32_t* __restrict to, const std::int32_t* pair, const std::int32_t* next_pair,
                  const std::int32_t* b) {
  const auto cell = [](std::int32_t corner, std::int32_t over, std::int32_t beside) {
    return std::max(std::max(corner, over - nw_penalty), beside - nw_penalty);
  };
  std::int32_t next_diagonal = left, value = cell(diagonal + pair[b[0]], above[0], left);
  to[0] = value;
  for (std::int64_t j = 1; j < nw_block; ++j) {
    const std::int32_t now = cell(above[j - 1] + pair[b[j]], above[j], value);
    next_left = cell(next_diagonal + next_pair[b[j - 1]], value, next_left);
    to[j] = now;
    to[nw_block + j - 1] = next_left;
    next_diagonal = value;
    value = now;
  }
  to[2 * nw_block - 1] = cell(next_diagonal + next_pair[b[nw_block - 1]], value, next_left);
}

}  // namespace

void nw_fill_block(const std::int32_t* up, const std::int32_t* left, const std::int32_t* corner, std::int32_t* to,
                   const std::int32_t* a, const std::int32_t* b, const std::int32_t* scores, std::int64_t i0,
                   std::int64_t j0) {
  constexpr std::int64_t last = nw_block - 1;
  const auto border = [](std::int64_t k) { return static_cast<std::int32_t>(-nw_penalty * k); };
  std::array<std::int32_t, static_cast<std::size_t>(nw_block)> top;  // the row above
  for (std::int64_t j = 0; j < nw_block; ++j)
    top[static_cast<std::size_t>(j)] = up != nullptr ? up[last * nw_block + j] : border(j0 + j);
  const std::int32_t* above = top.data();
  std::int32_t diagonal = corner != nullptr ? corner[last * nw_block + last] : border(i0 + j0 - 2);
  for (std::int64_t i = 0; i < nw_block; i += 2, to += 2 * nw_block) {
    const auto beside = [&](std::int64_t k) { return left != nullptr ? left[k * nw_block + last] : border(i0 + k); };
    const std::int32_t first = beside(i), second = beside(i + 1);
    nw_fill_rows(above, diagonal, first, second, to, scores + a[i] * nw_symbols, scores + a[i + 1] * nw_symbols, b);
    diagonal = second;
    above = to + nw_block;
  }
}

std::vector<std::int32_t> nw_serial(const nw_input& in, const nw_scores& scores) {
  const std::size_t n = in.a.size(), width = n + 1;
  std::vector<std::int32_t> f(width * width);
  for (std::size_t k = 0; k <= n; ++k) f[k] = f[k * width] = -nw_penalty * static_cast<std::int32_t>(k);
  for (std::size_t i = 1; i <= n; ++i)
    for (std::size_t j = 1; j <= n; ++j) {
      const auto pair = static_cast<std::size_t>(in.a[i - 1] * nw_symbols + in.b[j - 1]);
      f[i * width + j] = std::max({f[(i - 1) * width + j - 1] + scores[pair], f[i * width + j - 1] - nw_penalty,
                                   f[(i - 1) * width + j] - nw_penalty});
    }
  return f;
}

std::int64_t nw_path_score(const nw_input& in, const nw_scores& scores, const std::vector<std::int32_t>& table) {
  const std::size_t width = in.a.size() + 1;
  std::size_t i = width - 1, j = width - 1;
  std::int64_t score = 0;
  while (i > 0 && j > 0) {
    const std::int32_t pair = scores[static_cast<std::size_t>(in.a[i - 1] * nw_symbols + in.b[j - 1])],
                       here = table[i * width + j];
    if (here == table[(i - 1) * width + j - 1] + pair)
      score += pair, --i, --j;
    else
      score -= nw_penalty, here == table[i * width + j - 1] - nw_penalty ? --j : --i;
  }
  return score - nw_penalty * static_cast<std::int64_t>(i + j);
}

workload nw_workload(std::int64_t n) {
  const auto side = static_cast<double>((n + nw_block - 1) / nw_block), block = static_cast<double>(nw_block);
  const double bytes = sizeof(std::int32_t) * side * side * (block * block + 4 * block);
  return {bytes, {{"anti-diagonal", bytes, 0, 0}}};
}

}  // namespace tessera::apps::rodinia
