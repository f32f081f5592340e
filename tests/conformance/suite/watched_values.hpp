#pragma once
// Option values that tell whether a plugin has looked at them.
#include <tessera/plugin.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/plugin/option.hpp"

namespace tessera::conformance {

/// The values of an opening, as a later host would lay them out: struct_size apart, which is more than this plugin
/// knows. What each holds (integer, number, text) lies on a page of its own behind its name, and the first access to it
/// is seen. One at a time in the process; the values that it is made from outlive it.
class watched_values {
 public:
  explicit watched_values(const std::vector<plugin::option_value>& from);
  ~watched_values();
  watched_values(const watched_values&) = delete;
  watched_values& operator=(const watched_values&) = delete;

  const tsr_option_value* data() const noexcept;
  std::uint32_t size() const noexcept { return m_count; }
  /// Whether what value i holds has been read, or written.
  bool was_read(std::uint32_t i) const noexcept;

 private:
  unsigned char* m_bytes = nullptr;
  std::size_t m_length = 0;
  std::uint32_t m_count = 0;
};

}  // namespace tessera::conformance
