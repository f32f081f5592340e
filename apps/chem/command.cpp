// tessera chem.
#include "apps/chem/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
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

void add_chem(CLI::App& to, command& selected) {
  auto o = std::make_shared<chem_options>();
  CLI::App& sub = *to.add_subcommand("chem", "Energies of molecules: SCF, MP2, CCSD, CCSD(T), by programs in SIAL");
  sub.add_option(
         "molecule", o->file,
         "the molecule: XYZ (.xyz) or a Z-matrix (.zmat); or with settings, which options override: TOML (.toml), "
         "QCSchema (.json), or ZMAT; or a Hamiltonian without a molecule: .fcidump")
      ->type_name("FILE");
  sub.add_option("--basis", o->basis,
                 "sto-3g, 3-21g, 6-31g**, cc-pvdz, aug-cc-pvdz or cc-pvtz, for H to Ne; or a file: NAME.gbs, NAME.json")
      ->type_name("NAME")
      ->capture_default_str();
  sub.add_option("--functions", o->functions, "spherical or cartesian, of all shells; auto: as the basis set has them")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "spherical", "cartesian"}));
  sub.add_option("--method", o->method, "scf, mp2, ccsd or ccsd(t)")->type_name("NAME")->capture_default_str();
  sub.add_option("--reference", o->reference, "rhf, uhf or rohf; auto: rhf for closed shells, else uhf")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "rhf", "uhf", "rohf"}));
  sub.add_option("--charge", o->charge, "of the molecule, in elementary charges")->type_name("N");
  sub.add_option("--multiplicity", o->multiplicity, "2 S + 1: 1 for a singlet, 3 for a triplet")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  sub.add_option("--unit", o->unit, "of an XYZ file: angstrom, bohr, or auto: bohr where its comment says so")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "angstrom", "bohr"}));
  CLI::Option* const core = sub.add_flag("--frozen-core", o->frozen_core, "leave the core's electrons uncorrelated");
  sub.add_option("--frozen-orbitals", o->frozen_orbitals, "leave so many of the lowest orbitals uncorrelated")
      ->type_name("N")
      ->check(CLI::Range(0, 100000))
      ->excludes(core);
  sub.add_option("--frozen-virtual", o->frozen_virtual, "leave out so many of the highest orbitals")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000000));
  sub.add_option("--memory", o->memory,
                 "what the process may have of the machine's memory, such as 2GiB; the rest is served from a disk")
      ->type_name("SIZE");
  sub.add_option(
         "--ladder", o->ladder,
         "integrals over four virtual orbitals: stored, or direct, which computes them in each iteration; auto: "
         "stored where they fit")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "stored", "direct"}));
  sub.add_option("--guess", o->guess,
                 "orbitals to begin with: of atoms' densities (sad), without repulsion (core), of --start-from in the "
                 "same basis (read) or any (projected); auto: of --start-from, else sad")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "sad", "core", "read", "projected"}));
  sub.add_option("--stability", o->stability,
                 "whether the field is a minimum: check it, or follow a saddle point down; auto: check where all "
                 "integrals are kept")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "check", "follow", "off"}));
  sub.add_option("--restart", o->restart, "the folder of checkpoints: a job goes on from what is there")
      ->type_name("DIR");
  sub.add_option("--start-from", o->start_from,
                 "begin with orbitals and amplitudes of a folder of checkpoints, of another basis or geometry")
      ->type_name("DIR");
  sub.add_option("--checkpoint-interval", o->checkpoint_interval,
                 "seconds between checkpoints of amplitudes; 0: after each iteration")
      ->type_name("X")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e9));
  sub.add_option("--convergence", o->convergence,
                 "of energies, in hartree; amplitudes to a hundred times as much, orbitals' gradient to ten times")
      ->type_name("X")
      ->capture_default_str()
      ->check(CLI::Range(1e-12, 1e-3));
  sub.add_option("--scf-iterations", o->scf_iterations, "at most")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  sub.add_option("--cc-iterations", o->cc_iterations, "at most")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  sub.add_option("--level-shift", o->level_shift, "raises empty orbitals far from convergence, hartree")
      ->type_name("X")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 100.0));
  sub.add_option("--damping", o->damping, "part of the old density in the new one, far from convergence")
      ->type_name("X")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 0.99));
  sub.add_option("--segments", o->segments,
                 "lengths of segments, at most: of basis functions, occupied and virtual orbitals")
      ->type_name("N")
      ->expected(3)
      ->check(CLI::Range(1, 100000));
  sub.add_option("--devices", o->devices,
                 "which block statements run on devices: those that finish sooner there (best), none (never), or all "
                 "that can (always)")
      ->type_name("WHICH")
      ->capture_default_str()
      ->check(CLI::IsMember({"best", "never", "always"}));
  sub.add_flag("--deterministic", o->deterministic, "the same bits in every run with the same number of workers");
  CLI::Option* const estimate =
      sub.add_flag("--estimate", o->estimate, "only the plan: memory, operations and, with --machine, time");
  CLI::Option* const machine =
      sub.add_option(
             "--machine", o->machine,
             "with --estimate: a description of a machine, see docs/simulation.md, for which times are estimated")
          ->type_name("FILE")
          ->check(CLI::ExistingFile)
          ->needs(estimate);
  sub.add_option("--nodes", o->nodes, "with --machine: so many of them")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000))
      ->needs(machine);
  sub.add_option("--interconnect", o->interconnect,
                 "with --machine: what the network of one of them carries in one direction, such as 25GB/s")
      ->type_name("RATE")
      ->needs(machine);
  sub.add_flag("--profile", o->profile, "print what each term of the equations took: time, waiting, operations, bytes");
  sub.add_option("--write-programs", o->write_programs,
                 "write the SIAL programs to a folder, for methods of one's own; nothing runs")
      ->type_name("DIR");
  sub.add_option("--molden", o->molden, "write the orbitals in Molden format")->type_name("FILE");
  sub.add_option("--fcidump", o->fcidump,
                 "write the integrals over the orbitals that are correlated, with the field of the frozen ones")
      ->type_name("FILE");
  sub.add_option("--trexio", o->trexio,
                 "write nuclei, basis and orbitals in TREXIO format, where its library is installed")
      ->type_name("FILE");
  sub.add_option("--qcschema", o->qcschema, "write the result as QCSchema: an AtomicResult, or why there is none")
      ->type_name("FILE")
      ->excludes(sub.get_option("--estimate"));
  o->add_run_options(sub);
  sub.footer("Example:\n  tessera chem water.xyz --basis cc-pvdz --method \"ccsd(t)\" --frozen-core");
  sub.callback([o, &selected] { selected = [o] { return run(*o); }; });
}

}  // namespace tessera::apps
