#pragma once
// Host code in a stream's order: the entries host_task and host_work, in one form.
#include <tessera/plugin.h>

#include <cstdint>

#include "plugins/kit/abi/report.hpp"

namespace tessera::kit {

/// What either entry was given. The arrays are the caller's.
struct host_work {
  const char* call;  ///< the entry's name
  tsr_status (*function)(void* argument, void* const* bases);
  void* argument;
  const tsr_address* ranges;
  const std::uint64_t* range_bytes;  ///< null: host_task, which says no lengths
  std::uint32_t range_count;
  double modelled_flops;

  /// Of range i; `unknown` where no length is said.
  std::uint64_t bytes_of(std::uint32_t i, std::uint64_t unknown) const {
    return range_bytes != nullptr ? range_bytes[i] : unknown;
  }
};

/// INVALID_ARGUMENT, with a record, for what cannot be called.
inline tsr_status check(const reporter& report, const host_work& what) {
  if (what.function == nullptr || (what.ranges == nullptr && what.range_count > 0))
    return report.fail(TSR_INVALID_ARGUMENT, "%s: a NULL argument", what.call);
  return TSR_OK;
}

/// Both entries of a plugin whose `Run` checks the handles, calls check(), resolves the ranges and enqueues.
template <tsr_status (*Run)(tsr_device*, tsr_stream*, const host_work&)>
void put_host_work_into(tsr_device_table& table) {
  table.host_task = [](tsr_device* device, tsr_stream* stream, tsr_status (*function)(void*, void* const*),
                       void* argument, const tsr_address* ranges, std::uint32_t range_count, double modelled_flops) {
    return Run(device, stream, {"host_task", function, argument, ranges, nullptr, range_count, modelled_flops});
  };
  table.host_work = [](tsr_device* device, tsr_stream* stream, const tsr_host_work* what) {
    if (!TSR_HAS(tsr_host_work, what, modelled_flops) || (what->range_bytes == nullptr && what->range_count > 0))
      return Run(device, stream, {"host_work", nullptr, nullptr, nullptr, nullptr, 0, 0});
    return Run(device, stream,
               {"host_work", what->function, what->argument, what->ranges, what->range_bytes, what->range_count,
                what->modelled_flops});
  };
}

}  // namespace tessera::kit
