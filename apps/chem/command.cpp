// tessera chem.
#include "apps/chem/command.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <utility>

#include "apps/chem/calculation.hpp"
#include "apps/chem/job_file.hpp"
#include "apps/chem/options.hpp"
#include "apps/chem/results.hpp"
#include "core/base/error.hpp"
#include "languages/sial/chemistry/programs.hpp"

namespace tessera::apps {
namespace {

int write_programs(const std::string& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw error(error_kind::usage, "the folder cannot be made: " + failed.message(), folder);
  for (const std::string_view name : sial::chemistry_programs()) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    if (std::filesystem::exists(path))
      throw error(error_kind::usage, "the file is there already, and is not written over", path.string());
    write_text(path.string(), std::string(sial::chemistry_program(name)));
  }
  return 0;
}

int run(chem_options o) {
  if (!o.write_programs.empty()) return write_programs(o.write_programs);
  if (o.file.empty())
    throw error(error_kind::usage, "no molecule is named", "the command line",
                "tessera chem water.xyz --basis cc-pvdz");
  try {
    if (is_model_file(o.file)) return calculation(o, model_problem_of(o)).run();
    chemistry::molecule of = read_job_file(o);
    if (!o.quiet)
      for (const std::string& note : o.notes) fmt::print(stderr, "note: {}\n", note);
    return calculation(o, problem_of(o, std::move(of))).run();
  } catch (const std::exception& why) {
    write_qcschema_failure(o, why);
    throw;
  }
}

}  // namespace

void add_chem(command_table& to) {
  auto o = std::make_shared<chem_options>();
  command_table& sub = to.add_command("chem", "Energies of molecules: SCF, MP2, CCSD, CCSD(T), by programs in SIAL");
  sub.add(
      {{"molecule", &o->file, "FILE",
        "the molecule: XYZ (.xyz) or a Z-matrix (.zmat); or with settings, which options override: TOML (.toml), "
        "QCSchema (.json), or ZMAT; or a Hamiltonian without a molecule: .fcidump"},
       {"--basis",
        &o->basis,
        "NAME",
        "sto-3g, 3-21g, 6-31g**, cc-pvdz, aug-cc-pvdz or cc-pvtz, for H to Ne; or a file: NAME.gbs, NAME.json",
        {.shows_default = true}},
       {"--functions",
        &o->functions,
        "NAME",
        "spherical or cartesian, of all shells; auto: as the basis set has them",
        {.choices = {"auto", "spherical", "cartesian"}, .shows_default = true}},
       {"--method", &o->method, "NAME", "scf, mp2, ccsd or ccsd(t)", {.shows_default = true}},
       {"--reference",
        &o->reference,
        "NAME",
        "rhf, uhf or rohf; auto: rhf for closed shells, else uhf",
        {.choices = {"auto", "rhf", "uhf", "rohf"}, .shows_default = true}},
       {"--charge", &o->charge, "N", "of the molecule, in elementary charges"},
       {"--multiplicity",
        &o->multiplicity,
        "N",
        "2 S + 1: 1 for a singlet, 3 for a triplet",
        {.range = between(1, 1000)}},
       {"--unit",
        &o->unit,
        "NAME",
        "of an XYZ file: angstrom, bohr, or auto: bohr where its comment says so",
        {.choices = {"auto", "angstrom", "bohr"}, .shows_default = true}},
       {"--frozen-core", &o->frozen_core, "", "leave the core's electrons uncorrelated"},
       {"--frozen-orbitals",
        &o->frozen_orbitals,
        "N",
        "leave so many of the lowest orbitals uncorrelated",
        {.range = between(0, 100000), .excludes = {"--frozen-core"}}},
       {"--frozen-virtual",
        &o->frozen_virtual,
        "N",
        "leave out so many of the highest orbitals",
        {.range = between(0, 1000000), .shows_default = true}},
       {"--memory", &o->memory, "SIZE",
        "what the process may have of the machine's memory, such as 2GiB; the rest is served from a disk"},
       {"--ladder",
        &o->ladder,
        "NAME",
        "integrals over four virtual orbitals: stored, or direct, which computes them in each iteration; auto: "
        "stored where they fit",
        {.choices = {"auto", "stored", "direct"}, .shows_default = true}},
       {"--guess",
        &o->guess,
        "NAME",
        "orbitals to begin with: of atoms' densities (sad), without repulsion (core), of --start-from in the "
        "same basis (read) or any (projected); auto: of --start-from, else sad",
        {.choices = {"auto", "sad", "core", "read", "projected"}, .shows_default = true}},
       {"--stability",
        &o->stability,
        "NAME",
        "whether the field is a minimum: check it, or follow a saddle point down; auto: check where all "
        "integrals are kept",
        {.choices = {"auto", "check", "follow", "off"}, .shows_default = true}},
       {"--restart", &o->restart, "DIR", "the folder of checkpoints: a job goes on from what is there"},
       {"--start-from", &o->start_from, "DIR",
        "begin with orbitals and amplitudes of a folder of checkpoints, of another basis or geometry"},
       {"--checkpoint-interval",
        &o->checkpoint_interval,
        "X",
        "seconds between checkpoints of amplitudes and triples; 0: after each iteration",
        {.range = between(0.0, 1e9), .shows_default = true}},
       {"--convergence",
        &o->convergence,
        "X",
        "of energies, in hartree; amplitudes to a hundred times as much, orbitals' gradient to ten times",
        {.range = between(1e-12, 1e-3), .shows_default = true}},
       {"--scf-iterations", &o->scf_iterations, "N", "at most", {.range = between(1, 100000), .shows_default = true}},
       {"--cc-iterations", &o->cc_iterations, "N", "at most", {.range = between(1, 1000), .shows_default = true}},
       {"--level-shift",
        &o->level_shift,
        "X",
        "raises empty orbitals far from convergence, hartree",
        {.range = between(0.0, 100.0), .shows_default = true}},
       {"--damping",
        &o->damping,
        "X",
        "part of the old density in the new one, far from convergence",
        {.range = between(0.0, 0.99), .shows_default = true}},
       {"--segments",
        &o->segments,
        "N",
        "lengths of segments, at most: of basis functions, occupied and virtual orbitals",
        {.range = between(1, 100000), .count = 3}},
       {"--devices",
        &o->devices,
        "WHICH",
        "which block statements run on devices: those that finish sooner there (best), none (never), or all "
        "that can (always)",
        {.choices = {"best", "never", "always"}, .shows_default = true}},
       {"--deterministic", &o->deterministic, "", "the same bits in every run with the same number of workers"},
       {"--estimate", &o->estimate, "", "only the plan: memory, operations and, with --machine, time"},
       {"--machine",
        &o->machine,
        "FILE",
        "with --estimate: a description of a machine, see docs/simulation.md, for which times are estimated",
        {.needs = {"--estimate"}}},
       {"--nodes",
        &o->nodes,
        "N",
        "with --machine: so many of them",
        {.range = between(1, 1000000), .shows_default = true, .needs = {"--machine"}}},
       {"--interconnect",
        &o->interconnect,
        "RATE",
        "with --machine: what the network of one of them carries in one direction, such as 25GB/s",
        {.needs = {"--machine"}}},
       {"--profile", &o->profile, "", "print what each term of the equations took: time, waiting, operations, bytes"},
       {"--write-programs", &o->write_programs, "DIR",
        "write the SIAL programs to a folder, for methods of one's own; nothing runs"},
       {"--molden", &o->molden, "FILE", "write the orbitals in Molden format"},
       {"--fcidump", &o->fcidump, "FILE",
        "write the integrals over the orbitals that are correlated, with the field of the frozen ones"},
       {"--trexio", &o->trexio, "FILE",
        "write nuclei, basis and orbitals in TREXIO format, where its library is installed"},
       {"--qcschema",
        &o->qcschema,
        "FILE",
        "write the result as QCSchema: an AtomicResult, or why there is none",
        {.excludes = {"--estimate"}}}});
  o->add_run_options(sub);
  sub.footer = "Example:\n  tessera chem water.xyz --basis cc-pvdz --method \"ccsd(t)\" --frozen-core";
  sub.run = [o] { return run(*o); };
}

}  // namespace tessera::apps
