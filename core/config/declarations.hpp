#pragma once
// [[loctype]], [[location]] and [[hierarchy]] as written, with places; bound to the machine by hierarchy/declaration.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::config {

/// A value and where it was written.
template <typename type>
struct placed {
  type value{};
  std::string where;
};
template <typename type>
using optionally = std::optional<placed<type>>;

/// A type of location: what is asked of the machine.
struct loctype {
  placed<std::string> name;
  placed<std::string> kind;          ///< cpu | gpu | accelerator | unified | storage | virtual, and older spellings
  optionally<std::string> plugin;    ///< devices of this plugin only
  optionally<std::string> match;     ///< conditions on a device: "memory>=8 GiB, name~H200"
  optionally<std::string> path;      ///< storage: its directory
  optionally<std::uint64_t> cores;   ///< cpu: how many cores a location of this type has
  optionally<std::uint64_t> memory;  ///< bytes: of each location; bounds what is allocated there
  optionally<double> bandwidth;      ///< bytes per second to the parent
  optionally<double> latency_ns;     ///< of one access from the parent
};

/// One or several locations of a type.
struct location {
  std::vector<placed<std::string>> names;
  placed<std::string> type;
  bool all = false;                 ///< every device of the type: NAME[0], NAME[1], ... under one virtual NAME
  optionally<std::uint64_t> start;  ///< NAME[start] is the first of `count` ...
  optionally<std::uint64_t> count;  ///< ... locations
  std::string where;
};

/// Children attached to or detached from a parent.
struct hierarchy {
  placed<std::string> parent;
  bool attach = true;
  std::vector<placed<std::string>> children;
  bool all = false;                        ///< every child name stands for all its numbered locations
  optionally<std::uint64_t> start, count;  ///< or for NAME[start] .. NAME[start + count - 1]
  std::string where;
};

/// Everything declared, in the order of the text.
struct declarations {
  std::vector<loctype> loctypes;
  std::vector<location> locations;
  std::vector<hierarchy> hierarchies;

  bool empty() const noexcept { return loctypes.empty() && locations.empty() && hierarchies.empty(); }
};

}  // namespace tessera::config
