#pragma once
// programs.txt and cmake/debian_packages.txt, and what is wrong with a tree that calls programs.
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::programs {

/// A line of programs.txt.
struct row {
  std::string package;
  std::string how;              ///< "base", "optional", "by-hand", or the package that brings it
  std::set<std::string> files;  ///< of "optional" and "by-hand"
};

using table = std::map<std::string, row>;
using callers = std::map<std::string, std::set<std::string>>;

/// Lines without # of programs.txt; a line that is none becomes a row with an empty package.
table read_table(std::string_view text);
/// Package to group, alternatives each.
std::map<std::string, std::string> read_packages(std::string_view text);

/// A sentence for each program that is called and does not come with the packages, and for each row that nobody needs.
std::vector<std::string> complaints(const callers& called, const table& programs,
                                    const std::map<std::string, std::string>& packages);

}  // namespace tessera::programs
