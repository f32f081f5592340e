#pragma once
// The table of a plugin whose devices are known when it is opened.
#include <tessera/plugin.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "plugins/kit/abi/device_list.hpp"
#include "plugins/kit/abi/gate.hpp"
#include "plugins/kit/abi/out_struct.hpp"

namespace tessera::kit {

struct offered_extension {
  tsr_extension_id id;
  std::uint32_t version;
  const void* table;
};

/// `Rules` as for gate, with
///   plugin                                           the type tsr_plugin_s: report, devices (a device_list)
///   device_count(const plugin&), describe(const plugin&, index)
///   make(plugin&, index)                             a unique_ptr<device>
///   device_table()                                   the table of every device
///   close(device&)                                   gives back all it has; its handle is dead by then
///   extensions(const plugin&)                        what it offers, a vector of offered_extension
///   stop(plugin&)                                    before the last devices are closed at shutdown
template <class Rules>
struct plugin_calls {
  using plugin = typename Rules::plugin;
  using device = typename Rules::device;

  static tsr_status enumerate(plugin* in, std::uint32_t index, tsr_device_desc* out_desc, std::uint32_t* out_count) {
    if (in == nullptr) return TSR_INVALID_ARGUMENT;
    return guarded(in->report, [&]() -> tsr_status {
      const std::size_t count = Rules::device_count(*in);
      if (out_desc != nullptr && index >= count)
        return in->report.fail(TSR_OUT_OF_RANGE, "enumerate: device %u of %zu", index, count);
      if (out_count != nullptr) *out_count = static_cast<std::uint32_t>(count);
      if (out_desc != nullptr) fill_out(out_desc, Rules::describe(*in, index));
      return TSR_OK;
    });
  }

  static tsr_status open(plugin* in, std::uint32_t index, device** out_device, const tsr_device_table** out_table) {
    if (in == nullptr) return TSR_INVALID_ARGUMENT;
    return guarded(in->report, [&]() -> tsr_status {
      return in->devices.open(in->report, index, Rules::device_count(*in), Rules::device_table(), out_device, out_table,
                              [&] { return Rules::make(*in, index); });
    });
  }

  static tsr_status close(plugin* in, device* which) {
    if (in == nullptr) return TSR_INVALID_ARGUMENT;
    return guarded(in->report, [&]() -> tsr_status { return in->devices.close(in->report, which, Rules::close); });
  }

  static tsr_status extension(plugin* in, device* on, tsr_extension_id id, std::uint32_t min_version,
                              const void** out_table) {
    if (in == nullptr) return TSR_INVALID_ARGUMENT;
    return gate<Rules>::on_device(on, [&]() -> tsr_status {
      if (out_table == nullptr) return in->report.fail(TSR_INVALID_ARGUMENT, "extension: out_table is NULL");
      for (const offered_extension& one : Rules::extensions(*in)) {
        if (one.id != id || one.version < min_version) continue;
        *out_table = one.table;
        return TSR_OK;
      }
      return in->report.fail(TSR_UNIMPLEMENTED, "extension %u version %u is not offered", id, min_version);
    });
  }

  static tsr_status shutdown(plugin* in) {
    if (in == nullptr) return TSR_INVALID_ARGUMENT;
    const std::unique_ptr<plugin> owner(in);
    Rules::stop(*in);
    in->devices.close_all(Rules::close);
    return TSR_OK;
  }

  static constexpr tsr_plugin_table table = {
      sizeof(tsr_plugin_table), enumerate, open, close, nullptr, extension, shutdown};
};

}  // namespace tessera::kit
