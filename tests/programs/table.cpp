#include "programs/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>

namespace tessera::programs {
namespace {

template <class Use>
void for_each_line(std::string_view text, Use&& use) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream stream(line);
    const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
    if (!words.empty() && !words.front().starts_with('#')) use(words);
  }
}

}  // namespace

table read_table(std::string_view text) {
  table read;
  for_each_line(text, [&](const std::vector<std::string>& words) {
    row& r = read[words.front()];
    if (words.size() < 3) return;
    r = {words[1], words[2], {words.begin() + 3, words.end()}};
  });
  return read;
}

std::map<std::string, std::string> read_packages(std::string_view text) {
  std::map<std::string, std::string> read;
  for_each_line(text, [&](const std::vector<std::string>& words) {
    if (words.size() < 2) return;
    std::istringstream alternatives(words[1]);
    for (std::string one; std::getline(alternatives, one, '|');) read[one] = words[0];
  });
  return read;
}

std::vector<std::string> complaints(const callers& called, const table& programs,
                                    const std::map<std::string, std::string>& packages) {
  std::vector<std::string> all;
  for (const auto& [program, files] : called) {
    const auto at = programs.find(program);
    if (at == programs.end()) {
      all.push_back(fmt::format("{} is called by {}, and stands not in tests/programs/programs.txt", program,
                                fmt::join(files, ", ")));
      continue;
    }
    const row& r = at->second;
    if (r.how != "optional" && r.how != "by-hand") continue;
    for (const std::string& file : files)
      if (!r.files.contains(file))
        all.push_back(fmt::format("{} is called by {}, which may not rely on it: {} {}", program, file, r.how,
                                  fmt::join(r.files, " ")));
  }
  for (const auto& [program, r] : programs) {
    if (r.package.empty()) {
      all.push_back(fmt::format("programs.txt: {}: a line has a program, a package, and how it gets there", program));
    } else if (!called.contains(program)) {
      all.push_back(fmt::format("programs.txt: {} is called by no file", program));
    } else if (r.how != "base" && r.how != "optional" && r.how != "by-hand") {
      const auto group = packages.find(r.how);
      if (group == packages.end() || (group->second != "build" && group->second != "tool" && group->second != "test"))
        all.push_back(fmt::format(
            "programs.txt: {}: {} is in no group of cmake/debian_packages.txt that ./bootstrap test installs", program,
            r.how));
    }
  }
  return all;
}

}  // namespace tessera::programs
