// Kernels of a simulated device: compiled by the host's C compiler, run on the stream's thread, timed by the device's
// speed.
#include <utility>

#include "plugins/kit/jit/host_groups.hpp"
#include "plugins/kit/jit/host_module_rules.hpp"
#include "plugins/kit/jit/kernel_text.hpp"
#include "plugins/sim/handles.hpp"

namespace tessera::sim {
namespace {

struct module_rules : kit::host_module_rules<rules> {
  static tsr_status may_load(tsr_device* device) { return refuse_while_thread_records(device, "module_load"); }

  static tsr_status launch(tsr_device* device, tsr_stream* stream, void* entry, const tsr_launch* how) {
    kit::host_call call;
    operands resolver(device);
    if (const auto status =
            kit::prepare_launch(device->report, resolver, *static_cast<kit::host_kernel*>(entry), how, call))
      return status;
    submit_kernel(
        stream,
        [device, call = std::move(call), held = std::move(resolver.held)](kit::execution& state) mutable -> tsr_status {
          return as_measured(device, state, device->setting.kernel_speed, [&]() -> tsr_status {
            kit::run_groups(call);
            return TSR_OK;
          });
        });
    return TSR_OK;
  }

  static tsr_status compile(tsr_device* device, const char* text, const char* flags, std::string& image) {
    return device->plugin->compiler.compile(device->report, kit::host_source(text), flags, image);
  }
  static const char* identity(tsr_device* device) { return device->plugin->compiler.identity().c_str(); }
};
using module_entries = kit::module_calls<module_rules>;

}  // namespace

void put_modules_into(tsr_device_table& table) { module_entries::put_into(table); }
tsr_jit_table jit_table() { return module_entries::jit_table(); }
void close_modules(tsr_device& device) { module_entries::close(device); }

}  // namespace tessera::sim
