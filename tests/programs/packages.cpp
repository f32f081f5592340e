#include "programs/packages.hpp"

#include <fmt/format.h>
#include <stdio.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

namespace tessera::programs {
namespace {

std::string output_of(const std::string& command) {
  std::string text;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::array<char, 4096> piece{};
  while (pipe != nullptr && fgets(piece.data(), piece.size(), pipe.get()) != nullptr) text += piece.data();
  return text;
}

/// "libc6 (>= 2.3), awk | mawk:any" -> libc6, awk, mawk.
std::set<std::string> names_of(const std::string& list) {
  std::set<std::string> names;
  bool in_name = true;
  std::string name;
  for (const char c : list + ",") {
    if (c == ',' || c == '|') {
      if (!name.empty()) names.insert(std::exchange(name, {}));
      in_name = true;
    } else if (c == '(' || c == ':') {
      in_name = false;
    } else if (in_name && c != ' ') {
      name += c;
    }
  }
  return names;
}

}  // namespace

std::optional<package_list> package_list::of_this_machine() {
  std::ifstream stream("/etc/debian_version");
  std::string version;
  if (!std::getline(stream, version) || !version.starts_with("12.")) return std::nullopt;
  std::istringstream lines(output_of(
      R"(dpkg-query -W -f='${Package}\t${Essential}\t${Priority}\t${Provides}\t${Pre-Depends}, ${Depends}\n' 2>/dev/null)"));
  package_list list;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields(1);
    for (const char c : line) {
      if (c == '\t')
        fields.emplace_back();
      else
        fields.back() += c;
    }
    if (fields.size() == 5)
      list.m_packages[fields[0]] = {fields[1] == "yes" || fields[2] == "required", names_of(fields[4]),
                                    names_of(fields[3])};
  }
  if (list.m_packages.empty()) return std::nullopt;
  return list;
}

bool package_list::is_base(const std::string& package) const {
  const auto at = m_packages.find(package);
  return at != m_packages.end() && at->second.base;
}

bool package_list::brings(const std::string& package, const std::string& other) const {
  std::set<std::string> seen{package};
  for (std::vector<std::string> next{package}; !next.empty();) {
    const std::string name = std::move(next.back());
    next.pop_back();
    if (name == other) return true;
    if (const auto at = m_packages.find(name); at != m_packages.end())
      for (const std::string& needed : at->second.depends)
        if (seen.insert(needed).second) next.push_back(needed);
  }
  return false;
}

std::map<std::string, std::set<std::string>> package_list::owners_of(const std::set<std::string>& programs) {
  std::map<std::string, std::string> program_of;  // by path
  std::string command = "dpkg-query -S";
  for (const std::string& program : programs)
    for (const char* folder : {"/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/"}) {
      std::error_code missing;
      const std::string path = folder + program, real = std::filesystem::canonical(path, missing).string();
      if (missing) continue;
      for (const std::string& one :
           {path, real, real.starts_with("/usr/") ? real.substr(4) : real})  // packages may name the file without /usr
        if (program_of.emplace(one, program).second) command += fmt::format(" '{}'", one);
    }
  std::map<std::string, std::set<std::string>> owners;
  std::istringstream lines(output_of(command + " 2>/dev/null"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (const auto at = program_of.find(line.substr(std::min(colon + 2, line.size())));
        colon != line.npos && at != program_of.end())
      owners[at->second].merge(names_of(line.substr(0, colon)));
  }
  return owners;
}

}  // namespace tessera::programs
