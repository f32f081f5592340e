#pragma once
// Types of locations, checked.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config/declarations.hpp"

namespace tessera::hierarchy {

enum class type_kind : std::uint8_t {
  cpu,
  gpu,
  accelerator,
  unified,
  storage,
  virtual_group
};
/// "gpu", for messages.
std::string_view name_of(type_kind kind) noexcept;

/// A loctype with its kind understood.
struct checked_type {
  type_kind kind = type_kind::virtual_group;
  config::loctype type;
  std::optional<double> capability;  ///< what an older kind asks for at least: 7.0 of "cc7.0"

  /// Whether it looks at the compute capability of devices.
  bool asks_for_capability() const;
  /// "a gpu of plugin 'cuda' with memory>=8 GiB", for messages.
  std::string description() const;
};

/// The types of a configuration by name, with the built-in one, "virtual".
class type_table {
 public:
  /// Throws tessera::error (kind configuration) for an unknown kind, a name given twice, or a number that a kind has no
  /// use for (cores of a gpu).
  explicit type_table(const std::vector<config::loctype>& declared);

  /// The type that a location names; throws with the nearest name.
  const checked_type& at(const config::placed<std::string>& name) const;

 private:
  std::map<std::string, checked_type> m_types;
};

}  // namespace tessera::hierarchy
