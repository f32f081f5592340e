#pragma once
// NVRTC and hiprtc: vendors' compilers as libraries. Both have the same functions under different names.
#include <tessera/plugin.h>

#include <string>
#include <vector>

#include "plugins/gpu_common/libraries/shared_library.hpp"
#include "plugins/kit/abi/report.hpp"

namespace tessera::gpu {

/// The names that a vendor uses.
struct compiler_dialect {
  const char* name;                ///< "NVRTC"
  std::vector<std::string> files;  ///< the first that loads
  const char* prefix;              ///< of all functions: "nvrtc"
  const char *size, *code;         ///< those that give the image, without the prefix: "GetCUBINSize", "GetCUBIN"
  const char* architecture;        ///< the option before a device's architecture
  const char* no_contraction;      ///< the option that keeps products and sums apart
  /// Whether options that it does not know are errors like others. hiprtc 5.2 ends the process: all but -D and -U are
  /// refused.
  bool checks_options;
};
extern const compiler_dialect nvidia_compiler, amd_compiler;

/// A compiler that was found, or not. Needs no device. Thread-safe.
class run_time_compiler {
 public:
  run_time_compiler(const compiler_dialect& dialect, const library_search& where);
  explicit operator bool() const noexcept { return m_compile != nullptr; }
  const std::string& complaint() const noexcept { return m_complaint; }  ///< why there is none
  const std::string& identity() const noexcept { return m_identity; }    ///< "NVRTC 13.0"

  /// Compiles a text of the vendor's dialect for an architecture ("sm_90", "gfx90a"). The compiler's messages, as
  /// "file:line: error ...", are the record. Fails: INVALID_ARGUMENT (the text, an option), RESOURCE_EXHAUSTED,
  /// UNKNOWN.
  tsr_status compile(const kit::reporter& report, const std::string& text, const char* options,
                     const std::string& architecture, std::string& image) const;

 private:
  using create_function = int (*)(void** program, const char* text, const char* name, int headers,
                                  const char* const* header_texts, const char* const* header_names);
  using compile_function = int (*)(void* program, int count, const char* const* options);
  using size_function = int (*)(void* program, std::size_t* bytes);
  using text_function = int (*)(void* program, char* text);
  using destroy_function = int (*)(void** program);
  using describe_function = const char* (*)(int status);

  std::string log_of(void* program) const;
  const compiler_dialect& m_dialect;
  shared_library m_library;
  create_function m_create = nullptr;
  compile_function m_compile = nullptr;
  size_function m_size = nullptr, m_log_size = nullptr;
  text_function m_code = nullptr, m_log = nullptr;
  destroy_function m_destroy = nullptr;
  describe_function m_describe = nullptr;
  std::string m_complaint, m_identity;
};

}  // namespace tessera::gpu
