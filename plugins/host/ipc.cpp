// Memory of the host device that other processes map: with the option `shared`.
#include <utility>

#include "plugins/host/handles.hpp"

namespace tessera::host {
namespace {

struct ipc_backend {
  using rules = host::rules;
  using gate = host::gate;

  static kit::ipc_origin origin(const tsr_device*) {
    kit::ipc_origin made{"host", kit::plugin_version, {}};
    std::memcpy(made.uuid, uuid, sizeof made.uuid);
    return made;
  }
  static tsr_status refuse(const tsr_device*, const char*) { return TSR_OK; }  // nothing records here

  static tsr_status share(const tsr_device* device, const tsr_memory* memory, kit::exported_memory& out) {
    if (!is_live(device, memory) || memory->imported)
      return device->report.fail(TSR_INVALID_ARGUMENT,
                                 "export_memory: not live memory of the host device, or imported itself");
    kit::put_place(memory->place, out);
    out.bytes = memory->bytes;
    out.space = memory->space;
    return TSR_OK;
  }

  static tsr_status take(tsr_device* device, const kit::exported_memory& from, tsr_memory** out_memory) {
    if (from.space >= device->domains.size())
      return device->report.fail(TSR_INVALID_ARGUMENT, "import_memory: the key is of space %u of %zu", from.space,
                                 device->domains.size());
    kit::pages found;
    if (const auto status = kit::find_shared(device->report, from, found)) return status;
    auto& memory = device->memories.take();
    memory.device = device;
    memory.space = from.space;
    memory.bytes = from.bytes;
    memory.pages = std::move(found);
    memory.imported = true;
    memory.magic.set(memory_magic);
    device->live_allocations.fetch_add(1, std::memory_order_relaxed);
    *out_memory = &memory;
    return TSR_OK;
  }
};

}  // namespace

tsr_ipc_table ipc_table() { return kit::ipc_calls<ipc_backend>::table(); }

}  // namespace tessera::host
