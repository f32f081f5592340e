// The stream entries of an interposed device: failures that were injected join the timeline.
#include <algorithm>

#include "plugins/fault/state.hpp"

namespace tessera::fault {
namespace {

tsr_status stream_create(tsr_device* device, std::uint32_t flags, tsr_stream** out_stream) {
  const auto state = find(device);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  const passage in(*state);
  if (const auto status = alive(*state)) return status;
  const tsr_status status = state->inner.stream_create(device, flags, out_stream);
  if (status == TSR_OK) state->add(*out_stream, flags);
  return status;
}

tsr_status stream_destroy(tsr_device* device, tsr_stream* stream) {
  const auto state = find(device);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  // It waits for its work, which may wait for a stream that hangs: from now on nothing does.
  if (state->find(stream) != nullptr) state->plugin->held.open();
  const tsr_status status = state->inner.stream_destroy(device, stream);
  if (status != TSR_INVALID_ARGUMENT) state->remove(stream);
  return status == TSR_OK ? alive(*state) : status;
}

tsr_status stream_signal(tsr_device* device, tsr_stream* stream, tsr_ticket* out_ticket) {
  const auto state = find(device);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  passage in(*state);
  bool work = true;
  if (const auto status = before(in, *state, stream, call::signal, 0, "a signal", work)) return status;
  const auto line = state->find(stream);
  if (line == nullptr) return state->inner.stream_signal(device, stream, out_ticket);
  const std::lock_guard lock(line->mutex);  // nobody sees the point reached before its failure is noted
  const tsr_status status = state->inner.stream_signal(device, stream, out_ticket);
  if (status != TSR_OK) return status;
  line->signalled.store(out_ticket->value);
  if (line->pending != TSR_OK) {
    line->failures.push_back({out_ticket->value, line->pending, std::move(line->pending_message)});
    line->pending = TSR_OK;
    line->pending_message.clear();
  }
  return TSR_OK;
}

tsr_status stream_progress(tsr_device* device, tsr_stream* stream, std::uint64_t* out_value,
                           std::uint64_t* out_failed) {
  const auto state = find(device);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  const auto line = out_value != nullptr ? state->find(stream) : nullptr;
  if (line == nullptr) return state->inner.stream_progress(device, stream, out_value, out_failed);
  if (const auto status = alive(*state)) {
    const std::uint64_t all = line->signalled.load(), next = line->reached.load() + 1;
    std::uint64_t none = 0;
    if (all >= next) line->lost_from.compare_exchange_strong(none, next);
    *out_value = all;
    if (out_failed != nullptr) *out_failed = line->lost_from.load();
    return status;
  }
  std::uint64_t value = 0, failed = 0;
  const std::lock_guard lock(line->mutex);
  tsr_status status = state->inner.stream_progress(device, stream, &value, &failed);
  const auto answer = [&] {
    line->reached.store(std::max(line->reached.load(), value));
    *out_value = value;
    if (out_failed != nullptr) *out_failed = failed;
    return status;
  };
  if (line->failures.empty() || status == TSR_DEVICE_LOST) return answer();
  if (status != TSR_OK && status != TSR_NOT_READY) {  // the plugin's own failure takes its place among ours
    const auto place = std::find_if(line->failures.begin(), line->failures.end(),
                                    [&](const stream_state::failure& f) { return f.value > failed; });
    line->failures.insert(place, {failed, status, "work of the device failed"});
    value = std::max(value, failed);
  }
  value = std::max(value, line->reached.load());  // an earlier answer stopped before a failure that is still to be told
  const stream_state::failure first = line->failures.front();
  if (first.value > value) {
    status = TSR_OK, failed = 0;
    return answer();
  }
  line->reached.store(value);
  line->failures.pop_front();
  *out_value =
      line->failures.empty() ? value : std::max(first.value, std::min(value, line->failures.front().value - 1));
  if (out_failed != nullptr) *out_failed = first.value;
  return state->plugin->report.fail(first.status, "%s", first.message.c_str());
}

tsr_status stream_host_wait(tsr_device* device, tsr_ticket ticket, std::uint64_t timeout_ns) {
  const auto state = find(device);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  if (const auto status = alive(*state)) return status;
  const tsr_status status = state->inner.stream_host_wait(device, ticket, timeout_ns);
  return status == TSR_OK || status == TSR_DEADLINE_EXCEEDED ? (alive(*state) != TSR_OK ? TSR_DEVICE_LOST : status)
                                                             : status;
}

}  // namespace

void put_streams_into(device_state& device) {
  tsr_device_table& t = device.outer;
  t.stream_create = stream_create;
  t.stream_destroy = stream_destroy;
  t.stream_signal = stream_signal;
  t.stream_progress = stream_progress;
  if (t.stream_host_wait != nullptr) t.stream_host_wait = stream_host_wait;
}

}  // namespace tessera::fault
