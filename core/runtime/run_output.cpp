#include "core/runtime/run_output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"
#include "core/trace/chrome.hpp"
#include "core/trace/report.hpp"
#include "core/trace/summary.hpp"
#include "core/trace/timeline.hpp"
#include "tessera/detail/runtime.hpp"
#include "tessera/detail/statistics.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

/// `%p` is the number of the process, `%%` a percent sign.
std::string with_process_number(const std::string& name) {
  std::string text;
  for (std::size_t k = 0; k < name.size(); ++k) {
    const char next = name[k] == '%' && k + 1 < name.size() ? name[k + 1] : '\0';
    if (next == 'p')
      text += std::to_string(::getpid());
    else
      text += name[k];
    if (next == 'p' || next == '%') ++k;
  }
  return text;
}

fs::path absolute_name(const std::string& name) { return fs::absolute(with_process_number(name)).lexically_normal(); }

/// What the runtimes of a process have in common: names of files, and an end by exit that some of them outlive.
class process_output {
 public:
  static process_output& the() {
    static auto& one = *std::make_unique<process_output>().release();  // outlives what ends at exit
    return one;
  }

  /// How many runtimes have had a name before.
  std::size_t uses_before(const fs::path& name) {
    const std::lock_guard guard(m_mutex);
    return m_uses[name]++;
  }
  void watch(run_output& output, const runtime& of) {
    const std::lock_guard guard(m_mutex);
    if (!m_registered) m_registered = std::atexit([] { the().write_all(); }) == 0;
    m_watched.emplace(&output, &of);
  }
  void leave(run_output& output) noexcept {
    if (::getpid() != m_process) return;  // a child, where the mutex may stay locked
    const std::lock_guard guard(m_mutex);
    m_watched.erase(&output);
  }

 private:
  void write_all() noexcept {
    if (::getpid() != m_process) return;  // the runtimes are its parent's
    const std::lock_guard guard(m_mutex);
    for (const auto& [output, of] : m_watched) output->write(*of);
  }

  std::mutex m_mutex;
  const pid_t m_process = ::getpid();
  std::map<fs::path, std::size_t> m_uses;
  std::map<run_output*, const runtime*> m_watched;
  bool m_registered = false;
};

[[noreturn]] void refuse(std::string_view key, const std::string& what, const std::string& hint) {
  throw error(error_kind::configuration, fmt::format("{}: {}", key, what), {}, hint);
}

/// "first", or "first, runtime 2" where the process has had others before.
std::string title_of(const runtime& of) {
  const std::string program = ::program_invocation_short_name;
  return of.serial() == 1 ? program : fmt::format("{}, runtime {}", program, of.serial());
}

}  // namespace

run_file run_file::take(std::string_view key, const std::string& name) {
  if (name.empty()) return {};
  if (name == "-") refuse(key, "a page or a recording goes to a file, not to standard output", "name a file");
  const fs::path asked = absolute_name(name);
  if (const std::error_code reason = check_writable(asked))
    refuse(key, fmt::format("cannot write '{}': {}", asked.string(), reason.message()),
           std::string(hint_for_writing(reason)));
  const std::size_t before = process_output::the().uses_before(asked);
  if (before == 0) return {asked, false};
  return {asked.parent_path() / fmt::format("{}.{}{}", asked.stem().string(), before + 1, asked.extension().string()),
          true};
}

std::unique_ptr<run_output> run_output::begin(machine& of) {
  config::runtime_settings& settings = of.settings;
  if (settings.report.empty() && settings.trace_file.empty() && !settings.stats) return nullptr;
  if (!settings.report.empty() && !settings.trace_file.empty() &&
      absolute_name(settings.report) == absolute_name(settings.trace_file))
    refuse("runtime.report", fmt::format("'{}' is also the file of runtime.trace_file", settings.report),
           "give each a file of its own");
  auto output = std::make_unique<run_output>();
  output->m_page = run_file::take("runtime.report", settings.report);
  output->m_recording = run_file::take("runtime.trace_file", settings.trace_file);
  output->m_prints_statistics = settings.stats;
  output->m_log = of.log;
  settings.trace = settings.trace || !output->m_page.path.empty() || !output->m_recording.path.empty();
  return output;
}

run_output::~run_output() { leave(); }
void run_output::watch(const runtime& of) { process_output::the().watch(*this, of); }
void run_output::leave() noexcept { process_output::the().leave(*this); }

void run_output::write_file(const run_file& to, const std::string& what, const std::string& text) const {
  if (const std::error_code reason = write_whole_file(to.path, {text}))
    say(m_log, 2, fmt::format("{} cannot be written to {}: {}", what, to.path.string(), reason.message()));
  else
    say(m_log, to.is_renamed ? 2 : 1, fmt::format("{} is in {}", what, to.path.string()));
}

void run_output::write(const runtime& of) noexcept try {
  const std::string title = title_of(of);
  if (std::exchange(m_prints_statistics, false)) {
    const std::string text = fmt::format("statistics of {}\n{}", title, to_text(of.statistics()));
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  if (m_page.path.empty() && m_recording.path.empty()) return;
  const trace::timeline recorded = of.timeline(title);
  if (!m_page.path.empty()) {
    std::ostringstream page;
    trace::write_report(page, recorded, trace::summarize(recorded));
    write_file(m_page, "the report of " + title, std::move(page).str());
  }
  if (!m_recording.path.empty()) {
    std::ostringstream text;
    trace::write_chrome(text, recorded);
    write_file(m_recording, "the recording of " + title, std::move(text).str());
  }
} catch (const std::exception& e) {  // no memory for a page; a log that throws
  std::fprintf(stderr, "tessera: what was recorded is lost: %s\n", e.what());
}

}  // namespace tessera
