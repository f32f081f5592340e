#pragma once
// Random contractions, and what they are by definition.
#include <tessera/plugin.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tessera::conformance {

/// Labels and extents of three operands.
struct contraction {
  std::vector<std::int32_t> modes[3];  ///< of A, B, C
  std::vector<std::int64_t> extents[3];
  std::vector<std::int32_t> labels;  ///< all of them
  std::vector<std::int64_t> label_extents;

  std::int64_t extent_of(std::int32_t label) const {
    return label_extents[static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin())];
  }
  std::size_t count(int operand) const {
    std::size_t all = 1;
    for (const std::int64_t extent : extents[operand]) all *= static_cast<std::size_t>(extent);
    return all;
  }
  /// Terms of each sum.
  std::size_t terms() const {
    std::size_t all = 1;
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (std::find(modes[2].begin(), modes[2].end(), labels[i]) == modes[2].end())
        all *= static_cast<std::size_t>(label_extents[i]);
    return all;
  }
  void add(std::int32_t label, std::int64_t extent, bool in_a, bool in_b, bool in_c) {
    labels.push_back(label);
    label_extents.push_back(extent);
    const bool in[] = {in_a, in_b, in_c};
    for (int operand = 0; operand < 3; ++operand)
      if (in[operand]) {
        modes[operand].push_back(label);
        extents[operand].push_back(extent);
      }
  }
  void shuffle(int operand, std::mt19937_64& random) {
    std::shuffle(modes[operand].begin(), modes[operand].end(), random);
    for (std::size_t d = 0; d < modes[operand].size(); ++d) extents[operand][d] = extent_of(modes[operand][d]);
  }
  /// "1[3] 2[4] * 2[4] 5[2] -> 1[3] 5[2]".
  std::string text() const {
    std::string made;
    for (int operand = 0; operand < 3; ++operand) {
      if (operand > 0) made += operand == 1 ? "* " : "-> ";
      for (std::size_t d = 0; d < modes[operand].size(); ++d)
        made += std::to_string(modes[operand][d]) + "[" + std::to_string(extents[operand][d]) + "] ";
    }
    return made;
  }
};

/// Ranks up to 6, labels of all kinds, in any order; extents such that some 10^5 terms are computed at most. Now and
/// then an extent is 0 or 1, an operand one element, an order the natural one.
inline contraction random_contraction(std::mt19937_64& random) {
  contraction made;
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  const auto rows = below(4), columns = below(4), sums = below(4), batches = below(4) == 0 ? 1 + below(2) : 0;
  const auto all = rows + columns + sums + batches;
  const std::uint64_t longest = all <= 2 ? 60 : all <= 4 ? 14 : all <= 6 ? 6 : 3;
  std::int32_t label = static_cast<std::int32_t>(below(1000)) - 500;
  const auto some = [&](std::int64_t count, bool in_a, bool in_b, bool in_c) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t kind = below(20);
      made.add(label, kind == 0 ? 0 : kind <= 2 ? 1 : 1 + below(longest), in_a, in_b, in_c);
      label += 1 + static_cast<std::int32_t>(below(40));
    }
  };
  some(rows, true, false, true);
  some(sums, true, true, false);
  some(columns, false, true, true);
  some(batches, true, true, true);
  for (int operand = 0; operand < 3; ++operand)
    if (random() % 3 != 0) made.shuffle(operand, random);
  return made;
}

/// C = alpha A B + beta C by the definition; with beta == 0 C is not read.
template <class T>
void contract_by_definition(const contraction& shape, T alpha, const std::vector<T>& a, const std::vector<T>& b, T beta,
                            std::vector<T>& c) {
  const std::size_t labels = shape.labels.size();
  std::array<std::vector<std::size_t>, 3> step;
  for (int operand = 0; operand < 3; ++operand) {
    step[operand].assign(labels, 0);
    std::size_t reached = 1;
    for (std::size_t d = 0; d < shape.modes[operand].size(); ++d) {
      const auto at =
          std::find(shape.labels.begin(), shape.labels.end(), shape.modes[operand][d]) - shape.labels.begin();
      step[operand][static_cast<std::size_t>(at)] = reached;
      reached *= static_cast<std::size_t>(shape.extents[operand][d]);
    }
  }
  const std::size_t count = shape.count(2);
  std::vector<T> sums(count, T(0));
  std::vector<std::int64_t> index(labels, 0);
  const bool empty =
      std::any_of(shape.label_extents.begin(), shape.label_extents.end(), [](std::int64_t e) { return e == 0; });
  while (!empty) {
    std::array<std::size_t, 3> place{};
    for (std::size_t l = 0; l < labels; ++l)
      for (std::size_t operand = 0; operand < 3; ++operand)
        place[operand] += step[operand][l] * static_cast<std::size_t>(index[l]);
    sums[place[2]] += a[place[0]] * b[place[1]];
    std::size_t l = 0;
    for (; l < labels && ++index[l] == shape.label_extents[l]; ++l) index[l] = 0;
    if (l == labels) break;
  }
  for (std::size_t i = 0; i < count; ++i) c[i] = alpha * sums[i] + (beta == T(0) ? T(0) : beta * c[i]);
}

/// The arguments of a batch of such contractions, without addresses.
inline tsr_contract arguments_of(const contraction& shape, tsr_type type) {
  tsr_contract made{};
  made.struct_size = sizeof made;
  made.type = type;
  made.rank_a = static_cast<std::uint32_t>(shape.modes[0].size());
  made.rank_b = static_cast<std::uint32_t>(shape.modes[1].size());
  made.rank_c = static_cast<std::uint32_t>(shape.modes[2].size());
  std::copy(shape.extents[0].begin(), shape.extents[0].end(), made.extents_a);
  std::copy(shape.extents[1].begin(), shape.extents[1].end(), made.extents_b);
  std::copy(shape.modes[0].begin(), shape.modes[0].end(), made.modes_a);
  std::copy(shape.modes[1].begin(), shape.modes[1].end(), made.modes_b);
  std::copy(shape.modes[2].begin(), shape.modes[2].end(), made.modes_c);
  return made;
}

}  // namespace tessera::conformance
