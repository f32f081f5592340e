#include "languages/directives/clang/kernel_names.hpp"

#include <fmt/format.h>

#include <cctype>

namespace tessera::directive {

/// A trailing underscore: keywords, functions and macros of the languages of devices have none, but for some that begin
/// with one.
const std::string& kernel_names::of(std::string& known, const std::string& name) {
  if (!known.empty()) return known;
  // The runtime's own begin with tessera_; __global_ would become a word of CUDA.
  std::string plain = name.starts_with("tessera_") || name.starts_with('_') ? "its_" : "";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    plain += byte < 0x80 && (std::isalnum(byte) != 0 || c == '_') ? std::string(1, c) : fmt::format("_{:02x}", byte);
  }
  known = plain + "_";
  for (int k = 2; !m_taken.insert(known).second; ++k) known = fmt::format("{}_{}_", plain, k);
  return known;
}

}  // namespace tessera::directive
