#include "apps/sial/molecule_data.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "hierarchy/discovery/memory_limits.hpp"
#include "languages/sial/chemistry/basis_of_data.hpp"
#include "languages/sial/chemistry/correlation.hpp"
#include "libraries/chemistry/basis/basis.hpp"
#include "libraries/chemistry/basis/qcschema.hpp"
#include "libraries/chemistry/job/job.hpp"
#include "libraries/chemistry/scf/kept_integrals.hpp"
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

chemistry::molecule closed_shells_of(chemistry::job job) {
  if (const std::string kind = job.reference.value_or("auto"); kind != "auto" && kind != "rhf")
    throw error(error_kind::usage, fmt::format("the reference is {}, and a program gets the orbitals of rhf", kind),
                job.name, "tessera chem has the other ones");
  if (!job.multiplicity && job.geometry.multiplicity == 1) job.multiplicity = 1;  // there is no option for others
  return chemistry::molecule_of(job);
}

std::vector<chemistry::shell> shells_of(const chemistry::molecule& molecule, const chemistry::job& job,
                                        const std::string& basis) {
  std::vector<chemistry::shell> shells = job.own_basis
                                             ? chemistry::parse_qcschema_basis(*job.own_basis, job.name, molecule)
                                             : chemistry::orbital_basis_for(molecule, basis);
  if (job.spherical)
    for (chemistry::shell& one : shells) one.spherical = *job.spherical;
  return shells;
}

chemistry::scf_settings scf_settings_of(const chemistry::job& job) {
  if (job.guess == "read" || job.guess == "projected")
    throw error(error_kind::usage,
                fmt::format("the guess is '{}', and a program's field has no checkpoints", *job.guess), the_option,
                "sad or core");
  chemistry::scf_settings how;
  if (job.guess == "core") how.guess = chemistry::scf_guess::core;
  if (job.convergence) how.energy_change = 0.1 * *job.convergence;
  how.max_iterations = job.scf_iterations.value_or(how.max_iterations);
  how.level_shift = job.level_shift.value_or(0);
  how.damping = job.damping.value_or(0);
  return how;
}

sial::orbital_choice orbitals_of(const chemistry::job& job, const chemistry::molecule& molecule) {
  sial::orbital_choice orbitals;
  if (job.frozen_core.value_or(false)) orbitals.frozen_core = chemistry::frozen_core_orbitals(molecule);
  if (job.frozen_orbitals) orbitals.frozen_core = *job.frozen_orbitals;
  orbitals.frozen_virtual = job.frozen_virtual.value_or(0);
  if (job.segments) {
    sial::segment_lengths lengths{};
    std::ranges::copy(*job.segments, lengths.begin());
    orbitals.cut_into(lengths);
  }
  return orbitals;
}

}  // namespace

double room_for_integrals() {
  const hierarchy::memory_bound bound = hierarchy::min_bound(hierarchy::memory_sources::of_this_process());
  return 0.5 * static_cast<double>(bound.left - bound.for_blocks());
}

molecule_field add_molecule(const molecule_choice& what, sial::init_data& data, unsigned threads, double kept_bytes,
                            const std::function<bool()>& go_on) {
  if (sial::basis_of(data))
    throw error(error_kind::usage, "the initialization data have a molecule already", the_option,
                "run the program with one of them");
  chemistry::job job = chemistry::read_job(what.file);
  if (what.charge) job.charge = what.charge;
  if (what.basis) {
    job.basis = what.basis;
    job.own_basis.reset();
  }
  if (what.frozen_core) {
    job.frozen_core = true;
    job.frozen_orbitals.reset();
  }
  const chemistry::molecule molecule = closed_shells_of(job);
  molecule_field field;
  field.notes = job.notes;
  for (const auto& [key, is_there] : {std::pair("restart", job.restart.has_value()),
                                      {"start_from", job.start_from.has_value()},
                                      {"molden", job.molden.has_value()},
                                      {"fcidump", job.fcidump.has_value()},
                                      {"trexio", job.trexio.has_value()},
                                      {"qcschema", job.qcschema.has_value()}})
    if (is_there) field.notes.push_back(fmt::format("the key {} is for tessera chem, and not used", key));
  field.basis = job.basis.value_or("cc-pvdz");
  field.functions = chemistry::make_integrals(shells_of(molecule, job, field.basis), molecule);
  chemistry::scf_settings how = scf_settings_of(job);
  how.threads = threads;
  how.tell = [&](const chemistry::scf_iteration&) { return go_on(); };
  const double all = chemistry::bytes_of_repulsion(*field.functions);
  field.builder = std::make_unique<chemistry::fock_builder>(*field.functions, how.kept_bytes, threads);
  const chemistry::scf_result scf = chemistry::run_scf(molecule, *field.functions, how, *field.builder);
  if (!scf.converged)
    throw error(error_kind::numerical, fmt::format("the field has not converged after {} iterations", scf.iterations),
                what.file, "tessera chem has --level-shift, --damping and --guess");
  if (std::min(all, static_cast<double>(how.kept_bytes)) <= kept_bytes) {
    field.kept_bytes = std::min(all, static_cast<double>(how.kept_bytes));
    field.over = std::make_unique<chemistry::kept_integrals>(*field.functions, *field.builder);
  } else {
    field.builder.reset();
    field.over = std::move(field.functions);
  }
  field.energy = scf.energy;
  field.iterations = scf.iterations;
  sial::init_data told = sial::orbital_data(*field.over, scf, orbitals_of(job, molecule));
  const sial::correlation_settings usual;
  const double convergence = job.convergence.value_or(usual.energy_threshold);
  told.ints["max_iterations"] = job.cc_iterations.value_or(usual.max_iterations);
  told.scalars["energy_threshold"] = convergence;
  told.scalars["residual_threshold"] = 100 * convergence;
  told.scalars["scf_energy"] = scf.energy;
  data.ints.merge(told.ints);
  data.scalars.merge(told.scalars);
  add_new(told.segments, data.segments,
          [](sial::index_kind kind) { return "segments of " + std::string(sial::segment_table_name(kind)); });
  add_new(told.float_arrays, data.float_arrays, [](const std::string& name) { return "the array '" + name + "'"; });
  return field;
}

}  // namespace tessera::apps
