#include "apps/cli/files_apart.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/base/error.hpp"
#include "core/config/find_file.hpp"
#include "hierarchy/machine/installed_places.hpp"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

/// A file that the command line names.
struct named_file {
  std::string option;
  std::string path;
  bool is_output;
};

/// Options of this type that name a file to write; all others name one to read. A test compares them with their texts.
constexpr std::array<std::string_view, 10> outputs{"--json", "--trace", "--report", "--out",     "--tree",
                                                   "--dot",  "--svg",   "--html",   "--profile", "--dump-final"};

bool writes(const CLI::App& of, const CLI::Option& option) {
  const std::string name = option.get_name();
  return std::ranges::find(outputs, name) != outputs.end() || (of.get_name() == "init" && name == "to");
}

/// The file that --config means; where there is none, the name itself. Reading it is the error.
std::string configuration(const std::string& named) {
  try {
    return config::find_file(named, hierarchy::default_config_directories());
  } catch (const error&) {
    return named;
  }
}

void add_files(const CLI::App& of, std::vector<named_file>& to) {
  for (const CLI::Option* option : of.get_options()) {
    if (option->get_type_name() != "FILE") continue;
    const std::string name = option->get_name();
    for (const std::string& path : option->results())
      if (name == "--config")
        to.push_back({name, configuration(path), false});
      else if (!path.empty() && path != "-")
        to.push_back({name, path, writes(of, *option)});
  }
  for (const CLI::App* inner : of.get_subcommands()) add_files(*inner, to);
}

/// Whether both name one file, also one that is not there yet. A device or a pipe may have several uses.
bool are_one(const std::string& a, const std::string& b) {
  std::error_code none;
  if (fs::exists(a, none) && fs::exists(b, none))
    return fs::is_regular_file(a, none) && fs::equivalent(a, b, none) && !none;
  const fs::path first = fs::weakly_canonical(fs::absolute(a, none), none);
  return !first.empty() && first == fs::weakly_canonical(fs::absolute(b, none), none);
}

}  // namespace

void require_files_apart(const CLI::App& app) {
  std::vector<named_file> files;
  add_files(app, files);
  for (std::size_t k = 0; k < files.size(); ++k)
    for (std::size_t j = 0; j < k; ++j) {
      if ((!files[k].is_output && !files[j].is_output) || !are_one(files[k].path, files[j].path)) continue;
      const named_file& written = files[j].is_output ? files[j] : files[k];
      const named_file& other = files[j].is_output ? files[k] : files[j];
      throw error(error_kind::usage,
                  other.is_output
                      ? fmt::format("{} and {} would both write one file", written.option, other.option)
                      : fmt::format("{} would write over the file that {} reads", written.option, other.option),
                  written.path, fmt::format("give {} a file of its own", written.option));
    }
}

}  // namespace tessera::cli
