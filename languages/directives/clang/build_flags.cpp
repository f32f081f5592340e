#include "languages/directives/clang/build_flags.hpp"

#include <llvm/Option/ArgList.h>
#include <llvm/Option/OptTable.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "core/base/error.hpp"
#include "languages/directives/clang/versions.hpp"

namespace tessera::directive {
namespace {

bool is_for_warnings(const std::string& flag) {
  return (flag.starts_with("-W") && !flag.starts_with("-Wp,")) || flag == "-w" || flag.starts_with("-pedantic");
}

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw error(error_kind::input, "cannot read the flags in " + file, {}, "check the path");
  std::vector<std::string> flags;
  const auto add = [&](const std::string& flag) {
    if (flag.empty() || is_for_warnings(flag) || flag.starts_with("-fplugin")) return;
    flags.push_back(flag.starts_with("-fopenmp") ? "-D_OPENMP=201511" : flag);
  };
  for (std::string line; std::getline(in, line);) {
    constexpr std::string_view several = "SHELL:";
    if (!line.starts_with(several)) {
      add(line);
      continue;
    }
    std::istringstream words(line.substr(several.size()));
    for (std::string word; words >> word;) add(word);
  }
  return flags;
}

}  // namespace

build_flags read_build_flags(const std::string& file) {
  const std::vector<std::string> all = lines_of(file);
  std::vector<const char*> words;
  for (const std::string& flag : all) words.push_back(flag.c_str());
  unsigned missing = 0, missing_count = 0;
  const llvm::opt::InputArgList read = known_flags().ParseArgs(words, missing, missing_count);
  std::set<std::size_t> strange;
  for (const llvm::opt::Arg* a : read)
    if (a->getOption().getKind() == llvm::opt::Option::UnknownClass) strange.insert(a->getIndex());
  build_flags made;
  for (std::size_t k = 0; k < all.size(); ++k) (strange.contains(k) ? made.unknown : made.known).push_back(all[k]);
  return made;
}

}  // namespace tessera::directive
