#pragma once
// The IPC table of a plugin, and a handle on a piece of shared_memory.hpp.
#include <cstring>

#include "plugins/kit/abi/ipc_key.hpp"
#include "plugins/kit/abi/version.hpp"
#include "plugins/kit/system/shared_memory.hpp"

namespace tessera::kit {

/// Backend, with
///   rules, gate                                          those of the plugin
///   origin(const device*)                                an ipc_origin
///   refuse(device*, call)                                FAILED_PRECONDITION, with a record, for a thread that records
///   share(device*, tsr_memory*, exported_memory&)        as export_memory says
///   take(device*, const exported_memory&, tsr_memory**)  as import_memory says, of a key that is right
template <class Backend>
struct ipc_calls {
  using device = typename Backend::rules::device;
  using gate = typename Backend::gate;

  static tsr_ipc_table table() {
    tsr_ipc_table made{};
    made.struct_size = sizeof made;
    made.version = 1;
    made.export_memory = export_memory;
    made.import_memory = import_memory;
    return made;
  }

  static tsr_status export_memory(device* on, tsr_memory* memory, std::uint8_t* out_key) {
    return gate::on_device(on, [&]() -> tsr_status {
      if (out_key == nullptr) return on->report.fail(TSR_INVALID_ARGUMENT, "export_memory: out_key is NULL");
      exported_memory exported;
      if (const auto status = Backend::share(on, memory, exported)) return status;
      write_key(Backend::origin(on), exported, out_key);
      return TSR_OK;
    });
  }

  static tsr_status import_memory(device* on, const std::uint8_t* key, tsr_memory** out_memory) {
    return gate::on_device(on, [&]() -> tsr_status {
      if (key == nullptr || out_memory == nullptr)
        return on->report.fail(TSR_INVALID_ARGUMENT, "import_memory: %s is NULL",
                               key == nullptr ? "key" : "out_memory");
      if (const auto status = Backend::refuse(on, "import_memory")) return status;
      exported_memory exported;
      if (const auto status = read_key(on->report, Backend::origin(on), key, exported)) return status;
      return Backend::take(on, exported, out_memory);
    });
  }
};

static_assert(sizeof(shared_place) <= exported_memory::handle_bytes);
inline void put_place(const shared_place& place, exported_memory& to) { std::memcpy(to.handle, &place, sizeof place); }
inline shared_place place_of(const exported_memory& from) {
  shared_place place;
  std::memcpy(&place, from.handle, sizeof place);
  return place;
}

/// Maps another process's piece. Fails as import_memory does.
inline tsr_status find_shared(const reporter& report, const exported_memory& from, pages& out) {
  switch (find_shared(place_of(from), out)) {
    case shared_found::here:
      return out.bytes() >= from.bytes ? TSR_OK
                                       : report.fail(TSR_INVALID_ARGUMENT, "import_memory: the key is damaged");
    case shared_found::gone:
      return report.fail(TSR_NOT_FOUND, "import_memory: the memory is gone, or its process cannot be seen from here");
    case shared_found::denied:
      return report.fail(TSR_PERMISSION_DENIED,
                         "import_memory: the operating system does not let this process see the other one's memory");
    case shared_found::no_room:
      break;
  }
  return report.fail(TSR_RESOURCE_EXHAUSTED, "import_memory: no address space for %llu bytes",
                     static_cast<unsigned long long>(from.bytes));
}

}  // namespace tessera::kit
