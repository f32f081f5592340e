#include "apps/common/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "apps/common/machine_rates.hpp"
#include "core/base/units.hpp"
#include "core/trace/chrome.hpp"
#include "core/trace/report.hpp"
#include "tessera/validation.hpp"

namespace tessera::apps {
namespace {

constexpr const char* stopped = "stopped by Ctrl-C before it was done";

}  // namespace

log_function log_to_stderr(bool quiet) {
  return [quiet](int level, const std::string& line) {
    if (level >= 2 && !quiet) fmt::print(stderr, "note: {}\n", line);
  };
}

session::session(const command_options& options) : m_options(options) {
  if (!options.json.empty()) require_writable(options.json);
  for (const std::string* file : {&options.trace, &options.report}) {
    if (*file == "-")
      throw error(error_kind::usage, "a trace and its page go to a file, not to standard output", "the command line",
                  "name a FILE");
    if (!file->empty()) require_writable(*file);
  }
  // The watch comes first: threads that the machine and the runtime start inherit the blocked signals.
  m_watch = std::make_unique<interrupt_watch>(
      [this] {
        m_interrupted = true;
        const std::lock_guard guard(m_stop_lock);  // while it is held, the runtime does not go
        if (m_stop) m_stop();
        if (m_started != nullptr)
          m_started->cancel(stopped);
        else if (!m_ending)
          _exit(exit_code_of(error_kind::interrupted));  // nothing has begun
      },
      interrupt_watch::usual_grace, [this] { return begin_to_reread(); });
  machine m = hierarchy::assemble(options.load(), log_to_stderr(options.quiet));
  if (!options.quiet)
    for (const std::string& note : m.notes) fmt::print(stderr, "note: {}\n", note);
  m_options.take_files(m.settings);
  m.settings.validate = m.settings.validate || options.validate;
  m_runtime = std::make_unique<runtime>(std::move(m));
  if (options.stats) m_runtime->time_tasks(true);
  const std::lock_guard guard(m_stop_lock);
  m_started = m_runtime.get();
  if (m_interrupted) m_started->cancel(stopped);
}

session::~session() {
  if (m_runtime && m_runtime->validates() && !m_finished) tell_findings();
  {
    const std::lock_guard guard(m_stop_lock);
    m_started = nullptr;
    m_ending = true;
  }
  m_runtime.reset();  // watched still: what hangs may keep it
  m_watch.reset();
}

void session::add_findings(report& to) const {
  const std::vector<validate::finding> all = m_runtime->findings();
  auto rows = nlohmann::ordered_json::array();
  const auto place = [](const validate::participant& p) -> nlohmann::ordered_json {
    if (p.description.empty()) return nullptr;
    return {{"what", p.description}, {"file", p.file}, {"line", p.line}, {"use", p.use}};
  };
  for (const validate::finding& f : all)
    rows.push_back({{"kind", validate::name_of(f.fault)},
                    {"text", f.text},
                    {"here", place(f.here)},
                    {"there", place(f.there)},
                    {"hint", f.hint},
                    {"times", f.times}});
  to.add("validation", "validation", all.empty() ? "nothing found" : fmt::format("{} findings", all.size()), rows);
}

void session::tell_findings() const {
  const std::vector<validate::finding> all = m_runtime->findings();
  if (all.empty()) return;
  fmt::print(stderr, "validation: {} finding{}\n{}", all.size(), all.size() == 1 ? "" : "s", validate::to_text(all));
  if (m_options.json.empty()) return;
  report r;
  add_findings(r);
  try {
    write_text(m_options.json, r.to_json());
  } catch (const error& e) {
    fmt::print(stderr, "note: {}\n", e.what());
  }
}

void session::describe(report& to) const {
  to.add("topology", "machine", m_runtime->topology_line());
  to.add("plugins", "plugins", m_runtime->plugin_line());
  std::string kernels = "none";
  for (const auto& d : m_runtime->plugins().devices())
    if (d->blas() != nullptr && d->blas()->library != nullptr) {
      kernels = d->blas()->library;
      break;
    }
  to.add("blas", "BLAS", kernels);
  to.note("workers", m_runtime->workers());
  to.note("seed", m_options.seed);
}

void session::require_memory(double bytes, const std::string& what, const char* hint) const {
  double all = 0;
  for (const auto& space : m_runtime->statistics().spaces) all += static_cast<double>(space.statistics.limit_bytes);
  if (bytes > all)
    throw error(
        error_kind::memory,
        fmt::format("{} take {}, and all memories together hold {}", what, format_bytes(bytes), format_bytes(all)), {},
        fmt::format("{}, or raise memory.host_limit, or the limit of the process (ulimit -v), if one is set",
                    hint != nullptr ? hint : "choose a smaller problem"));
}

void session::check_interrupt() const {
  if (m_interrupted) throw error(error_kind::interrupted, stopped);
}

void session::on_interrupt(std::function<void()> stop) {
  const std::lock_guard guard(m_stop_lock);
  m_stop = std::move(stop);
  if (m_stop && m_interrupted) m_stop();
}

void session::on_hang_up(std::function<void()> reread) {
  std::thread under_way;
  {
    const std::lock_guard guard(m_stop_lock);
    m_reread = std::move(reread);
    if (!m_reread) under_way = std::move(m_rereader);
  }
  if (under_way.joinable()) under_way.join();
}

bool session::begin_to_reread() {
  const std::lock_guard guard(m_stop_lock);
  if (!m_reread) return false;
  if (m_rereader.joinable()) m_rereader.join();
  m_rereader = std::thread(m_reread);
  return true;
}

void session::finish(report& r, std::function<void()> before_report) {
  check_interrupt();
  m_runtime->fence();  // what validation found since the last one
  m_finished = true;
  const statistics s = m_runtime->statistics();
  r.add_statistics(s);
  if (s.losses.devices > 0)
    r.add("", "lost",
          fmt::format("{} device{}, and {} blocks with them", s.losses.devices, s.losses.devices == 1 ? "" : "s",
                      s.losses.blocks),
          nullptr);
  if (m_runtime->validates()) add_findings(r);
  if (m_options.stats && m_options.json == "-") fmt::print(stderr, "\n{}", to_text(s));
  const std::string printed = unless_json(m_options.json);
  const auto complete = [&] {
    if (before_report) std::exchange(before_report, nullptr)();
  };
  std::vector<result_file> results = std::move(m_files);
  if (!m_options.trace.empty() || !m_options.report.empty()) add_trace(results, r);
  results.push_back({m_options.quiet ? "" : printed, [&] {
                       complete();
                       return r.to_text();
                     }});
  results.push_back({m_options.stats ? printed : "", [&] { return "\n" + to_text(s); }});
  results.push_back({m_options.json, [&] {
                       complete();
                       return r.to_json();
                     }});
  write_results(results);
}

void session::add_rates(trace::timeline& to) const {
  double data = 0;
  bool computes = false;
  std::vector<bool> seen(to.blocks.size());  // what stayed in caches is to stay there again
  for (const trace::use& u : to.uses)
    if (!seen[u.block]) seen[u.block] = true, data += static_cast<double>(u.bytes);
  for (const trace::task& t : to.tasks) computes = computes || t.flops > 0;
  if (data == 0 && !computes) return;
  data = std::min(data, m_for_rates);
  place_rates rates;
  try {
    rates = measure_rates({.workers = m_runtime->workers(), .data = data, .arithmetic = computes}, {}).host;
  } catch (const error&) {  // no memory beside the run's: there are no rates, and a recording nevertheless
  }
  const double together = std::min<double>(m_runtime->workers(), std::max(std::thread::hardware_concurrency(), 1u));
  for (auto& p : to.places)
    if (p.is_host) p.flops = rates.flops / together, p.bandwidth = rates.bytes / together;
}

void session::add_trace(std::vector<result_file>& to, const report& r) const {
  std::string title = "tessera " + m_options.command;
  if (!m_what.empty()) title += " " + m_what;
  for (const char* label : {"matrix", "type", "n", "size", "tile"})
    if (const std::string text = r.text_of(label); !text.empty()) title += fmt::format(", {} {}", label, text);
  const auto recorded = std::make_shared<trace::timeline>(m_runtime->timeline(title));
  add_rates(*recorded);
  to.push_back({m_options.trace, [recorded] {
                  std::ostringstream text;
                  trace::write_chrome(text, *recorded);
                  return std::move(text).str();
                }});
  to.push_back({m_options.report, [this, recorded] {
                  std::ostringstream text;
                  trace::write_report(text, *recorded, trace::summarize(*recorded), m_page_sections);
                  return std::move(text).str();
                }});
}

void check_tiles(std::int64_t extent, std::int64_t tile) {
  constexpr std::int64_t most = 1024;
  if ((extent + tile - 1) / tile > most)
    throw error(error_kind::usage, fmt::format("{} rows or columns are more than {} tiles of {}", extent, most, tile),
                "the command line", fmt::format("choose --tile {} or more", (extent + most - 1) / most));
}

}  // namespace tessera::apps
