#include "languages/sial/instructions/builtin/arguments.hpp"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

namespace tessera::sial {

std::string shown(const sial_argument& argument) {
  const std::string name = argument.name == nullptr ? "" : argument.name;
  if (argument.rank == 0) return name.empty() ? fmt::format("{}", *argument.data) : name;
  if (argument.whole == 1) return name;
  return fmt::format("{}[{}]", name, fmt::join(argument.segments, argument.segments + argument.rank, ","));
}

std::string extents_of(const sial_argument& argument) {
  if (argument.rank == 0) return "a scalar";
  return fmt::format("{}", fmt::join(argument.extents, argument.extents + argument.rank, " x "));
}

void refuse(const std::string& message) { throw std::runtime_error(message); }

double& scalar(const sial_argument& argument) {
  if (argument.elements != 1)
    refuse(fmt::format("{} has {} elements, and a scalar or a block of one element is expected", shown(argument),
                       argument.elements));
  return *argument.data;
}

int order_of_square(const sial_argument& argument) {
  bool square = argument.rank >= 2 && argument.extents[0] == argument.extents[1] &&
                argument.extents[0] <= std::numeric_limits<int>::max();
  for (int d = 2; d < argument.rank; ++d) square = square && argument.extents[d] == 1;
  if (!square) refuse(fmt::format("{} is {}, and a square matrix is expected", shown(argument), extents_of(argument)));
  return static_cast<int>(argument.extents[0]);
}

void expect_same_extents(const sial_argument& one, const sial_argument& other) {
  bool same = one.rank == other.rank;
  for (int d = 0; same && d < one.rank; ++d) same = one.extents[d] == other.extents[d];
  if (!same)
    refuse(fmt::format("{} is {}, {} is {}, and equal extents are expected", shown(one), extents_of(one), shown(other),
                       extents_of(other)));
}

void expect_rank(const sial_argument& argument, int rank, int or_rank) {
  if (argument.rank != rank && argument.rank != or_rank)
    refuse(rank == or_rank ? fmt::format("{} has rank {}, and {} is expected", shown(argument), argument.rank, rank)
                           : fmt::format("{} has rank {}, and {} or {} is expected", shown(argument), argument.rank,
                                         rank, or_rank));
}

}  // namespace tessera::sial
