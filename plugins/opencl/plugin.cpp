// The plugin for OpenCL: its header.
#include "plugins/gpu_common/abi/plugin.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "plugins/kit/abi/plugin_header.hpp"
#include "plugins/kit/abi/report.hpp"
#include "plugins/opencl/device_state.hpp"
#include "plugins/opencl/settings.hpp"

namespace {

using namespace tessera;

/// Whether a driver is registered where the system's OpenCL library looks. Loads none: two drivers with a compiler each
/// may not get along in one process (docs/decisions/0023), so none is loaded for a question.
bool has_driver() {
  for (const char* variable : {"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH"})
    if (::secure_getenv(variable) != nullptr) return true;  // the user's own place
  std::error_code failed;
  for (const auto& file : std::filesystem::directory_iterator("/etc/OpenCL/vendors", failed))
    if (file.path().extension() == ".icd") return true;
  return false;
}

std::uint32_t probe(const tsr_host*, char* reason, std::uint32_t reason_bytes) {
  std::string why;
  if (gpu::opencl::take_library(why) && !has_driver())
    why = "no OpenCL driver is installed (/etc/OpenCL/vendors names none)";
  if (reason != nullptr && reason_bytes > 0) std::snprintf(reason, reason_bytes, "%s", why.c_str());
  return why.empty() ? 1 : 0;
}

tsr_status open(const tsr_host* host, const tsr_option_value* values, std::uint32_t count, tsr_plugin** out_plugin,
                const void** out_table) {
  const kit::reporter report(host);
  return kit::guarded(report, [&]() -> tsr_status {
    const auto choice = gpu::opencl::read_choices(kit::option_reader(values, count));
    gpu::opencl::set_program_options(choice.programs);
    gpu::opencl::set_clblast_use(choice.clblast);
    gpu::settings setting;
    setting.accepts = [choice](int ordinal) { return gpu::opencl::accepts(choice, ordinal); };
    setting.why_none = [choice] { return gpu::opencl::why_none(choice); };
    return gpu::open_plugin(host, values, count, setting, out_plugin, out_table);
  });
}

const tsr_plugin_header& header() {
  static const auto options = gpu::opencl::all_options();
  static const tsr_plugin_header value = [] {
    auto made =
        kit::make_header(TSR_PLUGIN_DEVICE, "opencl", options.data(), static_cast<std::uint32_t>(options.size()), open);
    made.probe = probe;
    return made;
  }();
  return value;
}

}  // namespace

extern "C" const tsr_plugin_header* tsr_plugin_query(std::uint32_t host_major, std::uint32_t) {
  return host_major == TSR_ABI_MAJOR ? &header() : nullptr;
}
