#include "programs/callers.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <vector>

#include "programs/shell_words.hpp"

namespace tessera::programs {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// A call of CMake, lower case, with its words; quotes are kept, comments are gone.
struct call {
  std::string name;
  std::vector<std::string> words;
};

std::vector<call> calls_of(std::string_view text) {
  static const std::regex comment("(^|[ \t])#[^\n]*"), form("([A-Za-z_]+)[ \t]*\\(([^()]*(\\([^()]*\\)[^()]*)*)\\)");
  const std::string bare = std::regex_replace(std::string(text), comment, "$1");
  std::vector<call> found;
  for (std::sregex_iterator at(bare.begin(), bare.end(), form), end; at != end; ++at) {
    std::string name = (*at)[1];
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    found.push_back({name, words_of((*at)[2])});
  }
  return found;
}

bool is_plain(const std::string& word) {
  return word.find_first_of("${}<>\"/") == word.npos && word.find('.') == word.npos;
}

void take_names_of_find_program(const std::vector<std::string>& words, std::set<std::string>& into) {
  static const std::set<std::string> ends{"HINTS", "PATHS", "PATH_SUFFIXES", "DOC", "REQUIRED", "NO_DEFAULT_PATH"};
  for (std::size_t k = 1; k < words.size() && !ends.contains(words[k]); ++k)
    if (words[k] != "NAMES") into.insert(words[k]);
}

/// The last part of a path or name, where it is one.
std::string program_of(const std::string& command) {
  const std::string first = command.substr(0, command.find_first_of(" \t"));
  return first.substr(first.rfind('/') == first.npos ? 0 : first.rfind('/') + 1);
}

void take_all(const std::set<std::string>& names, const std::string& file,
              std::map<std::string, std::set<std::string>>& into) {
  for (const std::string& name : names) into[name].insert(file);
}

bool is_built(const std::string& name, const std::set<std::string>& built) {
  if (built.contains(name)) return true;
  return std::any_of(built.begin(), built.end(), [&](const std::string& one) {  // host_${version}
    const std::size_t variable = one.find("${");
    return variable != one.npos && variable != 0 && name.starts_with(one.substr(0, variable));
  });
}

bool is_cmake(const fs::path& path) { return path.filename() == "CMakeLists.txt" || path.extension() == ".cmake"; }

}  // namespace

std::set<std::string> built_by_cmake(std::string_view text) {
  std::set<std::string> names;
  for (const call& c : calls_of(text)) {
    if (!c.words.empty()) names.insert(c.words.front());
    for (std::size_t k = 0; k + 1 < c.words.size(); ++k)
      if (c.words[k] == "NAME" || c.words[k] == "TARGET") names.insert(c.words[k + 1]);
  }
  return names;
}

std::set<std::string> programs_of_cmake(std::string_view text, const std::set<std::string>& built) {
  std::set<std::string> found;
  for (const call& c : calls_of(text)) {
    if (c.name == "find_program") take_names_of_find_program(c.words, found);
    if (c.name == "find_package" && !c.words.empty() && c.words.front() == "Python3") found.insert("python3");
    for (std::size_t k = 0; k + 1 < c.words.size(); ++k)
      if (c.words[k] == "COMMAND" && is_plain(c.words[k + 1]) && !is_built(c.words[k + 1], built))
        found.insert(c.words[k + 1]);
  }
  return found;
}

std::set<std::string> programs_of_source(std::string_view text) {
  static const std::regex form(
      "\\b(system|popen|execl|execlp|execv|execvp|posix_spawnp?)[ \t]*\\(([^;\"()]*[(,])?[ \t]*\"([^\"]+)\"");
  std::set<std::string> found;
  if (text.find("system") == text.npos && text.find("popen") == text.npos && text.find("exec") == text.npos &&
      text.find("spawn") == text.npos)
    return found;
  const std::string all(text);
  for (std::sregex_iterator at(all.begin(), all.end(), form), end; at != end; ++at)
    if (const std::string name = program_of((*at)[3]); !name.empty()) found.insert(name);
  return found;
}

std::map<std::string, std::set<std::string>> programs_of_tree(const fs::path& root) {
  std::map<std::string, std::set<std::string>> called;
  std::vector<std::pair<std::string, std::string>> cmake_files;
  std::set<std::string> built;
  std::map<fs::path, std::set<std::string>> functions;  // of a folder's scripts, which may read one another
  std::map<fs::path, std::set<std::string>> commands;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::recursive_directory_iterator(); ++entry) {
    const fs::path& path = entry->path();
    const std::string name = path.filename().string(), file = path.lexically_relative(root).string();
    if (entry->is_directory()) {
      if ((name.starts_with('.') && name != ".ci") || (entry.depth() == 0 && name.starts_with("build")))
        entry.disable_recursion_pending();
      continue;
    }
    if (path.extension() == ".cpp" || path.extension() == ".c" || path.extension() == ".hpp") {
      take_all(programs_of_source(content_of(path)), file, called);
    } else if (is_cmake(path)) {
      cmake_files.emplace_back(file, content_of(path));
      built.merge(built_by_cmake(cmake_files.back().second));
    } else if (path.extension() == ".sh" || file == "bootstrap" || file == ".ci/run" ||
               (file.starts_with("tools/") && path.extension().empty())) {
      script_words words = words_of_script(content_of(path));
      functions[fs::path(file).parent_path()].merge(words.functions);
      commands[file] = std::move(words.commands);
    }
  }
  for (auto& [file, names] : commands) {
    std::erase_if(
        names, [&, &known = functions[file.parent_path()]](const std::string& name) { return known.contains(name); });
    take_all(names, file.string(), called);
  }
  for (const auto& [file, text] : cmake_files) take_all(programs_of_cmake(text, built), file, called);
  return called;
}

}  // namespace tessera::programs
