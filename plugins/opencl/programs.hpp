#pragma once
// Kernels of one device: compiled when first used, once per element type, and kept on disk.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>

#include "plugins/opencl/errors.hpp"

namespace tessera::gpu::opencl {

/// How programs are made.
struct program_options {
  std::string build_options;  ///< for the driver's compiler, besides ours
  std::string cache_folder;   ///< where compiled programs are kept; "": nowhere
  bool operator==(const program_options&) const = default;
};

/// What kernels are written for: a number that kernels/numbers.cl knows. The first six are those of the ABI.
enum class element : std::uint32_t {
  none = 0,
  f32,
  f64,
  c64,
  c128,
  i32,
  i64,
  word4,
  word8,
  word16
};

/// One kernel. Its arguments are set and its launch is enqueued with the mutex held.
struct kernel {
  std::mutex mutex;
  cl_kernel native{};
};

/// Names a kernel: the file that it is in, without ".cl", the element type, its name. Text that lives as long as the
/// process.
struct kernel_name {
  const char* file;
  element type;
  const char* name;
};

/// The text of kernels/<file>.cl, put into the plugin by the build.
std::string_view kernel_source(std::string_view file) noexcept;

/// What the compiler said of a program, from the first error on.
std::string build_log(cl_program program, cl_device_id device);
/// The compiled form of a program that was built for one device; "" when the driver gives none.
std::string binary_of(cl_program program);
/// Null when the driver does not take it.
cl_program from_binary(cl_context context, cl_device_id device, const std::string& binary);

/// Thread-safe. Belongs to a context; kernels are valid as long as it.
class program_store {
 public:
  /// `identity`: of the device and its driver; what is compiled for another is not used.
  program_store(cl_context context, cl_device_id device, bool has_fp64, std::string identity, program_options options);
  ~program_store();
  program_store(const program_store&) = delete;
  program_store& operator=(const program_store&) = delete;

  const program_options& options() const noexcept { return m_options; }

  /// Compiles at the first use. An error of the compiler has its messages, with file and line.
  error_t find(const kernel_name& which, kernel** out);

 private:
  error_t program_of(const kernel_name& which, cl_program* out);
  error_t build(const kernel_name& which, cl_program* out) const;
  error_t compile(cl_program program, const std::string& options, const kernel_name& which) const;

  const cl_context m_context;
  const cl_device_id m_device;
  const bool m_has_fp64;
  const std::string m_identity;
  const program_options m_options;
  std::mutex m_mutex;
  std::map<std::pair<std::string_view, element>, cl_program> m_programs;
  std::map<std::tuple<std::string_view, element, std::string_view>, std::unique_ptr<kernel>> m_kernels;
};

}  // namespace tessera::gpu::opencl
