#include "core/plugin/search.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/base/suggest.hpp"

namespace tessera::plugin {

namespace fs = std::filesystem;
using state = file_report::state;

wish wish_of(const std::string& wanted) {
  if (wanted.ends_with('?')) return {wanted.substr(0, wanted.size() - 1), true};
  return {wanted, false};
}

search::search(const registry_options& options, purpose why) : m_options(options), m_why(why) {
  for (const fs::path& directory : options.directories) add_directory(directory);
  for (const std::string& wanted : options.wanted) {
    const fs::path path = wish_of(wanted).name;
    if (path.is_absolute()) at(path);
  }
}

void search::add_directory(const fs::path& directory) {
  if (!directory.is_absolute())
    throw error(error_kind::configuration, fmt::format("plugin directory \"{}\" is not absolute", directory.string()),
                directory.string(), "write the whole path, from /, in runtime.plugin_path");
  std::error_code failure;
  fs::directory_iterator entries(directory, failure);
  if (failure) {
    candidate& none = m_files.emplace_back();
    none.looked = true;
    const bool missing = failure == std::errc::no_such_file_or_directory;
    none.report = {directory,
                   missing ? state::unavailable : state::refused,
                   {},
                   missing ? "no such directory" : "the directory cannot be read: " + failure.message()};
    return;
  }
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : entries)
    if (entry.path().extension() == ".so") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());  // the order of a directory is no order
  for (const fs::path& path : paths) at(path);
}

search::candidate& search::at(const fs::path& path) {
  for (candidate& file : m_files)
    if (file.report.path == path) return file;
  candidate& file = m_files.emplace_back();
  file.report = {path, state::not_wanted, {}, {}};
  file.promised = promised_name(path);
  return file;
}

/// Loads the file once; false when it was refused.
bool search::look(candidate& file) {
  if (!file.looked) {
    file.looked = true;
    try {
      file.loaded.push_back(load_plugin(file.report.path, m_options.sha256, m_why));
      file.report.name = file.loaded.front().name;
    } catch (const error& failure) {
      file.report.outcome = state::refused;
      file.report.reason = failure.message() + (failure.hint().empty() ? "" : "; " + failure.hint());
      if (m_options.log)
        m_options.log(2, fmt::format("plugin file {} refused: {}", file.report.path.string(), file.report.reason));
    }
  }
  return !file.loaded.empty();
}

loaded_plugin search::find(const std::string& wanted) {
  if (const fs::path path = wanted; path.is_absolute()) {
    candidate& file = at(path);
    if (look(file)) return file.loaded.front();
    return load_plugin(path, m_options.sha256, m_why);  // throws the full error
  }
  const auto is_it = [&](candidate& file) { return look(file) && file.loaded.front().name == wanted; };
  for (candidate& file : m_files) {
    if (file.promised != wanted && !file.promised.empty()) continue;
    if (is_it(file)) return file.loaded.front();
    if (file.promised == wanted && file.loaded.empty()) return load_plugin(file.report.path, m_options.sha256, m_why);
  }
  // A file may be called otherwise than its plugin; looked into last, because it means to load what nobody asked for.
  for (candidate& file : m_files)
    if (conflict_of(file.promised).empty() && is_it(file)) return file.loaded.front();

  std::vector<std::string> known, places;
  for (const candidate& file : m_files)
    if (!file.report.name.empty() || !file.promised.empty())
      known.push_back(file.report.name.empty() ? file.promised : file.report.name);
  for (const fs::path& directory : m_options.directories) places.push_back(directory.string());
  const std::string near = suggest(wanted, known), left_out = left_out_hint(wanted);
  std::string refused;
  for (const candidate& file : m_files)
    if (file.report.outcome == state::refused) refused += fmt::format("; {} was refused", file.report.path.string());
  const no_such_plugin none(
      error_kind::plugin, fmt::format("there is no plugin \"{}\"{}", wanted, refused),
      places.empty() ? "no plugin directory is configured" : fmt::format("{}", fmt::join(places, ", ")),
      wanted.find('/') != std::string::npos && wanted.front() != '/' ? "a file is named by its absolute path"
      : !left_out.empty()                                            ? left_out
      : near.empty() ? "\"tessera plugins\" lists every file it looks at; runtime.plugin_path names the directories"
                     : fmt::format("did you mean \"{}\"?", near));
  if (refused.empty()) throw none;
  throw error(none);  // it may have been that file
}

std::string search::left_out_hint(const std::string& wanted) const {
  for (const fs::path& usual : m_options.usual_directories) {
    std::error_code none;
    if (std::ranges::count(m_options.directories, usual) != 0 ||
        !fs::exists(usual / fmt::format("tessera_{}.so", wanted), none))
      continue;
    return fmt::format(
        "runtime.plugin_path takes the place of the usual directory, where \"{}\" lies: name {} there too", wanted,
        usual.string());
  }
  return {};
}

std::string no_answer(std::chrono::milliseconds limit) {
  return fmt::format("its probe has not answered within {:.3g} s: the plugin or the driver below it hangs",
                     std::chrono::duration<double>(limit).count());
}

namespace {

/// The file has the plugin of its name too, and `used` came first.
void note_shadowed(file_report& file, const fs::path& used) {
  file.outcome = state::shadowed;
  file.instead = used;
  file.reason =
      fmt::format("shadowed by {}, which has the plugin \"{}\" too and comes first", used.string(), file.name);
}

}  // namespace

void search::survey() {
  std::vector<std::string> wanted;
  for (const std::string& text : m_options.wanted) wanted.push_back(wish_of(text).name);
  const auto is_wanted = [&](const candidate& file) {
    return std::find(wanted.begin(), wanted.end(), file.report.name) != wanted.end() ||
           std::find(wanted.begin(), wanted.end(), file.report.path.string()) != wanted.end();
  };
  // Whether a plugin was asked for, by its name or by a file that promises it.
  const auto asked_for = [&](const std::string& name) {
    return std::ranges::any_of(wanted, [&](const std::string& text) {
      return text == name || (fs::path(text).is_absolute() && promised_name(text) == name);
    });
  };
  std::vector<std::pair<std::string, fs::path>> seen;
  for (candidate& file : m_files) {
    if (file.looked) continue;
    std::string conflict = conflict_of(file.promised);
    if (const std::string rival = rival_of(file.promised);
        !rival.empty() && asked_for(rival) && !asked_for(file.promised))
      conflict = fmt::format("it cannot be in one process with {}, which is wanted", rival);
    if (!conflict.empty()) {
      file.report.name = file.promised;
      file.report.reason = "not looked into: " + conflict;
      continue;
    }
    if (!look(file)) continue;
    const auto earlier =
        std::find_if(seen.begin(), seen.end(), [&](const auto& s) { return s.first == file.report.name; });
    if (earlier != seen.end()) {
      note_shadowed(file.report, earlier->second);
      continue;
    }
    seen.emplace_back(file.report.name, file.report.path);
    try {
      const std::optional<probe_result> answer =
          probe_within(file.loaded.front(), m_options.cpu_mask, m_options.probe_limit);
      if (!answer)
        report(file.report.path, state::hangs, file.report.name, no_answer(m_options.probe_limit));
      else if (answer->score == 0)
        report(file.report.path, state::unavailable, file.report.name, answer->reason);
      else if (is_wanted(file))
        report(file.report.path, state::available, file.report.name, "");
      else
        file.report.reason = "could be used; runtime.plugins does not name it";
    } catch (const error& failure) {
      report(file.report.path, state::refused, file.report.name, failure.message());
    }
  }
}

void search::report(const fs::path& path, state outcome, std::string name, std::string reason) {
  file_report& one = at(path).report;
  one.outcome = outcome;
  one.name = std::move(name);
  one.reason = std::move(reason);
}

std::vector<file_report> search::reports() const {
  std::vector<file_report> all;
  for (const candidate& file : m_files) {
    file_report one = file.report;
    const std::string name = one.name.empty() ? file.promised : one.name;
    if (one.outcome == state::not_wanted && one.reason.empty()) {
      const auto winner = std::find_if(m_files.begin(), m_files.end(), [&](const candidate& other) {
        return &other != &file && other.report.outcome == state::opened && other.report.name == name;
      });
      one.name = name;
      if (winner != m_files.end())
        note_shadowed(one, winner->report.path);
      else
        one.reason = "runtime.plugins does not name it";
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace tessera::plugin
