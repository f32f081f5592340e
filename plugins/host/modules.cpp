// Kernels of the host: compiled by its C compiler, run group after group inside the stream's work.
#include <utility>

#include "plugins/host/handles.hpp"
#include "plugins/kit/jit/host_groups.hpp"
#include "plugins/kit/jit/host_module_rules.hpp"
#include "plugins/kit/jit/kernel_text.hpp"

namespace tessera::host {
namespace {

struct module_rules : kit::host_module_rules<rules> {
  static tsr_status may_load(tsr_device*) { return TSR_OK; }

  static tsr_status launch(tsr_device* device, tsr_stream* stream, void* entry, const tsr_launch* how) {
    kit::host_call call;
    operands resolver(device);
    if (const auto status =
            kit::prepare_launch(device->report, resolver, *static_cast<kit::host_kernel*>(entry), how, call))
      return status;
    return kit::enqueue(stream, [call = std::move(call)](kit::execution&) mutable -> tsr_status {
      kit::run_groups(call);
      return TSR_OK;
    });
  }

  static tsr_status compile(tsr_device* device, const char* text, const char* options, std::string& image) {
    return device->compiler->compile(device->report, kit::host_source(text), options, image);
  }
  static const char* identity(tsr_device* device) { return device->compiler->identity().c_str(); }
};
using calls = kit::module_calls<module_rules>;

}  // namespace

void put_modules_into(tsr_device_table& table) { calls::put_into(table); }
tsr_jit_table jit_table() { return calls::jit_table(); }
void close_modules(tsr_device& device) { calls::close(device); }

}  // namespace tessera::host
