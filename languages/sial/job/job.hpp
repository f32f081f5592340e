#pragma once
// A job: programs that run one after another and hand on what they keep.
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "languages/sial/data/init_data.hpp"
#include "languages/sial/estimate/verdict.hpp"
#include "languages/sial/interpreter/program_run.hpp"
#include "languages/sial/job/terms.hpp"
#include "languages/sial/language/compile.hpp"

namespace tessera::sial {

/// A program of a job, compiled.
struct job_program {
  std::string path;
  code instructions;
  std::shared_ptr<const program> checked = {};  ///< for estimates
};

/// Throws tessera::error (input) where a path names no file of a program.
void require_program_file(const std::string& path);

/// Compiles one file. Messages go to `tell`, warnings too. Throws tessera::error (input) when there are errors: how
/// many.
job_program compile_program(const std::string& path, const std::vector<std::string>& folders,
                            const std::function<void(const std::string&)>& tell);
/// The same with what `read` finds.
job_program compile_program(const std::string& path, const reader& read, const std::vector<std::string>& folders,
                            const std::function<void(const std::string&)>& tell);

/// The file of a program that initialization data name ("scf.siox"): the stem with ".sialx", in the first of the
/// folders that has it. Throws tessera::error (input) with the folders.
std::string find_program(const std::string& name, const std::vector<std::string>& folders);

/// What a program will need, without running it. `kept`: by programs before; what it keeps itself is entered. Throws
/// tessera::error (input) as geometry does.
program_estimate estimate_program(const job_program& what, const init_data& data, const estimate_settings& how,
                                  kept_estimates& kept);

/// How one program went.
struct program_report {
  std::string name, path;
  double seconds = 0;
  double device_seconds = 0;  ///< that the tasks of its statements took on devices
  run_counters counters;
  std::vector<term_report> terms;  ///< with run_settings::profile
};

/// Where a program is.
struct job_progress {
  struct loop {
    std::string where;  ///< "file:12"
    std::int64_t done = 0, total = 0;
    double seconds = 0;  ///< since it began
  };
  std::string program;
  std::optional<loop> outer;  ///< the outermost do that is open
  std::optional<loop> pardo;  ///< the one that was begun last; `done`: of all combinations of its indices
};
/// "first, do first.sialx:10: 2 of 50, pardo first.sialx:12: 300 of 1000 (30 %), 12 s, about 4 min 10 s left".
std::string to_text(const job_progress& at, double seconds);

/// Runs programs in their order on one runtime.
class job {
 public:
  /// All must outlive it. `print`: what programs print, in order.
  job(runtime& rt, const init_data& data, const instruction_registry& instructions, const run_settings& settings,
      std::function<void(const std::string&)> print);

  /// Called behind the end of each program, while its arrays are there.
  std::function<void(const program_run&, const program_report&)> after;

  /// Of workers in other processes too, which run the same programs; it outlives the job. Null: all are threads of this
  /// process.
  exchange* with_others = nullptr;

  /// Called with what the user should know before a program starts; may be empty.
  std::function<void(const std::string&)> note;

  /// Throws tessera::error as run_program. When memory ends, the error says what is needed and which settings make it
  /// fit.
  program_report run(const job_program& what);

  kept_items& items() noexcept { return m_items; }
  const kept_items& items() const noexcept { return m_items; }

  /// Ends the program that runs: its run throws tessera::error (interrupted). From any thread.
  void interrupt();
  /// Of the program that runs; from any thread.
  std::optional<job_progress> progress() const;

 private:
  [[noreturn]] void tell_out_of_memory(const job_program& what, const error& why) const;

  runtime& m_runtime;
  const init_data& m_data;
  const instruction_registry& m_instructions;
  run_settings m_settings;
  std::function<void(const std::string&)> m_print;
  kept_items m_items;
  mutable std::mutex m_running_lock;
  program_run* m_running = nullptr;
  bool m_interrupted = false;
  std::atomic<std::uint64_t> m_sections{1};
};

}  // namespace tessera::sial
