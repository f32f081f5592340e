#pragma once
// How a task uses a block.
#include <cstdint>
#include <string_view>

namespace tessera {

/// Declared with every block of every task; dependencies, transfers and versions all follow from it.
enum class intent : std::uint8_t {
  read,        ///< the current version is needed and not changed
  write,       ///< every element is overwritten: nothing is fetched
  update,      ///< the current version is needed and changed
  accumulate,  ///< added to a private, zeroed copy; additions commute, the sum is formed before the next other use
  scratch,     ///< memory without contents, before and after
  commute      ///< an update in any order with its like: one at a time, whichever is ready first
};

/// "read".
constexpr std::string_view name_of(intent i) noexcept {
  switch (i) {
    case intent::read:
      return "read";
    case intent::write:
      return "write";
    case intent::update:
      return "update";
    case intent::accumulate:
      return "accumulate";
    case intent::scratch:
      return "scratch";
    case intent::commute:
      return "commute";
  }
  return "?";
}

/// Makes a new version of the block.
constexpr bool makes_version(intent i) noexcept {
  return i == intent::write || i == intent::update || i == intent::commute;
  ;
}
/// Needs the current contents.
constexpr bool needs_contents(intent i) noexcept {
  return i == intent::read || i == intent::update || i == intent::commute;
}

}  // namespace tessera
