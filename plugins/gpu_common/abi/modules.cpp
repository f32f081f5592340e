// Modules, kernels and the JIT table of a GPU.
#include "plugins/gpu_common/abi/modules.hpp"

#include "plugins/kit/abi/module_calls.hpp"

namespace tessera::gpu {
namespace {

struct module_rules : rules {
  static tsr_status may_load(tsr_device* device) { return refuse_while_thread_records(device, "module_load"); }
  static tsr_status load(tsr_device* device, const void* image, std::uint64_t bytes, std::shared_ptr<void>& out) {
    return load_code(device, image, bytes, out);
  }
  static tsr_status find(tsr_device* device, void* code, const char* name, std::shared_ptr<void>& out) {
    return find_entry(device, code, name, out);
  }
  static tsr_status launch(tsr_device* device, tsr_stream* stream, void* entry, const tsr_launch* how) {
    return launch_entry(device, stream, entry, how);
  }
  static tsr_status compile(tsr_device* device, const char* text, const char* options, std::string& image) {
    return compile_code(device, text, options, image);
  }
  static const char* identity(tsr_device* device) { return device->compiler_identity.c_str(); }
};
using module_entries = kit::module_calls<module_rules, gate>;

}  // namespace

void put_modules_into(tsr_device_table& table) {
  if (has_modules()) module_entries::put_into(table);
  put_vendor_entries_into(table);
}
tsr_jit_table jit_table() { return module_entries::jit_table(); }
void close_modules(tsr_device& device) { module_entries::close(device); }

}  // namespace tessera::gpu
