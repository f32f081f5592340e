// The end of a stream that has work:
//   destroy        stream_destroy drops copies that have not begun
//   hasty          stream_destroy returns at once, and the work goes on
#include <atomic>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/plugins/careless/careless.hpp"

namespace careless {
namespace {

std::vector<std::thread> destroyers;  // under mutex

/// Whether copies that have not begun are done; told apart by nothing finer, as one stream at a time is tested.
std::atomic<bool> dropped{false};

tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* given) {
  const bool plain = given != nullptr && given->source.memory != nullptr && given->destination.memory == nullptr &&
                     given->bytes > 0 && given->rows[0] <= 1 && given->rows[1] <= 1;
  if (!plain) return inner_device.copy(device, stream, given);
  return later(device, stream, &given->source, 1,
               [to = given->destination.offset, bytes = given->bytes](void* const* bases) {
                 if (!dropped) std::memcpy(reinterpret_cast<void*>(static_cast<std::uintptr_t>(to)), bases[0], bytes);
               });
}

tsr_status stream_destroy(tsr_device* device, tsr_stream* stream) {
  {
    const std::lock_guard guard(mutex);
    std::erase(streams, stream);
  }
  dropped = about == "destroy";
  const tsr_status status = inner_device.stream_destroy(device, stream);
  dropped = false;
  return status;
}

tsr_status destroy_without_waiting(tsr_device* device, tsr_stream* stream) {
  if (stream == nullptr) return inner_device.stream_destroy(device, stream);
  const std::lock_guard guard(mutex);
  std::erase(streams, stream);
  destroyers.emplace_back([device, stream] { inner_device.stream_destroy(device, stream); });
  return TSR_OK;
}

tsr_status close_behind_the_destroyers(tsr_plugin* plugin, tsr_device* device) {
  for (std::thread& one : destroyers) one.join();
  destroyers.clear();
  return inner.device_close(plugin, device);
}

}  // namespace

void plant_in_stream_ends(tsr_device_table& table) {
  table.stream_destroy = stream_destroy;  // always: the list of streams is kept
  if (about == "destroy") table.copy = copy;
  if (about == "hasty") table.stream_destroy = destroy_without_waiting;
}

void plant_in_stream_ends(tsr_plugin_table& table) {
  if (about == "hasty") table.device_close = close_behind_the_destroyers;
}

}  // namespace careless
