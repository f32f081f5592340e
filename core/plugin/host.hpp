#pragma once
// What the core offers to plugins.
#include <tessera/plugin.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tessera::plugin {

/// Owns a tsr_host and what it points to. Must outlive every plugin opened with it; its address is stable.
class host {
 public:
  /// @param cpu_mask  one bit per CPU that plugins may bind threads to
  /// @param log       called from any thread; may be empty
  host(std::vector<std::uint64_t> cpu_mask, std::function<void(int level, const std::string& line)> log);
  host(const host&) = delete;
  host& operator=(const host&) = delete;

  const tsr_host* table() const noexcept { return &m_table; }

 private:
  static void on_error(void* context, tsr_status status, const char* message);
  static void on_log(void* context, std::int32_t level, const char* message);

  std::vector<std::uint64_t> m_cpu_mask;
  std::function<void(int, const std::string&)> m_log;
  tsr_host m_table{};
};

}  // namespace tessera::plugin
