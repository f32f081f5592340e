#include "apps/comd/simulation.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"

namespace tessera::apps::comd {

void refuse_infinite(const totals& all, std::int64_t step) {
  const auto check = [step](const char* what, double value) {
    if (std::isfinite(value)) return;
    throw error(error_kind::numerical,
                fmt::format("the {} of all atoms is {} at step {}", what,
                            std::isnan(value) ? "not a number" : "infinite", step),
                {},
                step == 0 ? "the potential has numbers that are too large, or not those of this lattice"
                          : "the potential has numbers that are too large, or the time step is too long");
  };
  check("potential energy", all.potential);
  check("kinetic energy", all.kinetic);
  for (const double p : all.momentum) check("momentum", p);
}

}  // namespace tessera::apps::comd
