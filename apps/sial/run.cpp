// tessera sial run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/common/device_lacks.hpp"
#include "apps/common/files_apart.hpp"
#include "apps/common/process_memory.hpp"
#include "apps/common/session.hpp"
#include "apps/sial/metrics.hpp"
#include "apps/sial/molecule_data.hpp"
#include "apps/sial/parts.hpp"
#include "languages/sial/chemistry/basis_of_data.hpp"
#include "languages/sial/chemistry/programs.hpp"
#include "languages/sial/data/init_file.hpp"
#include "languages/sial/estimate/text.hpp"
#include "languages/sial/job/checkpoint.hpp"
#include "languages/sial/job/device_use.hpp"
#include "languages/sial/job/dump.hpp"
#include "languages/sial/job/job.hpp"
#include "languages/sial/job/profile.hpp"

namespace tessera::apps {
namespace {

struct run_options : command_options {
  std::string file, init;
  std::vector<std::string> folders;
  bool deterministic = false, checksums = false;
  bool resume = false, dry_run = false;
  unsigned ahead = 4;
  std::string dump, checkpoint, profile, progress = "auto";
  std::string devices = "best";
  std::vector<std::string> instructions, instruction_folders;
  molecule_choice molecule;
};

/// What all programs will need, one after another, and whether the configured memory has it.
int dry_run(const run_options& o, const session& s, const std::vector<sial::job_program>& programs,
            const sial::init_data& data, unsigned workers) {
  const sial::memory_offer there = sial::offer_of(s.rt().statistics().spaces);
  sial::kept_estimates kept;
  auto rows = nlohmann::ordered_json::array();
  bool fits = true;
  double flops = 0;
  std::string text;
  for (const sial::job_program& p : programs) {
    const sial::program_estimate e = sial::estimate_program(p, data, {workers}, kept);
    const sial::verdict v = sial::judge(e, there);
    fits = fits && v.outcome != sial::fit::does_not_fit;
    flops += e.flops();
    rows.push_back(sial::to_json(e, v, p.instructions.sources));
    text += sial::to_text(e, v, p.instructions.sources);
    s.check_interrupt();
  }
  const auto all_json = [&] {
    return nlohmann::ordered_json{{"sial_workers", workers},    {"host_bytes", there.host},
                                  {"disk_bytes", there.beyond}, {"fits", fits},
                                  {"contraction_flops", flops}, {"programs", rows}}
               .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
           "\n";
  };
  write_results({{o.json, all_json}, {o.quiet ? "" : unless_json(o.json), [&] { return text; }}});
  return fits ? 0 : exit_code_of(error_kind::memory);
}

int run(const run_options& o) {
  if (o.file.empty() && o.init.empty())
    throw error(error_kind::usage, "neither a program nor initialization data are named", "the command line",
                "tessera sial run P.sialx --init job.toml");
  for (const auto* named : {&o.folders, &o.instruction_folders})
    for (const std::string& folder : *named) require_folder(folder);
  for (const std::string* file : {&o.dump, &o.profile})
    if (!file->empty()) require_writable(*file);
  sial::init_data data = o.init.empty() ? sial::init_data{} : sial::read_init(o.init);
  std::vector<std::string> folders = o.folders;
  if (folders.empty()) folders.push_back(".");
  std::vector<std::string> paths;
  if (!o.file.empty())
    paths.push_back(o.file);
  else
    for (const std::string& name : data.programs) paths.push_back(sial::find_program(name, folders));
  if (paths.empty())
    throw error(error_kind::input, "the initialization data name no programs", o.init,
                "name a program on the command line");

  // All are compiled before any runs: a mistake in the last program is told now, not after hours.
  std::vector<sial::job_program> programs;
  const bool has_molecule = !o.molecule.file.empty();
  for (const std::string& path : paths) {
    if (!has_molecule || sial::chemistry_program(path).empty()) sial::require_program_file(path);
    programs.push_back(sial::compile_program(path, has_molecule ? sial::chemistry_reader() : sial::file_reader(),
                                             folders, [](const std::string& text) { fmt::print(stderr, "{}", text); }));
  }
  for (const sial::job_program& p : programs)
    for (const sial::source_file& one : p.instructions.sources.files)
      require_not_written(*o.of, one.path, "the program");

  sial::instruction_registry instructions({o.instruction_folders.begin(), o.instruction_folders.end()});
  for (const std::string& library : o.instructions) instructions.load(library);
  molecule_field field;
  if (!has_molecule) field.over = sial::integrals_for(programs, data);

  command_options machine = o;
  const unsigned wanted = o.workers ? *o.workers : o.load().runtime().workers;
  // The workers of the programs are threads of their own; where memory is limited one more brings blocks that are asked
  // for early.
  machine.workers = o.load().runtime().host_limit == 0 ? 1 : 2;
  machine = machine.placed_by_cost();
  if (o.deterministic && o.has_devices())
    machine.set.push_back("runtime.deterministic=true");  // also how devices take tasks together
  session s(machine);
  sial::run_settings settings;
  settings.devices = sial::device_use_of(o.devices);
  settings.workers = wanted > 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
  settings.deterministic = o.deterministic;
  settings.ahead = o.ahead;
  settings.profile = !o.profile.empty();
  if (has_molecule) {
    const double kept = std::ranges::any_of(programs, sial::reads_repulsion) ? room_for_integrals() : -1;
    field = add_molecule(o.molecule, data, o.deterministic ? 1 : settings.workers, kept, [&s] {
      s.check_interrupt();
      return true;
    });
    return_free_memory();
    if (!o.quiet) {
      for (const std::string& note : field.notes) fmt::print(stderr, "note: {}\n", note);
      fmt::print(stderr, "note: RHF of {} in {}: {:.10f} hartree after {} iterations\n", o.molecule.file, field.basis,
                 field.energy, field.iterations);
    }
  }
  sial::add_chemistry(instructions, field.over.get());
  if (o.dry_run) return dry_run(o, s, programs, data, settings.workers);
  std::string output;  // with --json -, so that standard output is JSON
  progress* shown = nullptr;
  sial::job job(s.rt(), data, instructions, settings, [&](const std::string& text) {
    if (o.json == "-") {
      output += text;
      return;
    }
    if (shown != nullptr) shown->clear();
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  });
  s.on_interrupt([&job] { job.interrupt(); });
  const struct unwatch {
    session& watched;
    ~unwatch() { watched.on_interrupt({}); }
  } before_the_job_goes{s};
  if (!o.quiet && settings.devices == sial::device_use::always)
    for (const std::string& text : what_devices_lack(s.rt())) fmt::print(stderr, "note: {}\n", text);
  if (!o.quiet) job.note = [](const std::string& text) { fmt::print(stderr, "note: {}\n", text); };
  auto dumps = nlohmann::ordered_json::array();
  std::string profile;
  job.after = [&](const sial::program_run& done, const sial::program_report&) {
    if (!o.dump.empty()) dumps.push_back(sial::dump_of(done, o.checksums));
    if (!o.profile.empty())
      profile += o.profile.ends_with(".html") ? sial::profile_html(done) : sial::profile_text(done);
  };
  report r;
  s.describe(r);
  r.add_integer("sial_workers", "SIAL workers", settings.workers);
  if (has_molecule) {
    r.add("scf_energy", "RHF", fmt::format("{:.10f} hartree", field.energy), field.energy);
    r.note("kept_integral_bytes", field.kept_bytes);
  }
  auto rows = nlohmann::ordered_json::array();
  double seconds = 0;
  std::vector<std::string> names;
  for (const sial::job_program& p : programs) names.push_back(p.instructions.program);
  s.works_on(fmt::format("{}", fmt::join(names, ", ")));
  const sial::job_identity identity = sial::identity_of(names, data);
  std::size_t completed = 0;
  if (o.resume) {
    if (auto found = sial::load_checkpoint(o.checkpoint, identity, s.rt())) {
      completed = found->completed;
      job.items() = std::move(found->items);
    }
    if (!o.quiet) fmt::print(stderr, "note: {} of {} programs were completed before\n", completed, programs.size());
  }
  r.note("resumed_behind", completed);
  progress_rhythm rhythm;
  rhythm.where = o.progress == "always"             ? progress_where::everywhere
                 : o.quiet || o.progress == "never" ? progress_where::nowhere
                                                    : progress_where::terminals;
  const auto display = std::make_unique<progress>(
      [&job](double elapsed) {
        const auto at = job.progress();
        return at ? to_text(*at, elapsed) : std::string();
      },
      rhythm);
  shown = display.get();
  for (; completed < programs.size(); ++completed) {
    const sial::program_report done = job.run(programs[completed]);
    s.check_interrupt();
    if (!o.checkpoint.empty()) sial::save_checkpoint(o.checkpoint, identity, completed + 1, job.items());
    seconds += done.seconds;
    const sial::run_counters& c = done.counters;
    rows.push_back(metrics_of(done));
    shown->clear();
    if (o.stats) fmt::print(stderr, "{}", exchanges_text(done));
    r.add("", done.name,
          fmt::format("{:.3f} s, {} iterations, {} gets, {} puts, {:.2f} GFLOP in contractions, {:.3f} s at barriers",
                      done.seconds, c.iterations, c.gets(), c.puts(), c.flops * 1e-9, c.barrier_seconds),
          nullptr);
  }
  if (!o.dump.empty())
    write_text(o.dump, dumps.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  if (!o.profile.empty()) write_text(o.profile, profile);
  if (o.json == "-") r.note("output", output);
  r.note("programs", rows);
  r.add("seconds", "time", fmt::format("{:.3f} s", seconds), seconds);
  s.finish(r);
  return 0;
}

}  // namespace

void add_sial_run(command_table& to) {
  auto o = std::make_shared<run_options>();
  command_table& sub = to.add_command("run", "Run a program, or all programs of a job");
  sub.add(
      {{"program", &o->file, "FILE",
        "the program: a .sialx file; without it the programs of the initialization data run"},
       {"--init", &o->init, "FILE", "initialization data: constants, segment sizes, arrays; .toml, or binary (.dat)"},
       {"--sial-dir", &o->folders, "DIR", "folders with programs and what they import"},
       {"--instructions", &o->instructions, "FILE",
        "libraries of super instructions: paths, or names in the folders of --instruction-dir"},
       {"--instruction-dir", &o->instruction_folders, "DIR", "folders with such libraries"},
       {"--molecule", &o->molecule.file, "FILE",
        "a molecule with closed shells, in any file that tessera chem reads: its Hartree-Fock field is "
        "computed first, and the program is given its orbitals"},
       {"--basis",
        &o->molecule.basis,
        "NAME",
        "of --molecule: sto-3g, 3-21g, 6-31g**, cc-pvdz, aug-cc-pvdz, cc-pvtz, or a file; cc-pvdz, or what the "
        "molecule's file says",
        {.needs = {"--molecule"}}},
       {"--charge", &o->molecule.charge, "N", "of --molecule, in elementary charges", {.needs = {"--molecule"}}},
       {"--frozen-core",
        &o->molecule.frozen_core,
        "",
        "of --molecule: the core's orbitals stay doubly occupied",
        {.needs = {"--molecule"}}},
       {"--deterministic", &o->deterministic, "",
        "the same bits in every run with the same number of workers: iterations are dealt and sums are added in "
        "the same way"},
       {"--devices",
        &o->devices,
        "WHICH",
        "which block statements run on devices: those that finish sooner there (best), none (never), or all "
        "that can (always)",
        {.choices = {"best", "never", "always"}, .shows_default = true}},
       {"--dry-run",
        &o->dry_run,
        "",
        "report what the programs will need: memory, operations, whether it fits and what would make it fit; "
        "nothing runs. Ends with 7 if it does not fit",
        {.excludes = {"--profile", "--dump-final", "--checkpoint", "--trace", "--report"}}},
       {"--profile", &o->profile, "FILE",
        "write the source with times per line, as text, or as a page when the name ends in .html; - is "
        "standard output"},
       {"--look-ahead",
        &o->ahead,
        "N",
        "iterations of a pardo whose blocks are fetched before they begin, if there is a memory besides the "
        "host's; 0: none",
        {.range = between(0, 1000), .shows_default = true}},
       {"--progress",
        &o->progress,
        "WHEN",
        "show where the program is, on standard error: auto (on a terminal), always (elsewhere a line every "
        "ten seconds), never",
        {.choices = {"auto", "always", "never"}, .shows_default = true}},
       {"--dump-final", &o->dump, "FILE",
        "write the final state of each program as JSON: ints, scalars, static, distributed and served arrays; "
        "- is standard output"},
       {"--dump-checksums", &o->checksums, "", "dump sums instead of the elements with --dump-final"},
       {"--checkpoint",
        &o->checkpoint,
        "DIR",
        "after each program, write what it keeps for later ones to this folder",
        {.excludes = {"--molecule"}}},
       {"--resume",
        &o->resume,
        "",
        "continue after the last program that the folder of --checkpoint has as completed",
        {.needs = {"--checkpoint"}}}});
  o->add_run_options(sub);
  sub.footer = "Example:\n  tessera sial run transform.sialx --init transform.toml --workers 2";
  sub.run = [o] { return run(*o); };
}

}  // namespace tessera::apps
