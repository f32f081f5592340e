#include "apps/common/files_apart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/same_file.hpp"
#include "core/config/find_file.hpp"
#include "hierarchy/machine/installed_places.hpp"

namespace tessera::apps {
namespace {

namespace fs = std::filesystem;

/// A file that the command line names.
struct named_file {
  std::string option;
  std::string path;
  bool is_output;
};

/// Options of the type FILE that name a file to write; all others name one to read. A test compares them with their
/// texts.
constexpr std::array<std::string_view, 14> outputs{"--json",   "--trace",   "--report",   "--out",     "--tree",
                                                   "--dot",    "--svg",     "--html",     "--profile", "--dump-final",
                                                   "--molden", "--fcidump", "--qcschema", "--trexio"};
/// Other types of values that may name a file to read: a plugin's, or one for the application behind "--"; one that is
/// there, since they have other values, too.
constexpr std::array<std::string_view, 6> may_be_inputs{"PATH", "LAYER", "PLUGIN", "NAME", "APPLICATION", "ARGUMENT"};

bool is_output(const command_table& of, const option& one) {
  return std::ranges::find(outputs, one.name) != outputs.end() || (of.name == "init" && one.name == "to");
}

/// The file that --config means; where there is none, the name itself. Reading it is the error.
std::string configuration(const std::string& named) {
  try {
    return config::find_file(named, hierarchy::default_config_directories());
  } catch (const error&) {
    return named;
  }
}

/// As messages call it.
std::string title_of(const option& one) {
  return one.is_argument() ? fmt::format("the argument '{}'", one.name) : one.name;
}

void add_files(const command_table& of, std::vector<named_file>& to) {
  for (const option& one : of.options) {
    const std::string title = title_of(one);
    if (std::ranges::find(may_be_inputs, one.value) != may_be_inputs.end()) {
      for (std::string word : one.given) {
        if (word.starts_with("--")) word.erase(0, word.find('=') + 1);
        if (std::error_code none; fs::is_regular_file(word, none)) to.push_back({title, word, false});
      }
    } else if (one.value == "FILE") {
      for (const std::string& path : one.given)
        if (title == "--config")
          to.push_back({title, configuration(path), false});
        else if (!path.empty() && (path != "-" || is_output(of, one)))
          to.push_back({title, path, is_output(of, one)});
    }
  }
  for (const command_table& below : of.commands) add_files(below, to);
}

/// Whether both go to one file, or to standard output.
bool are_one(const std::string& a, const std::string& b) { return a == "-" || b == "-" ? a == b : is_same_file(a, b); }

[[noreturn]] void refuse(const std::string& text, const named_file& written) {
  throw error(error_kind::usage, text, written.path == "-" ? "the command line" : written.path,
              fmt::format("give {} a file of its own", written.option));
}

}  // namespace

void require_files_apart(const command_table& program) {
  std::vector<named_file> files;
  add_files(program, files);
  for (std::size_t k = 0; k < files.size(); ++k)
    for (std::size_t j = 0; j < k; ++j) {
      if ((!files[k].is_output && !files[j].is_output) || !are_one(files[k].path, files[j].path)) continue;
      const named_file& written = files[j].is_output ? files[j] : files[k];
      const named_file& other = files[j].is_output ? files[k] : files[j];
      refuse(!other.is_output ? fmt::format("{} would write over the file that {} reads", written.option, other.option)
             : written.path == "-"
                 ? fmt::format("{} and {} would both go to standard output", written.option, other.option)
                 : fmt::format("{} and {} would both write one file", written.option, other.option),
             written);
    }
}

void require_not_written(const command_table& of, const std::string& path, const std::string& who,
                         std::string_view does) {
  std::vector<named_file> files;
  add_files(of, files);
  for (const named_file& file : files)
    if (file.is_output && are_one(file.path, path))
      refuse(fmt::format("{} would write over a file that {} {}", file.option, who, does), file);
}

void require_written_apart(const command_table& of, const std::string& path, const std::string& writer) {
  std::vector<named_file> files;
  add_files(of, files);
  for (const named_file& file : files)
    if (are_one(file.path, path))
      refuse(file.is_output ? fmt::format("{} and {} would both write one file", writer, file.option)
                            : fmt::format("{} would write over the file that {} reads", writer, file.option),
             {writer, path, true});
}

}  // namespace tessera::apps
