#pragma once
// A LAYER plugin that breaks one promise around a device plugin that offers host tasks; the option `about` names it, at
// the top of the file that breaks it. This is what those files share.
#include <tessera/plugin.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace careless {

extern std::string about;         ///< the promise that is broken; "": none
extern const tsr_host* the_host;  ///< of the last opening

// What is wrapped; all devices of a plugin that this is tested with have the same tables.
extern tsr_plugin_table inner;
extern tsr_device_table inner_device;
extern tsr_blas_table inner_blas;
extern tsr_sparse_table inner_sparse;
extern tsr_tensor_table inner_tensor;

extern std::mutex mutex;                       ///< of what follows, and of what the files remember
extern std::vector<tsr_stream*> streams;       ///< that live
extern std::vector<tsr_device*> open_devices;  ///< of the last opening

// Each puts its own entries into a table if the promise is one of its file.
void plant_in_queued_work(tsr_device_table& table);
void plant_in_queued_work(tsr_blas_table& table);
void plant_in_queued_work(tsr_sparse_table& table);
void plant_in_timelines(tsr_device_table& table);
void plant_in_failures(tsr_device_table& table);
void plant_in_losses(tsr_device_table& table);
void plant_in_stream_ends(tsr_device_table& table);
void plant_in_stream_ends(tsr_plugin_table& table);
void plant_in_manners(tsr_device_table& table);
void plant_in_arguments(tsr_device_table& table);
void plant_in_arguments(tsr_blas_table& table);
void plant_in_arguments(tsr_tensor_table& table);

// A stream is new: what was remembered of an earlier one at its address goes. With the mutex held.
void forget_timeline(tsr_stream* stream);
void forget_failures(tsr_stream* stream);
void forget_losses(tsr_stream* stream);

/// A host task that does `work`, a copyable function of the mapped bases.
template <class Work>
tsr_status later(tsr_device* device, tsr_stream* stream, const tsr_address* ranges, std::uint32_t count, Work work) {
  auto own = std::make_unique<Work>(std::move(work));
  const auto run = [](void* self, void* const* bases) -> tsr_status {
    const std::unique_ptr<Work> mine(static_cast<Work*>(self));
    (*mine)(bases);
    return TSR_OK;
  };
  const tsr_status status = inner_device.host_task(device, stream, run, own.get(), ranges, count, 0);
  if (status == TSR_OK) static_cast<void>(own.release());
  return status;
}

/// Waits for all work that the stream has now.
void wait_for(tsr_device* device, tsr_stream* stream);

}  // namespace careless
