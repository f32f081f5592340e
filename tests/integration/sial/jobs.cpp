#include "jobs.hpp"

#include <fmt/format.h>

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
  if (!c.result) throw error(error_kind::input, "the program has errors:\n" + sial::to_text(c.messages, c.sources) + text);
  return {{{"test.sialx", sial::lower(*c.result), std::make_shared<const sial::program>(*c.result)}}};
}

sial_outcome run_job(const sial_programs& programs, const sial::init_data& data, const sial_job_settings& how) {
  runtime rt(host_only(1));
  sial_outcome outcome;
  sial::run_settings settings;
  settings.workers = how.workers;
  settings.deterministic = how.deterministic;
  const sial::instruction_registry instructions;
  sial::job job(rt, data, instructions, settings, [&](const std::string& text) { outcome.printed += text; });
  for (const sial::job_program& p : programs.all) {
    const sial::program_report done = job.run(p);
    outcome.flops += done.counters.flops;
    outcome.iterations += done.counters.iterations;
  }
  const auto used = rt.statistics();
  for (const named_space_statistics& space : used.spaces) outcome.peak_bytes += space.is.peak_bytes;
  outcome.items = job.items();
  std::erase_if(outcome.items, [](const auto& item) { return std::holds_alternative<sial::kept_blocks>(item.second); });
  return outcome;
}

sial_outcome run_text(const std::string& text, const sial::init_data& data, unsigned workers) {
  return run_job(program_from_text(text), data, {workers});
}

const sial::init_data& common_data() {
  static const sial::init_data data = sial::read_init(std::string(TESSERA_SOURCE_DIR) + "/tests/integration/sial/programs/common.toml");
  return data;
}

}  // namespace tessera::testing
