#include "apps/sial/molecule_data.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "languages/sial/chemistry/basis_of_data.hpp"
#include "languages/sial/chemistry/correlation.hpp"
#include "libraries/chemistry/basis/basis.hpp"
#include "libraries/chemistry/molecule/read_xyz.hpp"
#include "libraries/chemistry/scf/scf.hpp"

namespace tessera::apps {
namespace {

constexpr const char* the_option = "--molecule";

/// What both have is an error: arrays and segments of different origins do not fit together.
template <typename members>
void add_new(const members& from, members& to,
             const std::function<std::string(const typename members::key_type&)>& name) {
  for (const auto& [key, value] : from)
    if (!to.emplace(key, value).second)
      throw error(error_kind::usage, fmt::format("--init and --molecule both give {}", name(key)), the_option,
                  "leave it out of the initialization data");
}

}  // namespace

molecule_field add_molecule(const molecule_choice& what, sial::init_data& data, unsigned threads,
                            const std::function<bool()>& go_on) {
  if (sial::basis_of(data))
    throw error(error_kind::usage, "the initialization data have a molecule already", the_option,
                "run the program with one of them");
  chemistry::molecule molecule = chemistry::read_xyz(what.file);
  molecule.charge = what.charge;
  chemistry::check(molecule);
  molecule_field field;
  field.over = chemistry::make_integrals(chemistry::orbital_basis_for(molecule, what.basis), molecule);
  chemistry::scf_settings how;
  how.threads = threads;
  how.tell = [&](const chemistry::scf_iteration&) { return go_on(); };
  const chemistry::scf_result scf = chemistry::run_scf(molecule, *field.over, how);
  if (!scf.converged)
    throw error(error_kind::numerical, fmt::format("the field has not converged after {} iterations", scf.iterations),
                what.file, "tessera chem has --level-shift, --damping and --guess");
  field.energy = scf.energy;
  field.iterations = scf.iterations;
  sial::orbital_choice orbitals;
  if (what.frozen_core) orbitals.frozen_core = chemistry::frozen_core_orbitals(molecule);
  sial::init_data told = sial::orbital_data(*field.over, scf, orbitals);
  const sial::correlation_settings usual;
  told.ints["max_iterations"] = usual.most_iterations;
  told.scalars["energy_threshold"] = usual.energy_threshold;
  told.scalars["residual_threshold"] = usual.residual_threshold;
  told.scalars["scf_energy"] = scf.energy;
  data.ints.merge(told.ints);
  data.scalars.merge(told.scalars);
  add_new(told.segments, data.segments,
          [](sial::index_kind kind) { return "segments of " + std::string(sial::segment_table_name(kind)); });
  add_new(told.float_arrays, data.float_arrays, [](const std::string& name) { return "the array '" + name + "'"; });
  return field;
}

}  // namespace tessera::apps
