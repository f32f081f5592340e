#include "integration/chemistry/basis_arrays.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace tessera::testing {
namespace {

template <typename element>
sial::init_array<element> list(std::vector<element> values) {
  return {{static_cast<std::int64_t>(values.size())}, std::move(values)};
}

std::vector<double> exponents_of(std::span<const chemistry::shell> parts) {
  std::vector<double> all;
  for (const chemistry::shell& one : parts) all.insert(all.end(), one.exponents.begin(), one.exponents.end());
  std::ranges::sort(all, std::greater());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

sial::init_data data_with_basis(std::span<const chemistry::shell> shells, const chemistry::molecule& of) {
  sial::init_data data;
  std::vector<double> alphas, coefficients, places, charges, shell_places;
  std::vector<std::int64_t> momenta, primitives, functions, atoms, first_alpha, first_coefficient, ends;
  std::int64_t end = 0;
  const auto next = [](const std::vector<double>& all) { return static_cast<std::int64_t>(all.size()) + 1; };
  for (std::size_t s = 0; s < shells.size();) {
    std::size_t behind = s;
    while (behind < shells.size() && shells[behind].atom == shells[s].atom &&
           shells[behind].momentum == shells[s].momentum)
      end += static_cast<std::int64_t>(chemistry::functions(shells[behind++]));
    const auto parts = shells.subspan(s, behind - s);
    const std::vector<double> exponents = exponents_of(parts);
    momenta.push_back(shells[s].momentum);
    primitives.push_back(static_cast<std::int64_t>(exponents.size()));
    functions.push_back(static_cast<std::int64_t>(parts.size()));
    atoms.push_back(static_cast<std::int64_t>(shells[s].atom) + 1);
    first_alpha.push_back(next(alphas));
    first_coefficient.push_back(next(coefficients));
    ends.push_back(end);
    shell_places.insert(shell_places.end(), shells[s].at.begin(), shells[s].at.end());
    alphas.insert(alphas.end(), exponents.begin(), exponents.end());
    for (const chemistry::shell& one : parts)
      for (const double exponent : exponents) {
        const auto found = std::ranges::find(one.exponents, exponent);
        coefficients.push_back(
            found == one.exponents.end()
                ? 0.0
                : one.coefficients[static_cast<std::size_t>(std::distance(one.exponents.begin(), found))]);
      }
    s = behind;
  }
  for (const chemistry::atom& a : of.atoms) {
    charges.push_back(a.number);
    places.insert(places.end(), a.at.begin(), a.at.end());
  }
  const auto count = [](const auto& all) { return static_cast<std::int64_t>(all.size()); };
  data.ints = {{"nshells", count(momenta)},
               {"ncenters", count(charges)},
               {"nbasis_funcs", end},
               {"intspherical", shells.front().spherical ? 1 : 0}};
  data.float_arrays["coords"] = {{3, count(charges)}, places};
  data.float_arrays["tcoords"] = {{3, count(momenta)}, shell_places};
  data.float_arrays["charge"] = list(charges);
  data.float_arrays["alphas"] = list(alphas);
  data.float_arrays["pcoeffs"] = list(coefficients);
  data.int_arrays["ivangmom"] = list(momenta);
  data.int_arrays["npfps"] = list(primitives);
  data.int_arrays["ncfps"] = list(functions);
  data.int_arrays["atom"] = list(atoms);
  data.int_arrays["ixalphas"] = list(first_alpha);
  data.int_arrays["ixpcoeffs"] = list(first_coefficient);
  data.int_arrays["end_nfps"] = list(ends);
  return data;
}

void add_segments(sial::init_data& to, std::vector<std::int64_t> functions, std::vector<std::int64_t> occupied,
                  std::vector<std::int64_t> empty) {
  const auto count = [](const auto& all) { return static_cast<std::int64_t>(all.size()); };
  to.ints["norb"] = count(functions);
  to.ints["baocc"] = 1;
  to.ints["eaocc"] = count(occupied);
  to.ints["bavirt"] = count(occupied) + 1;
  to.ints["eavirt"] = count(occupied) + count(empty);
  to.segments[sial::index_kind::ao] = std::move(functions);
  std::vector<std::int64_t>& alpha = to.segments[sial::index_kind::moa];
  alpha = std::move(occupied);
  alpha.insert(alpha.end(), empty.begin(), empty.end());
}

}  // namespace tessera::testing
