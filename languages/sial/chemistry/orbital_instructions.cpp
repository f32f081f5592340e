#include "languages/sial/chemistry/orbital_instructions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "languages/sial/instructions/builtin/arguments.hpp"

namespace tessera::sial {
namespace {

/// ur: X / (e of the 2nd, 4th, 6th index - e of the 1st, 3rd, 5th).
void energy_denominator(const instruction_call& c) {
  const sial_argument &x = c.arguments[0], &fock = c.arguments[1];
  if (x.rank != 2 && x.rank != 4 && x.rank != 6)
    refuse(fmt::format("{} has {} dimensions, and 2, 4 or 6 are expected", shown(x), x.rank));
  const std::int64_t n = fock.extents[0], before = fock.offsets[0];
  const bool vector = fock.rank == 1;
  if (!vector && (order_of_square(fock), fock.offsets[1] != before))
    refuse(fmt::format("{} is no diagonal part of a matrix", shown(fock)));
  // The energies of each dimension, with their signs.
  std::array<std::vector<double>, SIAL_MAX_RANK> e;
  for (int d = 0; d < x.rank; ++d)
    for (std::int64_t k = x.offsets[d]; k < x.offsets[d] + x.extents[d]; ++k) {
      if (k < before || k >= before + n)
        refuse(fmt::format("{} has orbital {} in dimension {}, and {} has those from {} to {}", shown(x), k + 1, d + 1,
                           shown(fock), before + 1, before + n));
      const double energy = fock.data[(k - before) * (vector ? 1 : n + 1)];
      e[static_cast<std::size_t>(d)].push_back(d % 2 == 0 ? -energy : energy);
    }
  // The first index is fastest.
  std::int64_t number[SIAL_MAX_RANK] = {};
  const std::int64_t run = x.extents[0];
  for (std::int64_t begin = 0; begin < x.elements; begin += run) {
    double rest = 0;
    for (int d = 1; d < x.rank; ++d) rest += e[static_cast<std::size_t>(d)][static_cast<std::size_t>(number[d])];
    for (std::int64_t k = 0; k < run; ++k) x.data[begin + k] /= rest + e[0][static_cast<std::size_t>(k)];
    for (int d = 1; d < x.rank; ++d) {
      if (++number[d] < x.extents[d]) break;
      number[d] = 0;
    }
  }
}

/// ru: Y is the part of X that it covers.
void strip(const instruction_call& c) {
  const sial_argument &x = c.arguments[0], &y = c.arguments[1];
  if (x.rank != y.rank) refuse(fmt::format("{} and {} have different numbers of dimensions", shown(x), shown(y)));
  std::int64_t stride[SIAL_MAX_RANK], first = 0, so_far = 1;
  for (int d = 0; d < x.rank; ++d) {
    const std::int64_t begin = y.offsets[d] - x.offsets[d];
    if (begin < 0 || begin + y.extents[d] > x.extents[d])
      refuse(fmt::format("{} has no part {} in dimension {}", shown(x), shown(y), d + 1));
    first += begin * so_far;
    stride[d] = so_far;
    so_far *= x.extents[d];
  }
  std::int64_t number[SIAL_MAX_RANK] = {}, at = first;
  const std::int64_t run = y.extents[0];
  for (std::int64_t begin = 0; begin < y.elements; begin += run) {
    std::copy_n(x.data + at, run, y.data + begin);
    for (int d = 1; d < y.rank; ++d) {
      at += stride[d];
      if (++number[d] < y.extents[d]) break;
      at -= stride[d] * y.extents[d];
      number[d] = 0;
    }
  }
}

}  // namespace

std::vector<instruction> orbital_instructions() {
  return {{"energy_denominator_rhf", {"ur"}, {}, energy_denominator}, {"stripi", {"ru"}, {}, strip}};
}

}  // namespace tessera::sial
