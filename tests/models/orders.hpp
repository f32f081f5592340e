#pragma once
// What memory orders mean, and how steps are shown.
#include <fmt/format.h>

#include <atomic>
#include <source_location>
#include <string>
#include <string_view>

namespace tessera::models {

inline constexpr auto relaxed = std::memory_order_relaxed;
inline constexpr auto acquire = std::memory_order_acquire;
inline constexpr auto release = std::memory_order_release;
inline constexpr auto acq_rel = std::memory_order_acq_rel;
inline constexpr auto seq_cst = std::memory_order_seq_cst;

inline bool acquires(std::memory_order o) {
  return o == std::memory_order_acquire || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}
inline bool releases(std::memory_order o) {
  return o == std::memory_order_release || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}
inline bool sequential(std::memory_order o) { return o == std::memory_order_seq_cst; }

inline std::string_view name_of(std::memory_order o) {
  if (sequential(o)) return "seq_cst";
  if (o == std::memory_order_acq_rel) return "acq_rel";
  return o == std::memory_order_acquire ? "acquire" : o == std::memory_order_release ? "release" : "relaxed";
}

inline std::string place_of(const std::source_location& at) {
  const std::string_view file = at.file_name();
  return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), at.line());
}

}  // namespace tessera::models
