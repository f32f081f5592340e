#include "apps/comd/sorting.hpp"

#include <fmt/format.h>

namespace tessera::apps::comd {

void refuse_crowded_cell(std::int32_t capacity) {
  throw error(
      error_kind::numerical,
      fmt::format("more than {} atoms came into one cell: take a smaller time step or a lower temperature", capacity));
}

void refuse_fast_atom() {
  throw error(error_kind::numerical,
              "an atom moved farther than a cell in one step: take a smaller time step or a lower temperature");
}

}  // namespace tessera::apps::comd
