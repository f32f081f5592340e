#include "apps/common/command_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <limits>

#include "apps/common/files_apart.hpp"
#include "core/base/cache_folder.hpp"
#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"
#include "core/config/find_file.hpp"
#include "core/config/toml.hpp"
#include "core/runtime/run_output.hpp"
#include "hierarchy/machine/installed_places.hpp"

namespace tessera::apps {

void command_options::add_machine_options(command_table& to) {
  of = &to;
  // One FILE each, so that what follows it stays an argument of its own.
  to.add({{"--config",
           &config,
           "FILE",
           "TOML file that describes the machine, or the name of one that comes with Tessera, such as sim_two "
           "(repeatable; later files win)",
           {.one_each = true}},
          {"--set", &set, "KEY=VALUE", "one setting, e.g. runtime.placement=eager (repeatable)", {.one_each = true}}});
}

void command_options::add_run_options(command_table& to) {
  add_machine_options(to);
  command = to.words();
  to.add({
      {"--workers",
       &workers,
       "N",
       "threads that run tasks on the host, the waiting one included; 0: one per core",
       {.range = between(0, 65535)}},
      {"--seed",
       &seed,
       "N",
       "seed of all random numbers",
       {.range = between(0, std::numeric_limits<std::int64_t>::max()), .shows_default = true}},
      {"--json", &json, "FILE", "write all figures as JSON; - is standard output"},
      {"--trace", &trace, "FILE",
       "record the run and write it for Perfetto (ui.perfetto.dev) and `tessera trace summary`"},
      {"--report", &report, "FILE",
       "record the run and write it as an HTML page: timeline, waits, transfers, memory, critical path"},
      {"--validate", &validate, "", "look for unordered accesses, wrong intents and uses after the end; slow"},
      {"--stats", &stats, "", "print what the runtime did: tasks, transfers, memory"},
      {"--quiet", &quiet, "", "print no progress and no report (errors are still printed)"},
  });
}

namespace {

/// The files that a configuration names are no results.
void require_apart_from(const command_options& o, const command_table& of, const config::document& made) {
  const config::runtime_settings& runtime = made.runtime();
  if (o.report.empty() && !runtime.report.empty()) require_not_written(of, runtime.report, "runtime.report", "names");
  if (o.trace.empty() && !runtime.trace_file.empty())
    require_not_written(of, runtime.trace_file, "runtime.trace_file", "names");
  if (runtime.history == "auto") {
    std::error_code none;
    for (const auto& kept : std::filesystem::directory_iterator(cache_folder(), none))
      require_not_written(of, kept.path(), "placement");
  } else if (runtime.history != "off" && !runtime.history.empty()) {
    require_not_written(of, runtime.history, "placement");
  }
  for (std::string plugin : runtime.plugins) {
    if (plugin.ends_with('?')) plugin.pop_back();
    if (plugin.find('/') != std::string::npos) require_not_written(of, plugin, "runtime.plugins");
  }
  for (const std::string& file : {made.topology().xml, made.topology().declarations})
    if (!file.empty()) require_not_written(of, file, "the configuration");
}

}  // namespace

config::document command_options::load() const {
  config::sources from;
  from.files = config::find_files(std::vector<std::filesystem::path>(config.begin(), config.end()),
                                  hierarchy::default_config_directories());
  from.set = set;
  from.workers = workers;
  from.read = [this, known = pipes](const std::filesystem::path& file) {
    if (of != nullptr) require_not_written(*of, file, "the configuration");
    std::error_code unknown;
    if (std::filesystem::is_regular_file(file, unknown)) return config::read_text_file(file);
    const auto found = known->find(file.string());
    return found != known->end() ? found->second
                                 : known->emplace(file.string(), config::read_text_file(file)).first->second;
  };
  config::document made = config::document::load(from);
  if (of != nullptr) require_apart_from(*this, *of, made);
  return made;
}

void command_options::take_files(config::runtime_settings& settings) {
  const auto take = [](const char* key, std::string& option, std::string& setting) {
    if (option.empty()) option = run_file::take(key, setting).path.string();
    setting.clear();
  };
  take("runtime.report", report, settings.report);
  take("runtime.trace_file", trace, settings.trace_file);
  settings.trace = settings.trace || !trace.empty() || !report.empty();
  settings.stats = settings.stats && !stats;
}

bool command_options::has_devices() const {
  return std::ranges::any_of(load().runtime().plugins,
                             [](const std::string& name) { return name != "host" && name != "disk"; });
}

command_options command_options::placed_by_cost() const {
  command_options made = *this;
  if (has_devices() && load().origin("runtime.placement") == "default") made.set.push_back("runtime.placement=cost");
  return made;
}

namespace {

[[noreturn]] void cannot_write(error_kind kind, const std::string& path, const std::error_code& reason) {
  throw error(kind, "cannot write: " + reason.message(), path, std::string(hint_for_writing(reason)));
}

}  // namespace

void require_writable(const std::string& path) {
  if (path == "-") return;
  if (const std::error_code reason = check_writable(path)) cannot_write(error_kind::usage, path, reason);
}

void write_text(const std::string& path, const std::string& text) {
  if (path == "-") {
    flush_output();  // what was printed before
    if (const std::error_code reason = write_all(STDOUT_FILENO, text))
      cannot_write(error_kind::output, "standard output", reason);
    return;
  }
  require_writable(path);  // a wrong path is another mistake than a full disk
  if (const std::error_code reason = write_whole_file(path, {text})) cannot_write(error_kind::output, path, reason);
}

void write_results(const std::vector<result_file>& results) {
  std::exception_ptr first;
  for (const bool printed : {false, true})
    for (const result_file& one : results) {
      if (one.path.empty() || (one.path == "-") != printed) continue;
      try {
        write_text(one.path, one.text());
      } catch (const error&) {
        if (!first) first = std::current_exception();
      }
    }
  if (first) std::rethrow_exception(first);
}

void flush_output() {
  std::cout.flush();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout)
    cannot_write(error_kind::output, "standard output", {errno == 0 ? EIO : errno, std::generic_category()});
}

}  // namespace tessera::apps
