// Points of streams, waits for them, and callbacks:
//   signals        a point of stream_signal is reached at once
//   repeats        every second point of stream_signal has the value of the one before
//   waits          of several waits in a row a stream keeps the first three
//   early          stream_callback calls before the work has finished
//   deaf           stream_callback does not call
//   blocking       stream_wait has its caller wait
//   timeless       stream_host_wait waits as long as it takes
#include <map>
#include <mutex>

#include "tests/plugins/careless/careless.hpp"

namespace careless {
namespace {

// Under mutex.
std::map<tsr_stream*, int> waiting;              // how many waits its last calls were
std::map<tsr_stream*, std::uint64_t> signalled;  // the newest point
std::map<tsr_stream*, tsr_ticket> before;        // every second one

/// A stream's next call is no wait any more.
void has_work(tsr_stream* stream) {
  const std::lock_guard guard(mutex);
  waiting.erase(stream);
}

tsr_status stream_wait(tsr_device* device, tsr_stream* stream, tsr_ticket ticket) {
  {
    const std::lock_guard guard(mutex);
    if (ticket.stream != nullptr && ++waiting[stream] > 3) return TSR_OK;
  }
  return inner_device.stream_wait(device, stream, ticket);
}

tsr_status stream_signal(tsr_device* device, tsr_stream* stream, tsr_ticket* out) {
  has_work(stream);
  return inner_device.stream_signal(device, stream, out);
}

tsr_status fill_after_waits(tsr_device* device, tsr_stream* stream, tsr_address destination, const void* pattern,
                            std::uint32_t bytes, std::uint64_t count) {
  has_work(stream);
  return inner_device.fill(device, stream, destination, pattern, bytes, count);
}

tsr_status task_after_waits(tsr_device* device, tsr_stream* stream, tsr_status (*function)(void*, void* const*),
                            void* argument, const tsr_address* ranges, std::uint32_t count, double flops) {
  has_work(stream);
  return inner_device.host_task(device, stream, function, argument, ranges, count, flops);
}

tsr_status copy_after_waits(tsr_device* device, tsr_stream* stream, const tsr_copy* given) {
  has_work(stream);
  return inner_device.copy(device, stream, given);
}

tsr_status signal_that_is_noted(tsr_device* device, tsr_stream* stream, tsr_ticket* out) {
  const tsr_status status = inner_device.stream_signal(device, stream, out);
  const std::lock_guard guard(mutex);
  if (status == TSR_OK) signalled[stream] = out->value;
  return status;
}

tsr_status progress_that_is_early(tsr_device* device, tsr_stream* stream, std::uint64_t* out_value,
                                  std::uint64_t* out_failed) {
  const tsr_status status = inner_device.stream_progress(device, stream, out_value, out_failed);
  const std::lock_guard guard(mutex);
  if (status == TSR_OK) *out_value = signalled[stream];
  return status;
}

tsr_status signal_that_repeats(tsr_device* device, tsr_stream* stream, tsr_ticket* out) {
  const std::lock_guard guard(mutex);
  if (const auto found = before.find(stream); found != before.end()) {
    *out = found->second;
    before.erase(found);
    return TSR_OK;
  }
  const tsr_status status = inner_device.stream_signal(device, stream, out);
  if (status == TSR_OK) before[stream] = *out;
  return status;
}

tsr_status call_at_once(tsr_device*, tsr_stream*, void (*function)(void*), void* argument) {
  function(argument);
  return TSR_OK;
}

tsr_status wait_by_waiting(tsr_device* device, tsr_stream* stream, tsr_ticket ticket) {
  if (ticket.stream != nullptr) inner_device.stream_host_wait(device, ticket, UINT64_C(60000000000));
  return inner_device.stream_wait(device, stream, ticket);
}

tsr_status callback_that_is_dropped(tsr_device*, tsr_stream*, void (*)(void*), void*) { return TSR_OK; }

tsr_status host_wait_without_limit(tsr_device* device, tsr_ticket ticket, std::uint64_t) {
  return inner_device.stream_host_wait(device, ticket, UINT64_C(60000000000));
}

}  // namespace

void plant_in_timelines(tsr_device_table& table) {
  if (about == "waits") {
    table.stream_wait = stream_wait;
    table.stream_signal = stream_signal;
    table.fill = fill_after_waits;
    table.host_task = task_after_waits;
    table.copy = copy_after_waits;
  }
  if (about == "early") table.stream_callback = call_at_once;
  if (about == "signals") {
    table.stream_signal = signal_that_is_noted;
    table.stream_progress = progress_that_is_early;
  }
  if (about == "repeats") table.stream_signal = signal_that_repeats;
  if (about == "blocking") table.stream_wait = wait_by_waiting;
  if (about == "deaf") table.stream_callback = callback_that_is_dropped;
  if (about == "timeless") table.stream_host_wait = host_wait_without_limit;
}

void forget_timeline(tsr_stream* stream) { waiting.erase(stream), signalled.erase(stream), before.erase(stream); }

}  // namespace careless
