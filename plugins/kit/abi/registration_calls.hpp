#pragma once
// host_register and host_unregister, for devices to which all host memory is as fast: only the book is kept, so that a
// caller's mistakes show on them too.
#include "plugins/kit/abi/gate.hpp"
#include "plugins/kit/system/registration.hpp"

namespace tessera::kit {

/// `Rules` as for gate; the device has `registered`, a registration_table.
template <class Rules>
struct registration_calls {
  using device = typename Rules::device;
  using checked = gate<Rules>;

  static void put_into(tsr_device_table& table) {
    table.host_register = add;
    table.host_unregister = remove;
  }

  static tsr_status add(device* on, void* pointer, std::uint64_t bytes) {
    return checked::on_device(on, [&]() -> tsr_status {
      if (pointer == nullptr || bytes == 0 || bytes > ~reinterpret_cast<std::uintptr_t>(pointer))
        return on->report.fail(TSR_INVALID_ARGUMENT, "host_register: an empty or impossible range");
      if (!on->registered.add(pointer, bytes))
        return on->report.fail(TSR_ALREADY_EXISTS, "host_register: the range overlaps one that is registered");
      return TSR_OK;
    });
  }

  static tsr_status remove(device* on, void* pointer) {
    return checked::on_any_device(on, [&]() -> tsr_status {
      if (!on->registered.remove(pointer))
        return on->report.fail(TSR_INVALID_ARGUMENT, "host_unregister: no range is registered at this address");
      return Rules::alive(on);
    });
  }
};

}  // namespace tessera::kit
