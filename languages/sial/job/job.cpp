#include "languages/sial/job/job.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <filesystem>

#include "core/base/error.hpp"

namespace tessera::sial {

namespace fs = std::filesystem;

void require_program_file(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    throw error(error_kind::input, "this is a folder, not a program", path, "name a .sialx file in it");
  if (!fs::exists(path, ignored)) throw error(error_kind::input, "there is no such program file", path);
}

job_program compile_program(const std::string& path, const std::vector<std::string>& folders,
                            const std::function<void(const std::string&)>& tell) {
  require_program_file(path);
  return compile_program(path, file_reader(), folders, tell);
}

job_program compile_program(const std::string& path, const reader& read, const std::vector<std::string>& folders,
                            const std::function<void(const std::string&)>& tell) {
  compiled c = compile(path, read, folders);
  if (!c.messages.empty()) tell(to_text(c.messages, c.sources));
  if (!c.result) {
    std::size_t errors = 0;
    for (const message& m : c.messages) errors += m.level == severity::error ? 1 : 0;
    throw error(error_kind::input, fmt::format("{} error{}", errors, errors == 1 ? "" : "s"), path);
  }
  code instructions = lower(*c.result);
  return {path, std::move(instructions), std::make_shared<const program>(std::move(*c.result))};
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

program_estimate estimate_program(const job_program& what, const init_data& data, const estimate_settings& how,
                                  kept_estimates& kept) {
  const geometry sizes(what.instructions, data);
  estimate_settings with_data = how;
  with_data.data = &data;
  program_estimate made = estimate_of(*what.checked, what.instructions, sizes, with_data, kept);
  made.path = what.path;
  return made;
}

namespace {

std::exception_ptr interruption() {
  return std::make_exception_ptr(error(error_kind::interrupted, "stopped by Ctrl-C before it was done"));
}

kept_estimates estimates_of(const kept_items& items) {
  kept_estimates all;
  for (const auto& [label, item] : items) {
    kept_estimate& to = all[label];
    const auto* const blocks = std::get_if<kept_blocks>(&item);
    if (blocks == nullptr) continue;
    for (const std::int64_t ordinal : blocks->generation->ordinals())
      to.size += amount_of(static_cast<double>(blocks->generation->find(ordinal)->elements.extents().count()));
  }
  return all;
}

}  // namespace

void job::tell_out_of_memory(const job_program& what, const error& why) const {
  kept_estimates kept = estimates_of(m_items);
  const program_estimate e = estimate_program(what, m_data, {m_settings.workers}, kept);
  const verdict v = judge(e, offer_of(m_runtime.statistics().spaces));
  std::string hint = v.outcome == fit::does_not_fit ? v.text : "by the sizes of its blocks " + v.text;
  for (std::size_t k = 0; k < v.remedies.size(); ++k)
    hint += fmt::format("{}{}", k == 0 ? "; what makes it fit: " : "; or ", v.remedies[k]);
  if (v.outcome == fit::fits) hint += "; some room is lost between blocks of different sizes: raise memory.host_limit";
  if (v.outcome == fit::spills)
    hint += "; the disk has less room than it says, or room is lost between blocks of different sizes";
  throw error(why.kind(), why.message(), why.where(), hint);
}

job::job(runtime& rt, const init_data& data, const instruction_registry& instructions, const run_settings& settings,
         std::function<void(const std::string&)> print)
    : m_runtime(rt), m_data(data), m_instructions(instructions), m_settings(settings), m_print(std::move(print)) {}

program_report job::run(const job_program& what) {
  program_report report{what.instructions.program, what.path, 0, 0, {}, {}};
  const auto began = std::chrono::steady_clock::now();
  program_run one(m_runtime, what.instructions, m_data, m_instructions, m_settings, m_items, m_sections, with_others);
  one.print = m_print;
  for (const std::string& text : one.notes)
    if (note) note(text);
  const auto running = [this](program_run* now) {
    const std::lock_guard guard(m_running_lock);
    m_running = now;
    if (now != nullptr && m_interrupted) now->workers.fail(interruption());
  };
  try {
    running(&one);
    run_program(one);
    running(nullptr);
  } catch (const error& e) {
    running(nullptr);
    m_runtime.fence({.reports = false});  // tasks refer to the run
    if (e.kind() == error_kind::memory && what.checked) tell_out_of_memory(what, e);
    throw;
  } catch (...) {
    running(nullptr);
    m_runtime.fence({.reports = false});
    throw;
  }
  m_runtime.fence();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  report.counters = one.totals;
  for (const auto& statement : one.sources)
    report.device_seconds += static_cast<double>(statement->device_nanoseconds) * 1e-9;
  if (m_settings.profile) report.terms = terms_of(one);
  if (after) after(one, report);
  return report;
}

void job::interrupt() {
  const std::lock_guard guard(m_running_lock);
  m_interrupted = true;
  if (m_running != nullptr) m_running->workers.fail(interruption());
}

std::optional<job_progress> job::progress() const {
  const std::lock_guard guard(m_running_lock);
  if (m_running == nullptr) return std::nullopt;
  const code& c = m_running->program;
  const auto now = std::chrono::steady_clock::now();
  const auto since = [now](std::chrono::steady_clock::time_point began) {
    return std::chrono::duration<double>(now - began).count();
  };
  job_progress at{c.program, std::nullopt, std::nullopt};
  const program_run::open_loop& outer = m_running->outer;
  if (const std::int64_t total = outer.total.load(std::memory_order_acquire); total > 0)
    at.outer = {where_of(c, outer.site.load(std::memory_order_relaxed)), outer.done.load(std::memory_order_relaxed),
                total,
                since(std::chrono::steady_clock::time_point(
                    std::chrono::steady_clock::duration(outer.began.load(std::memory_order_relaxed))))};
  if (const std::shared_ptr<const loop_scheduler> latest = m_running->workers.latest())
    at.pardo = {where_of(c, c.steps[c.pardos[latest->pardo()].top - 1].site), latest->finished(), latest->candidates(),
                since(latest->began())};
  return at;
}

}  // namespace tessera::sial
