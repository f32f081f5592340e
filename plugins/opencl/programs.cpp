#include "plugins/opencl/programs.hpp"

#include <utility>
#include <vector>

#include "plugins/opencl/program_cache.hpp"

namespace tessera::gpu::opencl {
std::string build_log(cl_program program, cl_device_id device) {
  std::size_t bytes = 0;
  if (cl().build_info(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes) != CL_SUCCESS || bytes <= 1)
    return "no log";
  std::string log(bytes, '\0');
  cl().build_info(program, device, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
  log.resize(log.find_last_not_of(std::string_view("\0\n ", 3)) + 1);
  const auto error = log.find("error");
  const auto line = error == log.npos ? 0 : log.rfind('\n', error);
  return line == log.npos ? log : log.substr(line == 0 ? 0 : line + 1);
}

std::string binary_of(cl_program program) {
  std::size_t bytes = 0;
  if (cl().program_info(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr) != CL_SUCCESS || bytes == 0)
    return {};
  std::string binary(bytes, '\0');
  auto* data = reinterpret_cast<unsigned char*>(binary.data());
  return cl().program_info(program, CL_PROGRAM_BINARIES, sizeof data, &data, nullptr) == CL_SUCCESS ? binary
                                                                                                    : std::string{};
}

cl_program from_binary(cl_context context, cl_device_id device, const std::string& binary) {
  const auto* data = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t bytes = binary.size();
  cl_int state = CL_SUCCESS, code = CL_SUCCESS;
  const cl_program made = cl().create_program_with_binary(context, 1, &device, &bytes, &data, &state, &code);
  if (code == CL_SUCCESS && state == CL_SUCCESS) return made;
  if (made != nullptr) cl().release_program(made);
  return nullptr;
}

program_store::program_store(cl_context context, cl_device_id device, bool has_fp64, std::string identity,
                             program_options options)
    : m_context(context),
      m_device(device),
      m_has_fp64(has_fp64),
      m_identity(std::move(identity)),
      m_options(std::move(options)) {}

program_store::~program_store() {
  for (const auto& [name, one] : m_kernels)
    if (one != nullptr) cl().release_kernel(one->native);  // null: it did not compile
  for (const auto& [name, one] : m_programs) cl().release_program(one);
}

error_t program_store::compile(cl_program program, const std::string& options, const kernel_name& which) const {
  const cl_int code = cl().build_program(program, 1, &m_device, options.c_str(), nullptr, nullptr);
  if (code == CL_SUCCESS) return {};
  if (code != CL_BUILD_PROGRAM_FAILURE) return {code, std::string("clBuildProgram of ") + which.file + ".cl"};
  return {code, error_kind::other,
          std::string("clBuildProgram of ") + which.file + ".cl: " + build_log(program, m_device)};
}

error_t program_store::build(const kernel_name& which, cl_program* out) const {
  std::string options = "-cl-std=CL1.2 -DELEMENT=" + std::to_string(static_cast<unsigned>(which.type));
  if (m_has_fp64) options += " -DHAS_FP64";
  if (!m_options.build_options.empty()) options += " " + m_options.build_options;
  const std::string text = "#line 1 \"numbers.cl\"\n" + std::string(kernel_source("numbers")) + "#line 1 \"" +
                           which.file + ".cl\"\n" + std::string(kernel_source(which.file));
  const program_cache cache(m_options.cache_folder, m_identity + "\n" + options + "\n" + text);
  if (const auto kept = cache.read(); !kept.empty()) {
    cl_program made = from_binary(m_context, m_device, kept);
    if (made != nullptr && compile(made, options, which).kind() == error_kind::none) {
      *out = made;
      return {};
    }
    if (made != nullptr) cl().release_program(made);  // of a driver that changed and did not say so: compiled again
  }
  const char* begin = text.c_str();
  cl_int code = CL_SUCCESS;
  const cl_program made = cl().create_program_with_source(m_context, 1, &begin, nullptr, &code);
  if (code != CL_SUCCESS) return {code, "clCreateProgramWithSource"};
  if (const error_t error = compile(made, options, which); error.kind() != error_kind::none) {
    cl().release_program(made);
    return error;
  }
  cache.write(binary_of(made));
  *out = made;
  return {};
}

error_t program_store::program_of(const kernel_name& which, cl_program* out) {
  const std::pair<std::string_view, element> key{which.file, which.type};
  if (const auto found = m_programs.find(key); found != m_programs.end()) {
    *out = found->second;
    return {};
  }
  error_t error = build(which, out);
  if (error.kind() == error_kind::none) m_programs.emplace(key, *out);
  return error;
}

error_t program_store::find(const kernel_name& which, kernel** out) {
  const std::lock_guard lock(m_mutex);
  auto& known = m_kernels[{which.file, which.type, which.name}];
  if (known == nullptr) {
    cl_program program{};
    if (error_t error = program_of(which, &program); error.kind() != error_kind::none) return error;
    auto made = std::make_unique<kernel>();
    cl_int code = CL_SUCCESS;
    made->native = cl().create_kernel(program, which.name, &code);
    if (code != CL_SUCCESS) return {code, std::string("clCreateKernel ") + which.name};
    known = std::move(made);
  }
  *out = known.get();
  return {};
}

}  // namespace tessera::gpu::opencl
