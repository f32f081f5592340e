// A device that is lost:
//   forgiving      health answers OK again when it has told the loss
//   contagious     when a device is lost, the others say that they are
//   points         on a lost device stream_progress stays at what was reached before
//   callbacks      those that are due when the device is lost are not called
//   restless       a copy out of the device goes on when the loss was told
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "tests/plugins/careless/careless.hpp"

namespace careless {
namespace {

// Under mutex.
std::map<tsr_stream*, std::uint64_t> reached;  // as stream_progress said
tsr_copy last_out;                             // the last copy to plain host memory
std::thread late_writer;

tsr_status progress_that_stays(tsr_device* device, tsr_stream* stream, std::uint64_t* out_value,
                               std::uint64_t* out_failed) {
  const tsr_status status = inner_device.stream_progress(device, stream, out_value, out_failed);
  const std::lock_guard guard(mutex);
  if (status == TSR_OK) reached[stream] = *out_value;
  if (status == TSR_DEVICE_LOST) *out_value = reached[stream];
  return status;
}

tsr_status forgiving_health(tsr_device* device) {
  static std::atomic<bool> told{false};
  const tsr_status status = inner_device.health(device);
  if (status != TSR_DEVICE_LOST) return status;
  return told.exchange(true) ? TSR_OK : status;
}

tsr_status contagious_health(tsr_device* device) {
  const std::lock_guard guard(mutex);
  for (tsr_device* one : open_devices)
    if (const tsr_status status = inner_device.health(one)) return status;
  return inner_device.health(device);
}

/// A callback that is not called on a lost device.
struct due {
  tsr_device* device;
  void (*function)(void*);
  void* argument;
  static void call(void* self) {
    const std::unique_ptr<due> mine(static_cast<due*>(self));
    if (inner_device.health(mine->device) == TSR_OK) mine->function(mine->argument);
  }
};

tsr_status callback_of_the_living(tsr_device* device, tsr_stream* stream, void (*function)(void*), void* argument) {
  auto made = std::make_unique<due>(due{device, function, argument});
  const tsr_status status = inner_device.stream_callback(device, stream, &due::call, made.get());
  if (status == TSR_OK) static_cast<void>(made.release());
  return status;
}

tsr_status copy_that_is_noted(tsr_device* device, tsr_stream* stream, const tsr_copy* given) {
  const tsr_status status = inner_device.copy(device, stream, given);
  const std::lock_guard guard(mutex);
  if (status == TSR_OK && given->destination.memory == nullptr && given->bytes > 0) last_out = *given;
  return status;
}

tsr_status progress_that_leaves_a_writer(tsr_device* device, tsr_stream* stream, std::uint64_t* out_value,
                                         std::uint64_t* out_failed) {
  const tsr_status status = inner_device.stream_progress(device, stream, out_value, out_failed);
  const std::lock_guard guard(mutex);
  if (status == TSR_DEVICE_LOST && last_out.bytes > 0 && !late_writer.joinable())
    late_writer = std::thread([to = last_out.destination.offset] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      *reinterpret_cast<volatile unsigned char*>(static_cast<std::uintptr_t>(to)) = 0;
    });
  return status;
}

tsr_status destroy_behind_the_writer(tsr_device* device, tsr_stream* stream) {
  if (late_writer.joinable()) late_writer.join();
  last_out = {};
  {
    const std::lock_guard guard(mutex);
    std::erase(streams, stream);
  }
  return inner_device.stream_destroy(device, stream);
}

}  // namespace

void plant_in_losses(tsr_device_table& table) {
  if (about == "forgiving") table.health = forgiving_health;
  if (about == "contagious") table.health = contagious_health;
  if (about == "points") table.stream_progress = progress_that_stays;
  if (about == "callbacks") table.stream_callback = callback_of_the_living;
  if (about == "restless") {
    table.copy = copy_that_is_noted;
    table.stream_progress = progress_that_leaves_a_writer;
    table.stream_destroy = destroy_behind_the_writer;
  }
}

void forget_losses(tsr_stream* stream) { reached.erase(stream); }

}  // namespace careless
