#include "apps/comd/sorting.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tessera::apps::comd {

void refuse_crowded_cell(std::int32_t capacity) {
  throw error(
      error_kind::numerical,
      fmt::format("more than {} atoms came into one cell: take a smaller time step or a lower temperature", capacity));
}

void refuse_move(double coordinate, std::int64_t step) {
  if (!std::isfinite(coordinate))
    throw error(
        error_kind::numerical,
        fmt::format("the position of an atom is {} in step {}: the force on it was too large; look at the potential",
                    std::isnan(coordinate) ? "not a number" : "infinite", step));
  throw error(error_kind::numerical,
              fmt::format("an atom moved farther than a cell in step {}: take a smaller time step "
                          "or a lower temperature",
                          step));
}

}  // namespace tessera::apps::comd
