#include "plugins/gpu_common/libraries/run_time_compiler.hpp"

#include <cctype>
#include <utility>

#include "plugins/kit/jit/kernel_text.hpp"

namespace tessera::gpu {
namespace {

/// "file(3): error" as "file:3: error", as all other compilers say it.
std::string with_colons(const std::string& log) {
  std::string text;
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t end = log.find('\n', at);
    std::string line = log.substr(at, end == log.npos ? end : end - at);
    const auto close = line.find("): "), open = close == line.npos ? line.npos : line.rfind('(', close);
    bool is_number = open != line.npos && close > open + 1;
    for (auto k = open + 1; is_number && k < close; ++k)
      is_number = std::isdigit(static_cast<unsigned char>(line[k])) != 0;
    if (is_number) line = line.substr(0, open) + ":" + line.substr(open + 1, close - open - 1) + line.substr(close + 1);
    text += line + "\n";
    if (end == log.npos) break;
    at = end + 1;
  }
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return text;
}

}  // namespace

const compiler_dialect nvidia_compiler = {.name = "NVRTC",
                                          .files = {"libnvrtc.so.13", "libnvrtc.so.12"},
                                          .prefix = "nvrtc",
                                          .size = "GetCUBINSize",
                                          .code = "GetCUBIN",
                                          .architecture = "--gpu-architecture=",
                                          .no_contraction = "--fmad=false",
                                          .checks_options = true};

const compiler_dialect amd_compiler = {.name = "hiprtc",  // part of the runtime before ROCm 6
                                       .files = {"libhiprtc.so.7", "libhiprtc.so.6", "libamdhip64.so.5"},
                                       .prefix = "hiprtc",
                                       .size = "GetCodeSize",
                                       .code = "GetCode",
                                       .architecture = "--offload-arch=",
                                       .no_contraction = "-ffp-contract=off",
                                       .checks_options = false};

run_time_compiler::run_time_compiler(const compiler_dialect& dialect, const library_search& where)
    : m_dialect(dialect), m_library(dialect.files, where) {
  if (!m_library) {
    m_complaint = std::string(dialect.name) + ": " + m_library.complaint();
    return;
  }
  const auto take = [&](auto& function, const char* name) {
    const std::string whole = std::string(dialect.prefix) + name;
    function = m_library.function<std::remove_reference_t<decltype(function)>>(whole);
    if (function == nullptr && m_complaint.empty()) m_complaint = m_library.name() + " has no " + whole;
  };
  take(m_create, "CreateProgram");
  take(m_size, dialect.size);
  take(m_code, dialect.code);
  take(m_log_size, "GetProgramLogSize");
  take(m_log, "GetProgramLog");
  take(m_destroy, "DestroyProgram");
  take(m_describe, "GetErrorString");
  compile_function last = nullptr;
  take(last, "CompileProgram");
  if (!m_complaint.empty()) return;
  m_compile = last;
  int major = 0, minor = 0;
  if (const auto version = m_library.function<int (*)(int*, int*)>(std::string(dialect.prefix) + "Version"))
    static_cast<void>(version(&major, &minor));
  m_identity = std::string(dialect.name) + " " + std::to_string(major) + "." + std::to_string(minor) + " (" +
               m_library.name() + ")";
}

std::string run_time_compiler::log_of(void* program) const {
  std::size_t bytes = 0;
  if (m_log_size(program, &bytes) != 0 || bytes <= 1) return {};
  std::string log(bytes, '\0');
  if (m_log(program, log.data()) != 0) return {};
  log.resize(bytes - 1);
  return with_colons(log);
}

tsr_status run_time_compiler::compile(const kit::reporter& report, const std::string& text, const char* options,
                                      const std::string& architecture, std::string& image) const {
  struct program {
    const run_time_compiler& compiler;
    void* handle = nullptr;
    ~program() {
      if (handle != nullptr) static_cast<void>(compiler.m_destroy(&handle));
    }
  } made{*this};
  const auto fail = [&](tsr_status status, const char* call, int code) {
    return report.fail(status, "%s: %s%s: %s", m_dialect.name, m_dialect.prefix, call, m_describe(code));
  };
  if (const int code = m_create(&made.handle, text.c_str(), "prelude", 0, nullptr, nullptr))
    return fail(TSR_UNKNOWN, "CreateProgram", code);
  std::vector<std::string> all = kit::split_options(options);
  for (const std::string& one : all)
    if (!m_dialect.checks_options && !one.starts_with("-D") && !one.starts_with("-U"))
      return report.fail(TSR_INVALID_ARGUMENT, "%s: the option '%s' is not taken; -D and -U are", m_dialect.name,
                         one.c_str());
  if (!architecture.empty()) all.push_back(m_dialect.architecture + architecture);
  if (kit::forbids_contraction(text)) all.emplace_back(m_dialect.no_contraction);
  std::vector<const char*> given;
  for (const std::string& one : all) given.push_back(one.c_str());
  if (const int code = m_compile(made.handle, static_cast<int>(given.size()), given.data())) {
    const std::string log = log_of(made.handle);
    return log.empty() ? fail(TSR_INVALID_ARGUMENT, "CompileProgram", code)
                       : report.fail_with(TSR_INVALID_ARGUMENT, log);
  }
  std::size_t bytes = 0;
  if (const int code = m_size(made.handle, &bytes)) return fail(TSR_UNKNOWN, m_dialect.size, code);
  std::string code_of(bytes, '\0');
  if (const int code = m_code(made.handle, code_of.data())) return fail(TSR_UNKNOWN, m_dialect.code, code);
  image = std::move(code_of);
  return TSR_OK;
}

}  // namespace tessera::gpu
