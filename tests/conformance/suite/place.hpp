#pragma once
// A plugin, with its layer, loaded as a request asks for it.
#include <memory>

#include "tests/conformance/suite/check.hpp"

namespace tessera::conformance {

class place {
 public:
  /// Throws tessera::error for a file that is refused.
  explicit place(const request& what);
  const plugin::loaded_plugin& loaded() const { return m_loaded; }
  subject subject_of(const request& what, std::uint64_t seed) const;

 private:
  mutable plugin::host m_host;
  plugin::loaded_plugin m_loaded;
  std::unique_ptr<plugin::session> m_layer;  ///< outlives every opening of what it wraps
};

}  // namespace tessera::conformance
