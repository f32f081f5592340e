#pragma once
// The C compiler of this machine, for kernels that run on the processor.
#include <tessera/plugin.h>

#include <cstdint>
#include <string>

#include "plugins/kit/abi/report.hpp"

namespace tessera::kit {

/// Thread-safe.
class host_compiler {
 public:
  /// `command`: a path, or a name to look for in PATH; "" looks for cc, gcc, clang, c++. `limit_ns`: of one
  /// compilation.
  host_compiler(const std::string& command, std::uint64_t limit_ns);

  /// Compiles C to a shared object. The compiler is run without a shell, in a private folder, and ended when it takes
  /// too long. Its messages are the record. Fails: UNAVAILABLE (no compiler), INVALID_ARGUMENT (the source, an option),
  /// DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED.
  tsr_status compile(const reporter& report, const std::string& source, const char* options, std::string& image) const;

  /// Which compiler, for which processor, with which options of ours; "" without one.
  const std::string& identity() const noexcept { return m_identity; }

 private:
  std::string m_asked;  // for messages
  std::string m_path;   // "": none was found
  std::string m_identity;
  std::uint64_t m_limit_ns;
};

}  // namespace tessera::kit
