// Memory of simulated devices that other processes map: with the option `shared`. The other process has the same device
// in its own simulated machine; neither sees the other's modelled time.
#include <memory>
#include <utility>

#include "plugins/sim/handles.hpp"

namespace tessera::sim {
namespace {

struct ipc_backend {
  using rules = sim::rules;
  using gate = sim::gate;

  static kit::ipc_origin origin(const tsr_device* device) {
    kit::ipc_origin made{"sim", kit::plugin_version, {}};
    put_uuid(device->index, made.uuid);
    return made;
  }
  static tsr_status refuse(tsr_device* device, const char* call) { return refuse_while_thread_records(device, call); }

  static tsr_status share(const tsr_device* device, const tsr_memory* memory, kit::exported_memory& out) {
    const auto live = device->plugin->memory.find(memory);
    if (live == nullptr || live->owner != device || live->imported)
      return device->report.fail(TSR_INVALID_ARGUMENT,
                                 "export_memory: not live memory of device '%s', or imported itself",
                                 device->setting.name.c_str());
    kit::put_place(live->place, out);
    out.bytes = live->bytes;
    return TSR_OK;
  }

  static tsr_status take(tsr_device* device, const kit::exported_memory& from, tsr_memory** out_memory) {
    kit::pages found;
    if (const auto status = kit::find_shared(device->report, from, found)) return status;
    auto memory = std::make_shared<allocation>(allocation{device, from.bytes, 0, std::move(found), {}, true});
    *out_memory = device->plugin->memory.add(std::move(memory));
    device->live_allocations.fetch_add(1, std::memory_order_relaxed);
    return TSR_OK;
  }
};

}  // namespace

tsr_ipc_table ipc_table() { return kit::ipc_calls<ipc_backend>::table(); }

}  // namespace tessera::sim
