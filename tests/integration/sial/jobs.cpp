#include "jobs.hpp"

#include <fmt/format.h>

#include "languages/sial/job/profile.hpp"
#include "tests/integration/runtime/machines.hpp"

namespace tessera::testing {

std::vector<std::string> sial_programs::printing_lines(std::uint32_t number) const {
  std::vector<std::string> lines;
  for (const sial::job_program& p : all)
    for (const sial::source_file& f : p.instructions.sources.files)
      if (number >= 1 && number <= f.lines.size()) lines.push_back(f.lines[number - 1]);
  return lines;
}

sial_programs programs_from_files(const std::vector<std::string>& paths) {
  sial_programs programs;
  for (const std::string& path : paths) {
    std::string told;
    try {
      programs.all.push_back(sial::compile_program(path, {}, [&](const std::string& text) { told += text; }));
    } catch (const error& e) {
      throw error(e.kind(), e.message() + "\n" + told, e.where());
    }
  }
  return programs;
}

sial_programs program_from_text(const std::string& text) {
  const sial::compiled c = sial::compile("test.sialx", [&](const std::string& path) -> std::optional<std::string> {
    return path == "test.sialx" ? std::optional(text) : std::nullopt;
  });
  if (!c.result)
    throw error(error_kind::input, "the program has errors:\n" + sial::to_text(c.messages, c.sources) + text);
  return {{{"test.sialx", sial::lower(*c.result), std::make_shared<const sial::program>(*c.result)}}};
}

namespace {

machine machine_for(const std::string& name) {
  const std::string keys = "placement = \"cost\"\nhistory = \"off\"\n";
  if (name == "host") return host_only(1);
  if (name == "two hosts") return machine_of("plugins = [\"host\"]\n" + keys + two_hosts, 4);
  if (name == "sim") return with_sims(1, "64 MiB", false, 1, keys);
  if (name == "two sims") return with_sims(2, "64 MiB", true, 1, keys);
  if (name == "cuda_emulated" || name == "opencl") return with_gpus(name, 1, "64 MiB", keys);
  return machine_of(keys + name, 1);
}

}  // namespace

sial_outcome run_job(const sial_programs& programs, const sial::init_data& data, const sial_job_settings& how) {
  runtime rt(machine_for(how.machine));
  sial_outcome outcome;
  sial::run_settings settings;
  settings.workers = how.workers;
  settings.deterministic = how.deterministic;
  settings.devices = how.devices;
  settings.profile = how.machine != "host";
  sial::instruction_registry instructions;
  instructions.add(how.instructions);
  sial::job job(rt, data, instructions, settings, [&](const std::string& text) { outcome.printed += text; });
  job.after = [&](const sial::program_run& done, const sial::program_report& report) {
    outcome.counters += report.counters;
    for (const auto& statement : done.sources) {
      outcome.device_tasks += statement->device_tasks;
      outcome.device_nanoseconds += statement->device_nanoseconds;
    }
    outcome.profile += sial::profile_text(done);
  };
  for (const sial::job_program& p : programs.all) job.run(p);
  const auto used = rt.statistics();
  for (const named_space_statistics& space : used.spaces) outcome.peak_bytes += space.statistics.peak_bytes;
  outcome.items = job.items();
  std::erase_if(outcome.items, [](const auto& item) { return std::holds_alternative<sial::kept_blocks>(item.second); });
  return outcome;
}

sial_outcome run_text(const std::string& text, const sial::init_data& data, unsigned workers) {
  return run_text(text, data, {.workers = workers});
}

sial_outcome run_text(const std::string& text, const sial::init_data& data, const sial_job_settings& how) {
  return run_job(program_from_text(text), data, how);
}

const sial::init_data& common_data() {
  static const sial::init_data data =
      sial::read_init(std::string(TESSERA_SOURCE_DIR) + "/tests/integration/sial/programs/common.toml");
  return data;
}

}  // namespace tessera::testing
