#pragma once
// What the emulator knows of its devices.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "plugins/gpu_common/api/emulator/runtime.hpp"
#include "plugins/kit/system/pages.hpp"
#include "plugins/kit/system/shared_memory.hpp"

namespace tessera::gpu::emulator {

class queued_stream;

/// Memory of a device. With pages it can be exported, or is another process's; without, it is of the heap.
struct allocation {
  kit::pages pages;
  kit::shared_place place;
  bool imported = false;
};

struct device_state {
  std::atomic<bool> lost{false};               // what the streams look at; after `why`
  std::atomic<error_t> why{error_t::success};  // success while it works
  std::mutex mutex;
  std::map<stream_t, std::shared_ptr<queued_stream>> streams;
  std::map<void*, allocation> allocations;
};

device_state& state_of_device(int ordinal);
/// The calling thread's current device.
int& current_device();
device_state& current_state();
/// success, or why the device is lost.
error_t alive(int ordinal);
error_t alive();
/// An allocation of the current device that is none any more.
std::optional<allocation> take_out(void* memory, bool imported);

}  // namespace tessera::gpu::emulator
