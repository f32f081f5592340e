#include "languages/sial/chemistry/one_electron_instructions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "languages/sial/instructions/builtin/arguments.hpp"

namespace tessera::sial {
namespace {

/// The part of a matrix over all functions that a block covers.
void copy_part(const basis_access& basis, const std::vector<double>& of, const sial_argument& to) {
  expect_rank(to, 2, 2);
  expect_functions(to, basis.over());
  const auto n = static_cast<std::int64_t>(basis.over().functions());
  for (std::int64_t k = 0; k < to.extents[1]; ++k)
    std::copy_n(of.data() + (to.offsets[1] + k) * n + to.offsets[0], to.extents[0], to.data + k * to.extents[0]);
}

/// wur: block, number, which. 1, 2, 3: x, y, z about the origin; number <- the nuclei's part. 10, 11, 12: it alone.
void dipole(basis_access& basis, const instruction_call& c) {
  const double which = scalar(c.arguments[2]);
  const bool both = which == 1 || which == 2 || which == 3;
  if (!both && which != 10 && which != 11 && which != 12)
    refuse(fmt::format("the third argument is {}, and 1, 2, 3 (x, y, z) or 10, 11, 12 (of the nuclei) is expected",
                       which));
  const auto axis = static_cast<std::size_t>(which) - (both ? 1 : 10);
  if (both) copy_part(basis, basis.dipole()[axis], c.arguments[0]);
  double sum = 0;
  for (const chemistry::atom& a : basis.over().nuclei().atoms) sum += a.number * a.at[axis];
  scalar(c.arguments[1]) = sum;
}

}  // namespace

std::vector<instruction> one_electron_instructions(const std::shared_ptr<basis_access>& basis) {
  return {{"return_ovl",
           {"w"},
           {},
           [basis](const instruction_call& c) { copy_part(*basis, basis->overlap(), c.arguments[0]); }},
          {"return_h1",
           {"w"},
           {},
           [basis](const instruction_call& c) { copy_part(*basis, basis->core(), c.arguments[0]); }},
          {"compute_dipole_integrals", {"wur"}, {}, [basis](const instruction_call& c) { dipole(*basis, c); }},
          {"compute_nn_repulsion", {"u"}, {}, [basis](const instruction_call& c) {
             scalar(c.arguments[0]) = chemistry::nuclear_repulsion(basis->over().nuclei());
           }}};
}

}  // namespace tessera::sial
