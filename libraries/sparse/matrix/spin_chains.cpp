// Chains of spins 1/2 in the sector Sz = 0, and what is known of their spectra.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

#include "libraries/sparse/matrix/families.hpp"

namespace tessera::sparse::families {
namespace {

using word = std::uint64_t;  ///< a bit per spin, 1: up

/// Words of `length` bits with half of them set, ascending, and the place of each.
class sector {
 public:
  explicit sector(int length) {
    constexpr std::size_t most = 32;
    m_choose.assign(most + 1, std::vector<std::int64_t>(most + 1, 0));
    for (std::size_t n = 0; n <= most; ++n) {
      m_choose[n][0] = 1;
      for (std::size_t k = 1; k <= n; ++k) m_choose[n][k] = m_choose[n - 1][k - 1] + (k < n ? m_choose[n - 1][k] : 0);
    }
    const word end = word{1} << length;
    for (word w = (word{1} << (length / 2)) - 1; w < end;) {
      m_words.push_back(w);
      // The next word with as many ones: the lowest run moves its top bit up, the others down to the end.
      const word lowest = w & (~w + 1), moved = w + lowest;
      w = moved | ((w ^ moved) >> (std::countr_zero(w) + 2));
    }
  }
  const std::vector<word>& words() const noexcept { return m_words; }
  /// How many words of the sector are smaller: the sum over its ones of (position choose how many ones up to it).
  std::int64_t place_of(word w) const {
    std::int64_t place = 0;
    for (std::size_t ones = 1; w != 0; ++ones, w &= w - 1)
      place += m_choose[static_cast<std::size_t>(std::countr_zero(w))][ones];
    return place;
  }

 private:
  std::vector<word> m_words;
  std::vector<std::vector<std::int64_t>> m_choose;
};

/// Spins i and j: strength * ((S+ S- + S- S+) / 2 + delta Sz Sz).
struct coupling {
  int i, j;
  double strength;
};

std::vector<coupling> couplings_of(spins kind, int length) {
  std::vector<coupling> all;
  for (int i = 0; i < length; ++i)
    for (int j = i + 1; j < length; ++j) {
      const bool neighbours = j == i + 1, ends = i == 0 && j == length - 1;
      const double reduced = std::numbers::pi / length, s = std::sin(reduced * (j - i));
      if (kind == spins::haldane_shastry_ring)
        all.push_back({i, j, reduced * reduced / (s * s)});
      else if (neighbours || (ends && kind == spins::heisenberg_ring))
        all.push_back({i, j, 1.0});
    }
  return all;
}

/// Ground state of the Heisenberg ring by the Bethe ansatz: rapidities by a fixed point.
double bethe_ground_state(int length) {
  const int n = length / 2;
  std::vector<double> rapidity(static_cast<std::size_t>(n), 0.0), next = rapidity;
  for (int round = 0; round < 100000; ++round) {
    double change = 0;
    for (std::size_t j = 0; j < rapidity.size(); ++j) {
      double phase = 2 * std::numbers::pi * (static_cast<double>(j) - 0.5 * (n - 1));
      for (const double other : rapidity) phase += 2 * std::atan(rapidity[j] - other);
      next[j] = 0.5 * std::tan(phase / (2 * length));
      change = std::max(change, std::abs(next[j] - rapidity[j]));
    }
    rapidity.swap(next);
    if (change < 1e-15) break;
  }
  double energy = 0.25 * length;
  for (const double r : rapidity) energy -= 0.5 / (r * r + 0.25);
  return energy;
}

/// The open XX chain is free fermions: every choice of half of the levels cos(pi k / (length + 1)).
std::vector<double> free_fermion_energies(int length) {
  std::vector<double> energies;
  const sector basis(length);
  for (const word w : basis.words()) {
    double sum = 0;
    for (int k = 1; k <= length; ++k)
      if ((w >> (k - 1) & 1) != 0) sum += std::cos(std::numbers::pi * k / (length + 1));
    energies.push_back(sum);
  }
  return energies;
}

/// How often `runs` of zeros, each of a spin (run - 1) / 2, add up to Sz = 0.
std::int64_t ways_to_zero(const std::vector<int>& runs) {
  std::map<int, std::int64_t> ways{{0, 1}};  // twice Sz
  for (const int run : runs) {
    std::map<int, std::int64_t> more;
    for (const auto& [twice, count] : ways)
      for (int m = -(run - 1); m <= run - 1; m += 2) more[twice + m] += count;
    ways = std::move(more);
  }
  return ways[0];
}

/// Levels of the Haldane-Shastry ring from its motifs: rapidities m in 1 .. length - 1, no two adjacent.
std::vector<std::pair<double, std::int64_t>> motif_levels(int length) {
  std::vector<std::pair<double, std::int64_t>> levels;
  const double unit = std::numbers::pi * std::numbers::pi / (double(length) * length);
  for (word motif = 0; motif < word{1} << (length - 1); ++motif) {
    if ((motif & (motif << 1)) != 0) continue;
    double energy = unit * length * (double(length) * length - 1) / 24;
    std::vector<int> runs{1};  // the zero in front
    for (int m = 1; m < length; ++m) {
      if ((motif >> (m - 1) & 1) != 0) {
        energy += unit * m * (m - length);
        runs.push_back(0);
      } else {
        ++runs.back();
      }
    }
    ++runs.back();  // the zero behind
    if (const std::int64_t ways = ways_to_zero(runs); ways > 0) levels.emplace_back(energy, ways);
  }
  return levels;
}

}  // namespace

csr_matrix spin_chain(spins kind, int length) {
  const sector basis(length);
  const std::vector<coupling> couplings = couplings_of(kind, length);
  const double delta = kind == spins::open_xx_chain ? 0 : 1;
  csr_matrix a;
  a.rows = a.columns = std::ssize(basis.words());
  a.row_starts.push_back(0);
  std::vector<std::pair<std::int32_t, double>> row;
  for (const word w : basis.words()) {
    row.clear();
    double diagonal = 0;
    for (const coupling& c : couplings) {
      const bool differ = ((w >> c.i ^ w >> c.j) & 1) != 0;
      diagonal += (differ ? -0.25 : 0.25) * delta * c.strength;
      if (differ)
        row.emplace_back(static_cast<std::int32_t>(basis.place_of(w ^ (word{1} << c.i) ^ (word{1} << c.j))),
                         0.5 * c.strength);
    }
    row.emplace_back(static_cast<std::int32_t>(std::ssize(a.row_starts) - 1), diagonal);
    std::ranges::sort(row);
    for (const auto& [column, value] : row) {
      a.entry_columns.push_back(column);
      a.values.push_back(value);
    }
    a.row_starts.push_back(a.nonzeros());
  }
  return a;
}

std::vector<double> spin_chain_lowest(spins kind, int length, std::size_t count) {
  std::vector<double> lowest;
  if (kind == spins::heisenberg_ring) {
    lowest.push_back(bethe_ground_state(length));
  } else if (kind == spins::open_xx_chain) {
    lowest = free_fermion_energies(length);
    std::ranges::sort(lowest);
  } else {
    auto levels = motif_levels(length);
    std::ranges::sort(levels);
    for (const auto& [energy, ways] : levels)
      for (std::int64_t k = 0; k < ways && lowest.size() < count; ++k) lowest.push_back(energy);
  }
  if (lowest.size() > count) lowest.resize(count);
  return lowest;
}

}  // namespace tessera::sparse::families
