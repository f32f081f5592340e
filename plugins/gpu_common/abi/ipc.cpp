// Memory of a device that other processes reach: the vendor's own handles, in keys that say whose they are.
#include "plugins/gpu_common/abi/handles.hpp"
#include "plugins/kit/abi/ipc_table.hpp"

namespace tessera::gpu {
namespace {

struct ipc_backend {
  using rules = gpu::rules;
  using gate = gpu::gate;

  static kit::ipc_origin origin(const tsr_device* device) {
    kit::ipc_origin made{device->plugin->setting.name, kit::plugin_version, {}};
    std::memcpy(made.uuid, device->facts.uuid, sizeof made.uuid);
    return made;
  }
  static tsr_status refuse(tsr_device* device, const char* call) { return refuse_while_thread_records(device, call); }

  static tsr_status share(tsr_device* device, const tsr_memory* memory, kit::exported_memory& out) {
    const auto& report = device->report;
    if (!is_live(memory) || memory->device != device || memory->imported)
      return report.fail(TSR_INVALID_ARGUMENT, "export_memory: not live memory of this device, or imported itself");
    if (memory->space != device_space || device->plugin->setting.managed)
      return report.fail(TSR_UNIMPLEMENTED, "export_memory: %s memory cannot be shared between processes",
                         memory->space == device_space ? "managed" : "pinned");
    memory->exported = true;
    out.bytes = memory->bytes;
    return tell(device, gpu::export_memory(memory->base, out.handle), "exporting memory");
  }

  static tsr_status take(tsr_device* device, const kit::exported_memory& from, tsr_memory** out_memory) {
    void* base = nullptr;
    const auto error = gpu::import_memory(&base, from.handle);
    if (kind_of(error) == error_kind::bad_argument) {  // the key is right: what its handle meant is no more
      clear_error();
      return device->report.fail(TSR_NOT_FOUND, "import_memory: the memory is gone (%s)", text_of(error));
    }
    if (const auto status = tell(device, error, "importing memory")) return status;
    *out_memory = &hand_out(*device, device_space, from.bytes, base, true);
    return TSR_OK;
  }
};

}  // namespace

tsr_ipc_table ipc_table() { return kit::ipc_calls<ipc_backend>::table(); }

bool has_ipc(const tsr_plugin_s& plugin) {
  return has_shared_memory && !plugin.setting.managed && (plugin.setting.shared || !device_memory_is_host_memory);
}

}  // namespace tessera::gpu
