// Streams of a GPU: tickets are events, taken from a pool and given back once their point was seen reached.
#include <algorithm>
#include <utility>

#include "plugins/gpu_common/abi/handles.hpp"
#include "plugins/kit/abi/stream.hpp"

namespace tessera::gpu {
tsr_status stream_create(tsr_device* device, std::uint32_t flags, tsr_stream** out_stream) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (out_stream == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "stream_create: out_stream is NULL");
    if ((flags & TSR_STREAM_INLINE) != 0)
      return device->report.fail(TSR_UNIMPLEMENTED, "stream_create: a GPU has no inline streams");
    if ((flags & ~static_cast<std::uint32_t>(TSR_STREAM_COPY)) != 0)
      return device->report.fail(TSR_INVALID_ARGUMENT, "stream_create: unknown flags 0x%x", flags);
    stream_t native{};
    if (const auto status = tell(device, create_stream(&native), "creating a stream")) return status;
    auto& stream = device->streams.take();
    stream.device = device;
    stream.line = std::make_shared<kit::timeline>();
    stream.own = std::make_shared<stream_state>(native);
    stream.magic.set(stream_magic);
    *out_stream = &stream;
    return TSR_OK;
  });
}

namespace {

/// Gives back what a stream has whose work is done.
void dismantle(tsr_device& device, tsr_stream& stream) {
  const auto native = state_of(&stream).native;
  for (const auto& point : state_of(&stream).pending) device.events.give(point.event);
  stream.line.reset();
  stream.own.reset();  // with the libraries' handles
  destroy_stream(native);
}

tsr_status destroy(tsr_device* device, tsr_stream* stream) {
  return gate::on_any_stream(device, stream, [&]() -> tsr_status {
    if (!device->loss.is_lost())
      if (const auto status = refuse_while_recording(device, stream, "stream_destroy")) return status;
    if (!stream->magic.take(stream_magic))
      return device->report.fail(TSR_INVALID_ARGUMENT, "stream_destroy: destroyed at the same time by another thread");
    const auto error = synchronize_stream(state_of(stream).native);
    const auto status = device->loss.is_lost() ? alive(device) : tell(device, error, "waiting for a stream's work");
    dismantle(*device, *stream);
    device->streams.give(*stream);
    return status;
  });
}

tsr_status signal(tsr_device* device, tsr_stream* stream, tsr_ticket* out_ticket) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    if (out_ticket == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "stream_signal: out_ticket is NULL");
    if (const auto status = refuse_while_recording(device, stream, "stream_signal")) return status;
    auto& state = state_of(stream);
    event_t event{};
    if (const auto status = tell(device, device->events.take(&event), "creating an event")) return status;
    std::uint64_t value = 0;
    const auto error = [&] {
      const std::lock_guard lock(state.mutex);
      const auto recorded = record(event, state.native);
      if (kind_of(recorded) != error_kind::none) return recorded;
      value = stream->line->next();
      state.pending.push_back({value, event});
      stream->line->append(value);
      return recorded;
    }();
    if (kind_of(error) != error_kind::none) {
      device->events.give(event);
      return tell(device, error, "recording an event");
    }
    *out_ticket = {stream, value};
    return TSR_OK;
  });
}

/// Moves a stream's timeline to where its events are. A device that turns out to be broken begins to end.
void look(tsr_device* device, tsr_stream* stream) {
  auto& state = state_of(stream);
  const auto error = [&] {
    const std::lock_guard lock(state.mutex);
    return advance(device->events, state, *stream->line);
  }();
  if (kind_of(error) != error_kind::none) device->loss.begin(device, error);
}

tsr_status progress(tsr_device* device, tsr_stream* stream, std::uint64_t* out_value, std::uint64_t* out_failed) {
  return gate::on_any_stream(device, stream, [&]() -> tsr_status {
    if (out_value == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "stream_progress: out_value is NULL");
    if (!device->loss.has_begun()) look(device, stream);
    if (const auto status = alive(device)) {
      stream->line->progress_lost(out_value, out_failed);
      return status;
    }
    std::string message;
    const auto status = stream->line->progress(out_value, out_failed, message);
    return status == TSR_OK ? TSR_OK : device->report.fail(status, "%s", message.c_str());
  });
}

/// A ticket's stream, or null with a record: a foreign or dead stream, a value that was never signalled.
tsr_stream* checked(const tsr_device* device, const tsr_ticket& ticket) {
  if (!ticket.stream->magic.is(stream_magic) || ticket.stream->device->plugin != device->plugin) {
    device->report.fail(TSR_INVALID_ARGUMENT, "the ticket is not one of a live stream of this plugin");
    return nullptr;
  }
  if (ticket.value > ticket.stream->line->signalled()) {
    device->report.fail(TSR_INVALID_ARGUMENT, "the ticket's value %llu was never signalled",
                        static_cast<unsigned long long>(ticket.value));
    return nullptr;
  }
  return ticket.stream;
}

tsr_status wait_for(tsr_device* device, tsr_stream* stream, tsr_ticket ticket) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    if (const auto status = refuse_while_recording(device, stream, "stream_wait")) return status;
    if (ticket.stream == nullptr) return TSR_OK;
    tsr_stream* const other = checked(device, ticket);
    if (other == nullptr) return TSR_INVALID_ARGUMENT;
    // What another device lost counts as reached, as on its timeline.
    if (other == stream || other->line->reached() >= ticket.value || other->device->loss.has_begun()) return TSR_OK;
    const auto error = [&]() -> error_t {
      auto& state = state_of(other);
      const std::lock_guard lock(state.mutex);  // the event is not used again meanwhile
      const auto point = std::find_if(state.pending.begin(), state.pending.end(),
                                      [&](const auto& one) { return one.value >= ticket.value; });
      return point == state.pending.end() ? error_t{} : gpu::wait(state_of(stream).native, point->event);
    }();
    return tell(device, error, "waiting for an event");
  });
}

tsr_status host_wait(tsr_device* device, tsr_ticket ticket, std::uint64_t timeout_ns) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (ticket.stream == nullptr) return TSR_OK;
    tsr_stream* const stream = checked(device, ticket);
    if (stream == nullptr) return TSR_INVALID_ARGUMENT;
    // Vendors' waits have no time limit, so it looks, less and less often.
    const auto begin = std::chrono::steady_clock::now();
    for (unsigned looks = 0;; ++looks) {
      if (!stream->device->loss.has_begun()) look(stream->device, stream);
      if (const auto status = alive(device)) return status;
      if (stream->line->reached() >= ticket.value || stream->device->loss.is_lost()) return TSR_OK;
      const auto passed =
          std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin);
      if (static_cast<std::uint64_t>(passed.count()) >= timeout_ns)
        return device->report.fail(TSR_DEADLINE_EXCEEDED, "not reached within %llu ns",
                                   static_cast<unsigned long long>(timeout_ns));
      if (looks < 200)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::microseconds(std::min(looks / 40, 50u)));
    }
  });
}

tsr_status callback(tsr_device* device, tsr_stream* stream, void (*function)(void*), void* argument) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    if (function == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "stream_callback: function is NULL");
    if (const auto status = refuse_while_recording(device, stream, "stream_callback")) return status;
    auto* const entry = device->callbacks.add(function, argument);
    const auto error = host_function(state_of(stream).native, &callback_list::call, entry);
    if (kind_of(error) != error_kind::none) device->callbacks.drop(entry);
    return tell(device, error, "enqueueing a callback");
  });
}

tsr_status native(tsr_device* device, tsr_stream* stream, void** out_native) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    if (out_native == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "stream_native: out_native is NULL");
    *out_native = native_handle(state_of(stream).native);
    return TSR_OK;
  });
}

}  // namespace

void put_streams_into(tsr_device_table& table) {
  table.stream_destroy = destroy;
  table.stream_signal = signal;
  table.stream_progress = progress;
  table.stream_wait = wait_for;
  table.stream_host_wait = host_wait;
  table.stream_callback = callback;
  table.stream_native = native;
}

void close_streams(tsr_device& device) {
  close_graphs(device);
  // All of them first: they may wait for each other's events.
  device.streams.for_each([](tsr_stream& stream) {
    if (stream.magic.take(stream_magic)) synchronize_stream(state_of(&stream).native);
  });
  device.streams.for_each([&](tsr_stream& stream) {
    if (stream.own != nullptr) dismantle(device, stream);
  });
  device.loss.wait();
  device.events.clear();
}

}  // namespace tessera::gpu
