#pragma once
// A job: programs that run one after another and hand on what they keep.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/sial/data/init_data.hpp"
#include "apps/sial/interpreter/program_run.hpp"
#include "apps/sial/language/compile.hpp"

namespace tessera::sial {

/// A program of a job, compiled.
struct job_program {
  std::string path;
  code instructions;
};

/// Compiles one file. Messages go to `tell`, warnings too. Throws tessera::error (input) when there are errors: how many.
job_program compile_program(const std::string& path, const std::vector<std::string>& folders, const std::function<void(const std::string&)>& tell);

/// The file of a program that initialization data name ("scf.siox"): the stem with ".sialx", in the first of the folders that
/// has it. Throws tessera::error (input) with the folders.
std::string find_program(const std::string& name, const std::vector<std::string>& folders);

/// How one program went.
struct program_report {
  std::string name, path;
  double seconds = 0;
  run_counters counters;
};

/// Runs programs in their order on one runtime.
class job {
 public:
  /// All must outlive it. `print`: what programs print, in order.
  job(runtime& rt, const init_data& data, const instruction_registry& instructions, const run_settings& settings, std::function<void(const std::string&)> print);

  /// Called behind the end of each program, while its arrays are there.
  std::function<void(const program_run&, const program_report&)> after;

  /// Called with what the user should know before a program starts; may be empty.
  std::function<void(const std::string&)> note;

  /// Throws tessera::error as run_program.
  program_report run(const job_program& what);

  kept_items& items() noexcept { return m_items; }

 private:
  runtime& m_runtime;
  const init_data& m_data;
  const instruction_registry& m_instructions;
  run_settings m_settings;
  std::function<void(const std::string&)> m_print;
  kept_items m_items;
  std::atomic<std::uint64_t> m_sections{1};
};

}  // namespace tessera::sial
