#include "core/plugin/host.hpp"

#include <utility>

#include "core/base/of_this_thread.hpp"
#include "core/plugin/device.hpp"

namespace tessera::plugin {
namespace {

/// host->error's record.
struct error_text {
  std::string text;
};
std::string& last_error() { return of_this_thread<error_text>().text; }

}  // namespace

host::host(std::vector<std::uint64_t> cpu_mask, std::function<void(int, const std::string&)> log)
    : m_cpu_mask(std::move(cpu_mask)), m_log(std::move(log)) {
  m_table.struct_size = sizeof m_table;
  m_table.abi_major = TSR_ABI_MAJOR;
  m_table.abi_minor = TSR_ABI_MINOR;
  m_table.context = this;
  m_table.error = &host::on_error;
  m_table.log = &host::on_log;
  m_table.cpu_mask = m_cpu_mask.data();
  m_table.cpu_words = static_cast<std::uint32_t>(m_cpu_mask.size());
}

void host::on_error(void*, tsr_status, const char* message) {
  try {
    last_error() = message != nullptr ? message : "";
  } catch (...) {
    last_error().clear();  // out of memory: the status alone must do
  }
}

void host::on_log(void* context, std::int32_t level, const char* message) {
  const host& self = *static_cast<const host*>(context);
  if (!self.m_log || message == nullptr) return;
  try {
    self.m_log(level, message);
  } catch (...) {
    // No exception crosses the boundary; a line of the log is not worth a failure.
  }
}

tsr_status note_escaped(const char* entry, const char* words) noexcept {
  try {
    last_error() = std::string("the plugin threw a C++ exception out of ") + entry + ": " +
                   (words != nullptr ? words : "it has no words");
  } catch (...) {
    last_error().clear();
  }
  return TSR_INTERNAL;
}

std::string take_error_details() { return std::exchange(last_error(), {}); }

}  // namespace tessera::plugin
