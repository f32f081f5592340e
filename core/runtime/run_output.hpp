#pragma once
// What a runtime tells of its run when it ends, without code in the program: runtime.report, trace_file and stats.
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/runtime/machine.hpp"

namespace tessera {

class runtime;

/// A file that a runtime of this process writes when it ends.
struct run_file {
  std::filesystem::path path;  ///< absolute; empty: not asked for
  bool is_renamed = false;     ///< another runtime of the process has the name that was asked for

  /// The file for the value of a key: `%p` in it is the process's number. Where runtimes of the process have had the
  /// name before, ".2", ".3" and so on stand before its extension. Throws tessera::error (configuration) when it cannot
  /// be written.
  static run_file take(std::string_view key, const std::string& name);
};

/// The files and the text that the settings of one runtime ask for.
class run_output {
 public:
  /// Takes names for the files, and turns recording on where there is one. Null where nothing is asked for. Throws
  /// tessera::error (configuration) for a file that cannot be written, and for one file under both keys.
  static std::unique_ptr<run_output> begin(machine& of);

  run_output() = default;  ///< of nothing
  ~run_output();
  run_output(const run_output&) = delete;
  run_output& operator=(const run_output&) = delete;

  /// From now on what is known then is written when the process ends by exit, unless the runtime has ended before.
  void watch(const runtime& of);
  /// Ends that.
  void leave() noexcept;
  /// Writes all of it; the statistics once. What fails makes a line of the log.
  void write(const runtime& of) noexcept;

 private:
  void write_file(const run_file& to, const std::string& what, const std::string& text) const;

  run_file m_page, m_recording;
  bool m_prints_statistics = false;
  log_function m_log;
};

}  // namespace tessera
