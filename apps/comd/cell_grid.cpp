#include "apps/comd/cell_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace tessera::apps::comd {

cell_grid make_cell_grid(const crystal& of, double cutoff) {
  cell_grid made;
  made.box = of.box();
  for (std::size_t a = 0; a < 3; ++a) {
    if (made.box[a] < 2 * cutoff)
      throw error(error_kind::usage,
                  fmt::format("the box is {:.4g} A long, shorter than two cutoffs of {:.4g} A", made.box[a], cutoff),
                  "--size",
                  fmt::format("take at least {} lattice cells along each axis",
                              static_cast<std::int64_t>(std::ceil(2 * cutoff / of.lattice_constant))));
    const auto most = static_cast<double>(std::max<std::int64_t>(of.size[a], 2));
    made.count[a] = static_cast<std::int32_t>(std::min(made.box[a] / cutoff, most));
  }
  // Of the lattice's planes a cell may have one more than the mean along each axis; then atoms move.
  const double mean = static_cast<double>(of.atoms()) / static_cast<double>(made.cells());
  made.capacity = (static_cast<std::int32_t>(2 * mean) + 8 + 7) / 8 * 8;
  return made;
}

}  // namespace tessera::apps::comd
