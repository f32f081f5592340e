#pragma once
// A runtime for one command, with everything that a command shows.
#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "apps/common/command_options.hpp"
#include "apps/common/interrupt.hpp"
#include "apps/common/report.hpp"
#include "libraries/progress/progress.hpp"
#include "tessera/machine.hpp"
#include "tessera/tessera.hpp"

namespace tessera::apps {

/// What plugins, the machine and the runtime have to say to the user, as notes on standard error.
log_function log_to_stderr(bool quiet);

/// Opens the configured machine, starts the runtime, watches for Ctrl-C (which cancels: fence then throws
/// `interrupted`). Notes about the machine go to standard error. Throws also when the file for JSON cannot be written,
/// before anything runs.
class session {
 public:
  explicit session(const command_options& options);
  ~session();

  runtime& rt() noexcept { return *m_runtime; }
  const runtime& rt() const noexcept { return *m_runtime; }
  const command_options& options() const noexcept { return m_options; }
  /// The first lines of every report: machine, plugins, BLAS kernel set.
  void describe(report& to) const;
  /// Throws tessera::error (memory) when all memories together cannot hold so many bytes of blocks. `what` names them:
  /// "the tiles of A".
  void require_memory(double bytes, const std::string& what, const char* hint = nullptr) const;
  /// Throws tessera::error (interrupted) after Ctrl-C; for long work outside of tasks.
  void check_interrupt() const;
  /// Ctrl-C calls this too, on a thread of its own; at once when it has come already. Empty: nothing any more, and it
  /// is not under way.
  void on_interrupt(std::function<void()> stop);
  /// SIGHUP calls this, on a thread of its own. Empty: nothing any more, it is not under way, and SIGHUP is like
  /// Ctrl-C.
  void on_hang_up(std::function<void()> reread);
  /// HTML for the page of --report, in front of the timeline: sections of what the command found.
  void add_to_page(const std::string& sections) { m_page_sections += sections; }
  /// The speed of memory, which a recording tells, is measured with no more than so many bytes.
  void measure_with(double bytes) { m_for_rates = bytes; }
  /// What the command works on, for the title of its recording: a program's name.
  void works_on(const std::string& what) { m_what = what; }
  /// A file of the command's own, which `finish` writes with the others.
  void add_file(const std::string& path, const std::string& text) {
    add_file(path, [text] { return text; });
  }
  /// Likewise; the text is made when it is written, so that it takes no memory before.
  void add_file(const std::string& path, std::function<std::string()> text) {
    m_files.push_back({path, std::move(text)});
  }
  /// Prints the report, the statistics and the JSON, and writes the trace and its page, as the options ask. Throws
  /// tessera::error (interrupted) after Ctrl-C.
  /// @param before_report called when all files but the JSON have been written: it may add to the report
  void finish(report& r, std::function<void()> before_report = {});

 private:
  void add_trace(std::vector<result_file>& to, const report& r) const;
  void add_rates(trace::timeline& to) const;  ///< of the host, measured now: what tasks could have had at most
  void add_findings(report& to) const;
  bool begin_to_reread();
  void tell_findings() const;  ///< when the command ends with an error

  command_options m_options;
  std::atomic<bool> m_interrupted{false};
  std::mutex m_stop_lock;
  runtime* m_started = nullptr;  ///< for the watching thread; under m_stop_lock, like the next two
  bool m_ending = false;
  std::function<void()> m_stop, m_reread;
  std::thread m_rereader;
  std::unique_ptr<interrupt_watch> m_watch;
  std::unique_ptr<runtime> m_runtime;
  bool m_finished = false;
  double m_for_rates = std::numeric_limits<double>::infinity();
  std::string m_page_sections, m_what;
  std::vector<result_file> m_files;
};

/// Tiles along one side: at most 1024, so that descriptions of tiles stay small beside the data. Throws tessera::error
/// (usage).
void check_tiles(std::int64_t extent, std::int64_t tile);

/// Pseudo-random numbers in [-0.5, 0.5) that depend on position and seed only, so that blocks can be made in any order.
inline double noise(std::uint64_t seed, std::uint64_t i, std::uint64_t j) noexcept {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15ull + (i << 32 | j);  // splitmix64's finalizer over the position
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-53 - 0.5;
}

}  // namespace tessera::apps
