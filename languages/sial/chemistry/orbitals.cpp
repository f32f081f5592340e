#include "languages/sial/chemistry/orbitals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"

namespace tessera::sial {

std::vector<std::int64_t> basis_segments(const chemistry::integrals& over, std::size_t most) {
  std::vector<std::int64_t> lengths;
  std::size_t here = 0;
  for (std::size_t s = 0; s < over.shells();) {
    // The shells of an atom stay together unless they are too many for one segment.
    std::size_t end = s, functions = 0;
    while (end < over.shells() && over.shell_at(end).atom == over.shell_at(s).atom) functions += over.size(end++);
    if (here != 0 && here + functions > most) lengths.push_back(static_cast<std::int64_t>(std::exchange(here, 0)));
    for (; s < end; ++s) {
      if (here != 0 && here + over.size(s) > most) lengths.push_back(static_cast<std::int64_t>(std::exchange(here, 0)));
      here += over.size(s);
    }
  }
  if (here != 0) lengths.push_back(static_cast<std::int64_t>(here));
  return lengths;
}

std::vector<std::int64_t> orbital_segments(std::size_t count, std::size_t most) {
  const std::size_t segments = (count + most - 1) / most;
  std::vector<std::int64_t> lengths;
  for (std::size_t k = 0; k < segments; ++k)
    lengths.push_back(static_cast<std::int64_t>(count / segments + (k < count % segments ? 1 : 0)));
  return lengths;
}

init_data orbital_data(const chemistry::integrals& over, const chemistry::scf_result& scf, const orbital_choice& how) {
  const int occupied = scf.occupied[0] - how.frozen_core;
  const int empty = static_cast<int>(scf.orbitals) - scf.occupied[0] - how.frozen_virtual;
  if (occupied < 1)
    throw error(error_kind::usage,
                fmt::format("{} occupied orbitals are frozen, and there are {}", how.frozen_core, scf.occupied[0]), "",
                "correlation needs at least one that is not");
  if (empty < 1)
    throw error(error_kind::usage,
                fmt::format("no virtual orbital is left: there are {}, and {} are frozen",
                            static_cast<int>(scf.orbitals) - scf.occupied[0], how.frozen_virtual),
                "", "correlation needs a larger basis, or fewer frozen ones");
  const auto active = static_cast<std::size_t>(occupied + empty), first = static_cast<std::size_t>(how.frozen_core),
             n = scf.functions;
  init_data data;
  auto& ao = data.segments[index_kind::ao] = basis_segments(over, how.basis_segment);
  auto& mo = data.segments[index_kind::mo] = orbital_segments(static_cast<std::size_t>(occupied), how.occupied_segment);
  data.ints["ao_segments"] = static_cast<std::int64_t>(ao.size());
  data.ints["occ_segments"] = static_cast<std::int64_t>(mo.size());
  data.ints["virt_first"] = static_cast<std::int64_t>(mo.size()) + 1;
  for (const std::int64_t length : orbital_segments(static_cast<std::size_t>(empty), how.virtual_segment))
    mo.push_back(length);
  data.ints["mo_segments"] = static_cast<std::int64_t>(mo.size());
  data.ints["occupied"] = occupied;
  data.ints["virtual"] = empty;
  init_array<double>& segment_of = data.float_arrays["segment_of"];
  segment_of.dims = {occupied};
  for (std::size_t k = 0; segment_of.values.size() < static_cast<std::size_t>(occupied); ++k)
    segment_of.values.insert(segment_of.values.end(), static_cast<std::size_t>(mo[k]), static_cast<double>(k + 1));
  init_array<double>& ca = data.float_arrays["ca"];
  ca.dims = {static_cast<std::int64_t>(n), static_cast<std::int64_t>(active)};
  ca.values.assign(scf.c[0].begin() + static_cast<std::ptrdiff_t>(n * first),
                   scf.c[0].begin() + static_cast<std::ptrdiff_t>(n * (first + active)));
  init_array<double>& fock = data.float_arrays["fock_a"];
  fock.dims = {static_cast<std::int64_t>(active), static_cast<std::int64_t>(active)};
  fock.values.assign(active * active, 0.0);
  for (std::size_t k = 0; k < active; ++k) fock.values[k * (active + 1)] = scf.energies[0][first + k];
  return data;
}

}  // namespace tessera::sial
