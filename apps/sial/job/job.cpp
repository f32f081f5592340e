#include "apps/sial/job/job.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "core/base/error.hpp"

namespace tessera::sial {

namespace fs = std::filesystem;

job_program compile_program(const std::string& path, const std::vector<std::string>& folders, const std::function<void(const std::string&)>& tell) {
  if (std::error_code ignored; !fs::is_regular_file(path, ignored))
    throw error(error_kind::input, "there is no such program file", path);
  compiled c = compile(path, file_reader(), folders);
  if (!c.messages.empty()) tell(to_text(c.messages, c.sources));
  if (!c.result) {
    std::size_t errors = 0;
    for (const message& m : c.messages) errors += m.how == severity::error ? 1 : 0;
    throw error(error_kind::input, fmt::format("{} error{}", errors, errors == 1 ? "" : "s"), path);
  }
  return {path, lower(*c.result)};
}

std::string find_program(const std::string& name, const std::vector<std::string>& folders) {
  const std::string file = fs::path(name).stem().string() + ".sialx";
  std::string searched;
  for (const std::string& folder : folders) {
    const fs::path path = fs::path(folder) / file;
    if (std::error_code ignored; fs::is_regular_file(path, ignored)) return path.string();
    searched += fmt::format("{}{}", searched.empty() ? "" : ", ", folder);
  }
  throw error(error_kind::input, fmt::format("program {} of the initialization data was not found", file), {},
              searched.empty() ? "--sial-dir DIR names a folder with programs" : "searched: " + searched);
}

job::job(runtime& rt, const init_data& data, const instruction_registry& instructions, const run_settings& settings, std::function<void(const std::string&)> print)
    : m_runtime(rt), m_data(data), m_instructions(instructions), m_settings(settings), m_print(std::move(print)) {}

program_report job::run(const job_program& what) {
  program_report report{what.instructions.program, what.path, 0, {}};
  const auto began = std::chrono::steady_clock::now();
  program_run one(m_runtime, what.instructions, m_data, m_instructions, m_settings, m_items, m_sections);
  one.print = m_print;
  for (const std::string& text : one.notes)
    if (note) note(text);
  try {
    run_program(one);
  } catch (...) {
    m_runtime.scheduler().drain();  // tasks refer to the run
    throw;
  }
  m_runtime.fence();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  report.counters = one.totals;
  if (after) after(one, report);
  return report;
}

}  // namespace tessera::sial
