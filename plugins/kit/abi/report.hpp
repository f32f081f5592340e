#pragma once
// How a plugin tells what went wrong, and the wall that keeps C++ exceptions on its own side of the boundary.
#include <tessera/plugin.h>

#include <exception>
#include <new>
#include <string>
#include <system_error>

namespace tessera::kit {

/// The host's error record and log, as the plugin's functions use them. Thread-safe; copied freely; valid while the
/// host given at open is.
class reporter {
 public:
  reporter() = default;
  explicit reporter(const tsr_host* host) noexcept : m_host(host) {}

  /// Leaves a printf-formatted record of at most 511 bytes with the host and returns `status`, so that a failing
  /// function ends with `return report.fail(...)`.
  [[gnu::format(printf, 3, 4)]] tsr_status fail(tsr_status status, const char* format, ...) const noexcept;

  /// The same with a text of any length.
  tsr_status fail_with(tsr_status status, const std::string& text) const noexcept;

  /// Writes to the host's log where it has one. level: 0 debug, 1 info, 2 warning.
  [[gnu::format(printf, 3, 4)]] void log(int level, const char* format, ...) const noexcept;

  const tsr_host* host() const noexcept { return m_host; }

 private:
  const tsr_host* m_host = nullptr;
};

/// Calls `function` and turns an exception into a status with a record: nothing is thrown across the boundary.
template <class Function>
tsr_status guarded(const reporter& report, Function&& function) noexcept {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return report.fail(TSR_RESOURCE_EXHAUSTED, "out of host memory for the plugin's own records");
  } catch (const std::system_error& error) {  // std::thread: no more threads
    return report.fail(TSR_RESOURCE_EXHAUSTED, "the operating system refused: %s", error.what());
  } catch (const std::exception& error) {
    return report.fail(TSR_INTERNAL, "unexpected exception: %s", error.what());
  } catch (...) {
    return report.fail(TSR_INTERNAL, "unexpected exception of an unknown type");
  }
}

/// The word for a status in the plugin's own messages ("OUT_OF_RANGE").
const char* word_for(tsr_status status) noexcept;

}  // namespace tessera::kit
