// tessera sial run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/common/session.hpp"
#include "apps/sial/command/parts.hpp"
#include "apps/sial/data/init_file.hpp"
#include "apps/sial/job/checkpoint.hpp"
#include "apps/sial/job/dump.hpp"
#include "apps/sial/job/job.hpp"
#include "apps/sial/job/profile.hpp"

namespace tessera::apps {
namespace {

struct run_options : command_options {
  std::string file, init;
  std::vector<std::string> folders;
  bool deterministic = false, checksums = false;
  bool resume = false;
  unsigned ahead = 4;
  std::string dump, checkpoint, profile;
  std::string devices = "best";
  std::vector<std::string> instructions, instruction_folders;
};

const std::map<std::string, sial::device_use> device_uses{
    {"best", sial::device_use::best}, {"never", sial::device_use::never}, {"always", sial::device_use::always}};

/// Which place is done first is what counts for statements; unless the user wants another placement.
void place_by_cost(command_options& machine, const config::document& configured, bool deterministic) {
  const bool devices = std::ranges::any_of(configured.runtime().plugins, [](const std::string& name) { return name != "host" && name != "disk"; });
  if (!devices) return;
  if (configured.origin("runtime.placement") == "default") machine.set.push_back("runtime.placement=cost");
  if (deterministic) machine.set.push_back("runtime.deterministic=true");  // also how devices take tasks together
}

int run(const run_options& o) {
  if (o.file.empty() && o.init.empty())
    throw error(error_kind::usage, "neither a program nor initialization data are named", "the command line", "tessera sial run P.sialx --init job.toml");
  for (const std::string* file : {&o.dump, &o.profile})
    if (!file->empty()) require_writable(*file);
  const sial::init_data data = o.init.empty() ? sial::init_data{} : sial::read_init(o.init);
  std::vector<std::string> folders = o.folders;
  if (folders.empty()) folders.push_back(".");
  std::vector<std::string> paths;
  if (!o.file.empty()) paths.push_back(o.file);
  else
    for (const std::string& name : data.programs) paths.push_back(sial::find_program(name, folders));
  if (paths.empty()) throw error(error_kind::input, "the initialization data name no programs", o.init, "name a program on the command line");

  // All are compiled before any runs: a mistake in the last program is told now, not after hours.
  std::vector<sial::job_program> programs;
  for (const std::string& path : paths)
    programs.push_back(sial::compile_program(path, folders, [](const std::string& text) { fmt::print(stderr, "{}", text); }));

  sial::instruction_registry instructions({o.instruction_folders.begin(), o.instruction_folders.end()});
  for (const std::string& library : o.instructions) instructions.load(library);

  command_options machine = o;
  const unsigned wanted = o.workers ? *o.workers : o.load().runtime().workers;
  // The workers of the programs are threads of their own; where memory is limited one more brings blocks that are asked for early.
  machine.workers = o.load().runtime().host_limit == 0 ? 1 : 2;
  place_by_cost(machine, o.load(), o.deterministic);
  session s(machine);
  sial::run_settings settings;
  settings.devices = device_uses.at(o.devices);
  settings.workers = wanted > 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
  settings.deterministic = o.deterministic;
  settings.ahead = o.ahead;
  settings.profile = !o.profile.empty();
  std::string output;  // with --json -, so that standard output is JSON
  sial::job job(s.rt(), data, instructions, settings, [&](const std::string& text) {
    if (o.json == "-") {
      output += text;
      return;
    }
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  });
  if (!o.quiet) job.note = [](const std::string& text) { fmt::print(stderr, "note: {}\n", text); };
  auto dumps = nlohmann::ordered_json::array();
  double device_seconds = 0;  // of the program that ran last
  std::string profile;
  job.after = [&](const sial::program_run& done, const sial::program_report&) {
    device_seconds = 0;
    for (const auto& statement : done.sources) device_seconds += static_cast<double>(statement->device_nanoseconds) * 1e-9;
    if (!o.dump.empty()) dumps.push_back(sial::dump_of(done, o.checksums));
    if (!o.profile.empty()) profile += o.profile.ends_with(".html") ? sial::profile_html(done) : sial::profile_text(done);
  };
  report r;
  s.describe(r);
  r.add_integer("sial_workers", "SIAL workers", settings.workers);
  auto rows = nlohmann::ordered_json::array();
  double seconds = 0;
  std::vector<std::string> names;
  for (const sial::job_program& p : programs) names.push_back(p.instructions.program);
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
  for (; completed < programs.size(); ++completed) {
    const sial::program_report done = job.run(programs[completed]);
    s.check_interrupt();
    if (!o.checkpoint.empty()) sial::save_checkpoint(o.checkpoint, identity, completed + 1, job.items());
    seconds += done.seconds;
    const sial::run_counters& c = done.counters;
    rows.push_back({{"program", done.name}, {"file", done.path}, {"seconds", done.seconds}, {"iterations", c.iterations}, {"gets", c.gets}, {"puts", c.puts},
                    {"contraction_flops", c.flops}, {"blocks_taken", c.blocks_taken}, {"blocks_reused", c.blocks_reused}, {"barrier_seconds", c.barrier_seconds}, {"first_reads", c.first_reads}, {"ready_reads", c.ready_reads}, {"asked_early", c.asked_early},
                    {"block_seconds", c.block_seconds}, {"statements_on_devices", c.on_devices}, {"statements_in_place", c.in_place}, {"device_seconds", device_seconds}});
    if (o.stats && c.on_devices + c.in_place > 0)
      fmt::print(stderr, "{}: {} of {} block statements ran on devices, {:.6f} s there\n", done.name, c.on_devices, c.on_devices + c.in_place, device_seconds);
    if (o.stats)
      fmt::print(stderr, "{}: {} of {} blocks were here when they were first read ({} asked for early), {:.6f} s waited for blocks; {} of {} temporary blocks reused\n", done.name,
                 c.ready_reads, c.first_reads, c.asked_early, c.block_seconds, c.blocks_reused, c.blocks_taken);
    r.add("", done.name, fmt::format("{:.3f} s, {} iterations, {} gets, {} puts, {:.2f} GFLOP in contractions, {:.3f} s at barriers", done.seconds, c.iterations,
                                     c.gets, c.puts, c.flops * 1e-9, c.barrier_seconds), nullptr);
  }
  if (!o.dump.empty()) write_text(o.dump, dumps.dump(1) + "\n");
  if (!o.profile.empty()) write_text(o.profile, profile);
  if (o.json == "-") r.note("output", output);
  r.note("programs", rows);
  r.add("seconds", "time", fmt::format("{:.3f} s", seconds), seconds);
  s.finish(r);
  return 0;
}

}  // namespace

void add_sial_run(CLI::App& to, command& selected) {
  auto o = std::make_shared<run_options>();
  CLI::App& sub = *to.add_subcommand("run", "Run a program, or all programs of a job");
  sub.add_option("program", o->file, "the program: a .sialx file; without it those of the initialization data run")->type_name("FILE");
  sub.add_option("--init", o->init, "initialization data: constants, segment sizes, arrays; .toml, or binary (.dat)")->type_name("FILE");
  sub.add_option("--sial-dir", o->folders, "folders with programs and what they import")->type_name("DIR");
  sub.add_option("--instructions", o->instructions, "libraries of super instructions: paths, or names that --instruction-dir has")->type_name("FILE");
  sub.add_option("--instruction-dir", o->instruction_folders, "folders with such libraries")->type_name("DIR");
  sub.add_flag("--deterministic", o->deterministic, "the same bits in every run with as many workers: iterations are dealt out, and sums are added up, in the same way");
  sub.add_option("--devices", o->devices, "which block statements run on devices: those that are done sooner there (best), none, or all that can")
      ->type_name("WHICH")->capture_default_str()->check(CLI::IsMember({"best", "never", "always"}));
  sub.add_option("--profile", o->profile, "write the source with times per line, as text, or as a page when the name ends in .html; - is standard output")
      ->type_name("FILE");
  sub.add_option("--look-ahead", o->ahead, "iterations of a pardo whose blocks are asked for before they begin, where memory is limited")
      ->type_name("N")->capture_default_str()->check(CLI::Range(0, 1000));
  sub.add_option("--dump-final", o->dump, "write what each program left as JSON: ints, scalars, static, distributed and served arrays; - is standard output")
      ->type_name("FILE");
  sub.add_flag("--dump-checksums", o->checksums, "sums instead of the elements in --dump-final");
  CLI::Option* const folder = sub.add_option("--checkpoint", o->checkpoint, "write what programs keep for later ones to this folder, behind each")->type_name("DIR");
  sub.add_flag("--resume", o->resume, "go on behind the last program that the folder of --checkpoint has as completed")->needs(folder);
  o->add_run_options(sub);
  sub.footer("Example:\n  tessera sial run hello.sialx --init job.toml --workers 2");
  sub.callback([o, &selected] { selected = [o] { return run(*o); }; });
}

}  // namespace tessera::apps
