#pragma once
// What a call of OpenCL answered: its code, and in words what was tried.
#include <memory>
#include <string>

#include "plugins/gpu_common/api/device_facts.hpp"
#include "plugins/opencl/library.hpp"

namespace tessera::gpu {

/// A result of a call. Success holds no text and costs no allocation.
class error_t {
 public:
  error_t() = default;
  /// One that needs no text.
  explicit error_t(error_kind kind) : m_kind(kind) {}
  /// `tried`: "clCreateBuffer". The text becomes "clCreateBuffer: CL_OUT_OF_HOST_MEMORY".
  error_t(cl_int code, const std::string& tried);
  /// With a kind of its own: `why` is the whole text.
  error_t(cl_int code, error_kind kind, const std::string& why);

  error_kind kind() const noexcept { return m_kind; }
  const char* text() const noexcept {
    return m_text ? m_text->c_str() : m_kind == error_kind::none ? "success" : "not ready";
  }
  explicit operator int() const noexcept { return m_code; }

 private:
  cl_int m_code = CL_SUCCESS;
  error_kind m_kind = error_kind::none;
  std::shared_ptr<const std::string> m_text;
};

inline error_kind kind_of(const error_t& error) noexcept { return error.kind(); }
/// Valid as long as the error.
inline const char* text_of(const error_t& error) noexcept { return error.text(); }

namespace opencl {

/// "CL_OUT_OF_RESOURCES"; "an unknown code" for what no header names.
const char* name_of(cl_int code) noexcept;

/// Success, or an error that names the call.
inline error_t result_of(cl_int code, const char* tried) {
  return code == CL_SUCCESS ? error_t{} : error_t(code, tried);
}

}  // namespace opencl
}  // namespace tessera::gpu
