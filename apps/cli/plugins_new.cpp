// tessera plugins new: writes a small device plugin to begin with.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/commands.hpp"
#include "apps/cli/skeleton.hpp"
#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "core/base/whole_file.hpp"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

struct new_options {
  std::string name, language, directory, json;
};

void check_name(const std::string& name) {
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; };
  if (!name.empty() && name.size() <= 64 && name[0] != '-' && std::ranges::all_of(name, allowed)) return;
  throw error(error_kind::usage, fmt::format("'{}' is no name of a plugin", name), "NAME",
              "a name has 1 to 64 of a-z, 0-9, '_' and '-', and begins with no '-', e.g. my_device");
}

/// The language as it is called here. Throws tessera::error (usage) for one that there is no skeleton in.
std::string checked_language(const std::string& given) {
  std::string language = given;
  std::ranges::transform(language, language.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto known = skeleton_languages();
  if (std::ranges::find(known, language) != known.end()) return language;
  const std::string near = suggest(language == "cpp" || language == "cxx" ? "c++" : language, known);
  throw error(error_kind::usage, fmt::format("there is no skeleton in the language '{}'", given), "--language",
              fmt::format("{}the languages are {}", near.empty() ? "" : fmt::format("did you mean '{}'? ", near),
                          fmt::join(known, ", ")));
}

[[noreturn]] void cannot_make(const fs::path& directory, const std::error_code& reason) {
  throw error(error_kind::usage, "cannot make the folder: " + reason.message(), directory.string(),
              std::string(hint_for_writing(reason)));
}

/// A folder for a new plugin: made, or there and empty. Taken away again unless `keep` was called.
class new_folder {
 public:
  explicit new_folder(fs::path where) : m_path(std::move(where)) {
    std::error_code reason;
    const fs::file_status there = fs::status(m_path, reason);
    if (!fs::exists(there)) {
      m_made = fs::create_directory(m_path, reason);
      if (reason) cannot_make(m_path, reason);
      return;
    }
    if (!fs::is_directory(there))
      throw error(error_kind::usage, "this is no folder", m_path.string(), "choose another one with --directory");
    const bool empty = fs::is_empty(m_path, reason);
    if (reason) cannot_make(m_path, reason);
    if (!empty)
      throw error(error_kind::usage, "the folder is there and is not empty; nothing is overwritten", m_path.string(),
                  "choose another one with --directory");
  }
  ~new_folder() {
    std::error_code ignored;
    if (m_kept) return;
    for (const fs::path& file : m_files) fs::remove(file, ignored);
    if (m_made) fs::remove(m_path, ignored);
  }
  new_folder(const new_folder&) = delete;
  new_folder& operator=(const new_folder&) = delete;

  void write(const skeleton_file& one) {
    m_files.push_back(m_path / one.name);
    apps::write_text(m_files.back().string(), one.text);
  }
  const std::vector<fs::path>& files() const noexcept { return m_files; }
  void keep() noexcept { m_kept = true; }

 private:
  fs::path m_path;
  std::vector<fs::path> m_files;
  bool m_made = false, m_kept = false;
};

int write_new(const new_options& o) {
  check_name(o.name);
  const std::string language = checked_language(o.language);
  const fs::path directory = fs::absolute(o.directory.empty() ? o.name : o.directory).lexically_normal();
  if (!o.json.empty()) apps::require_writable(o.json);
  new_folder folder(directory);
  for (const skeleton_file& one : skeleton_of(language, o.name)) folder.write(one);
  std::string text;
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const fs::path& file : folder.files()) {
    text += fmt::format("wrote {}\n", file.string());
    files.push_back(file.string());
  }
  text += "README.md there has the commands to build, check and run it.\n";
  if (!o.json.empty())
    apps::write_text(o.json,
                     nlohmann::ordered_json{
                         {"name", o.name}, {"language", language}, {"directory", directory.string()}, {"files", files}}
                             .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                         "\n");
  folder.keep();
  if (o.json != "-") apps::write_text("-", text);
  return 0;
}

}  // namespace

void add_plugins_new(command_table& plugins) {
  auto options = std::make_shared<new_options>();
  command_table& sub =
      plugins.add_command("new", "Write a small device plugin to start from: source, build file, README.md");
  sub.add({{"name", &options->name, "NAME", "its name: 1 to 64 of a-z, 0-9, '_' and '-'", {.required = true}},
           {"--language", &options->language, "LANGUAGE", "c, c++ or rust", {.required = true}},
           {"--directory", &options->directory, "DIR", "the folder to write to: a new or an empty one; default NAME"},
           {"--json", &options->json, "FILE",
            "write the list of files as JSON; - is standard output, instead of the text"}});
  sub.footer =
      "The plugin passes `tessera plugins check` as it is: a simulated device whose memory is the host's.\n"
      "Example:\n  tessera plugins new my_device --language rust";
  sub.run = [options] { return write_new(*options); };
}

}  // namespace tessera::cli
