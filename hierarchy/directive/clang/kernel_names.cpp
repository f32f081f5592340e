#include "hierarchy/directive/clang/kernel_names.hpp"

#include <fmt/format.h>

#include <cctype>

namespace tessera::directive {

/// A trailing underscore: keywords, functions and macros of the languages of devices have none.
const std::string& kernel_names::of(std::string& known, const std::string& name) {
  if (!known.empty()) return known;
  std::string plain = name.starts_with("tessera_") ? "its_" : "";  // the runtime's own begin so
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    plain += byte < 0x80 && (std::isalnum(byte) != 0 || c == '_') ? std::string(1, c) : fmt::format("_{:02x}", byte);
  }
  known = plain + "_";
  for (int k = 2; !m_taken.insert(known).second; ++k) known = fmt::format("{}_{}_", plain, k);
  return known;
}

}  // namespace tessera::directive
