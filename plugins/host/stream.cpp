// Streams of the host device: inline ones and those with a thread, and the work that needs no library.
#include <array>
#include <cstring>
#include <utility>

#include "plugins/common/copy_plan.hpp"
#include "plugins/host/handles.hpp"

namespace tessera::host {

tsr_status stream_create(tsr_device* device, std::uint32_t flags, tsr_stream** out_stream) {
  return on_device(device, [&]() -> tsr_status {
    if (out_stream == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "stream_create: out_stream is NULL");
    if ((flags & ~static_cast<std::uint32_t>(TSR_STREAM_COPY | TSR_STREAM_INLINE)) != 0)
      return device->report.fail(TSR_INVALID_ARGUMENT, "stream_create: unknown flags 0x%x", flags);
    const auto number = device->streams_made.fetch_add(1, std::memory_order_relaxed);
    auto line = std::make_shared<common::timeline>();
    std::unique_ptr<common::work_queue> queue;
    if ((flags & TSR_STREAM_INLINE) == 0)
      queue = std::make_unique<common::work_queue>(line, "host.s" + std::to_string(number), device->report.host(), nullptr);
    auto& stream = device->streams.take();
    stream.device = device;
    stream.line = std::move(line);
    stream.queue = std::move(queue);
    stream.magic.set(stream_magic);
    *out_stream = &stream;
    return TSR_OK;
  });
}

tsr_status stream_destroy(tsr_device* device, tsr_stream* stream) {
  return on_stream(device, stream, [&]() -> tsr_status {
    if (!stream->magic.take(stream_magic))
      return device->report.fail(TSR_INVALID_ARGUMENT, "stream_destroy: destroyed at the same time by another thread");
    stream->queue.reset();  // works off what is queued and joins
    stream->line.reset();
    device->streams.give(*stream);
    return TSR_OK;
  });
}

tsr_status stream_signal(tsr_device* device, tsr_stream* stream, tsr_ticket* out_ticket) {
  return on_stream(device, stream, [&]() -> tsr_status {
    if (out_ticket == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "stream_signal: out_ticket is NULL");
    std::uint64_t value = 0;
    if (stream->queue != nullptr) {
      value = stream->queue->signal();
    } else {  // everything enqueued before has run
      value = stream->line->next();
      stream->line->append(value);
      stream->line->reach_unseen(value);
    }
    *out_ticket = {stream, value};
    return TSR_OK;
  });
}

tsr_status stream_progress(tsr_device* device, tsr_stream* stream, std::uint64_t* out_value, std::uint64_t* out_failed) {
  return on_stream(device, stream, [&]() -> tsr_status {
    if (out_value == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "stream_progress: out_value is NULL");
    std::string message;
    const auto status = stream->line->progress(out_value, out_failed, message);
    return status == TSR_OK ? TSR_OK : device->report.fail(status, "%s", message.c_str());
  });
}

namespace {

/// The timeline of a ticket, or null with a record: a foreign or dead stream, a value that was never signalled.
std::shared_ptr<common::timeline> line_of(tsr_device* device, const tsr_ticket& ticket) {
  if (!ticket.stream->magic.is(stream_magic) || ticket.stream->device != device) {
    device->report.fail(TSR_INVALID_ARGUMENT, "the ticket is not one of a live stream of the host device");
    return nullptr;
  }
  auto line = ticket.stream->line;
  if (ticket.value > line->signalled()) {
    device->report.fail(TSR_INVALID_ARGUMENT, "the ticket's value %llu was never signalled",
                        static_cast<unsigned long long>(ticket.value));
    return nullptr;
  }
  return line;
}

}  // namespace

tsr_status stream_wait(tsr_device* device, tsr_stream* stream, tsr_ticket ticket) {
  return on_stream(device, stream, [&]() -> tsr_status {
    if (ticket.stream == nullptr) return TSR_OK;
    auto line = line_of(device, ticket);
    if (line == nullptr) return TSR_INVALID_ARGUMENT;
    if (ticket.stream == stream || line->reached() >= ticket.value) return TSR_OK;
    if (stream->queue != nullptr)
      stream->queue->wait(std::move(line), ticket.value);
    else
      line->wait(ticket.value);  // an inline stream's work runs in this call, so its waits do too
    return TSR_OK;
  });
}

tsr_status stream_host_wait(tsr_device* device, tsr_ticket ticket, std::uint64_t timeout_ns) {
  return on_device(device, [&]() -> tsr_status {
    if (ticket.stream == nullptr) return TSR_OK;
    const auto line = line_of(device, ticket);
    if (line == nullptr) return TSR_INVALID_ARGUMENT;
    if (line->wait(ticket.value, timeout_ns)) return TSR_OK;
    return device->report.fail(TSR_DEADLINE_EXCEEDED, "not reached within %llu ns",
                               static_cast<unsigned long long>(timeout_ns));
  });
}

tsr_status stream_callback(tsr_device* device, tsr_stream* stream, void (*function)(void*), void* argument) {
  return on_stream(device, stream, [&]() -> tsr_status {
    if (function == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "stream_callback: function is NULL");
    if (stream->queue != nullptr)
      stream->queue->callback(function, argument);
    else
      function(argument);
    return TSR_OK;
  });
}

tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* copy) {
  return on_stream(device, stream, [&]() -> tsr_status {
    common::copy_plan plan;
    if (const auto status = common::plan_copy(device->report, copy, plan)) return status;
    for (const auto* side : {&copy->destination_space, &copy->source_space}) {
      if (side->device != nullptr && side->device != device)
        return device->report.fail(TSR_INVALID_ARGUMENT, "copy: a side belongs to a device of another plugin");
      if (side->device != nullptr && side->space >= device->domains.size())
        return device->report.fail(TSR_OUT_OF_RANGE, "copy: space %u of %zu", side->space, device->domains.size());
    }
    void *to = nullptr, *from = nullptr;
    operands resolver(device);
    if (const auto status = resolver.resolve("the destination", copy->destination, plan.destination_span, &to))
      return status;
    if (const auto status = resolver.resolve("the source", copy->source, plan.source_span, &from)) return status;
    return enqueue(stream, [plan, to, from](common::execution&) -> tsr_status {
      common::run_copy(plan, to, from);
      return TSR_OK;
    });
  });
}

tsr_status fill(tsr_device* device, tsr_stream* stream, tsr_address destination, const void* pattern,
                std::uint32_t pattern_bytes, std::uint64_t count) {
  return on_stream(device, stream, [&]() -> tsr_status {
    const bool known = pattern_bytes == 1 || pattern_bytes == 2 || pattern_bytes == 4 || pattern_bytes == 8 ||
                       pattern_bytes == 16;
    if (!known || pattern == nullptr)
      return device->report.fail(TSR_INVALID_ARGUMENT, "fill: a pattern of %u bytes", pattern_bytes);
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(count, std::uint64_t{pattern_bytes}, &bytes))
      return device->report.fail(TSR_OUT_OF_RANGE, "fill: more bytes than 64 bits count");
    void* to = nullptr;
    if (const auto status = operands(device).resolve("the destination", destination, bytes, &to)) return status;
    common::scalar copied;
    std::memcpy(copied.bytes, pattern, pattern_bytes);
    return enqueue(stream, [=](common::execution&) -> tsr_status {
      common::fill_pattern(to, copied.bytes, pattern_bytes, count);
      return TSR_OK;
    });
  });
}

namespace {

/// Calls the task's function. A host device cannot be lost, so a task that says so has merely failed.
tsr_status call_task(tsr_status (*function)(void*, void* const*), void* argument, void* const* bases,
                     common::execution& state) {
  const auto status = function(argument, bases);
  if (status == TSR_OK) return TSR_OK;
  state.message = std::string("a host task returned ") + common::word_for(status) + " (" + std::to_string(status) + ")";
  return status == TSR_DEVICE_LOST ? TSR_INTERNAL : status;
}

}  // namespace

tsr_status host_task(tsr_device* device, tsr_stream* stream, tsr_status (*function)(void*, void* const*),
                     void* argument, const tsr_address* ranges, std::uint32_t range_count, double) {
  return on_stream(device, stream, [&]() -> tsr_status {
    if (function == nullptr || (ranges == nullptr && range_count > 0))
      return device->report.fail(TSR_INVALID_ARGUMENT, "host_task: a NULL argument");
    operands resolver(device);
    constexpr std::size_t few = 16;
    std::array<void*, few> here{};
    std::vector<void*> many;
    if (range_count > few || stream->queue != nullptr) many.resize(range_count);
    void** bases = many.empty() ? here.data() : many.data();
    for (std::uint32_t i = 0; i < range_count; ++i)
      if (const auto status = resolver.resolve("a range", ranges[i], 0, &bases[i])) return status;
    if (stream->queue == nullptr)
      return enqueue(stream, [&](common::execution& state) { return call_task(function, argument, bases, state); });
    return enqueue(stream, [function, argument, owned = std::move(many)](common::execution& state) {
      return call_task(function, argument, owned.data(), state);
    });
  });
}

}  // namespace tessera::host
