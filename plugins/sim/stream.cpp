// Streams of a simulated device, and how their work is timed.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "plugins/common/copy_plan.hpp"
#include "plugins/sim/handles.hpp"

namespace tessera::sim {
namespace {

/// CPU time of the calling thread: how long the host computed, whoever else wanted the processor meanwhile.
std::uint64_t thread_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000ull + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

tsr_status alive(const tsr_device* device) {
  if (!device->lost.load(std::memory_order_acquire)) return TSR_OK;
  return device->report.fail(TSR_DEVICE_LOST, "device '%s' is lost", device->setting.name.c_str());
}

tsr_status check_stream(const tsr_device* device, const tsr_stream* stream) {
  if (stream != nullptr && stream->magic.is(stream_magic) && stream->device == device) return TSR_OK;
  return device->report.fail(TSR_INVALID_ARGUMENT, "the stream is not a live stream of device '%s'",
                             device->setting.name.c_str());
}

std::uint64_t duration_of(double amount, double rate) noexcept {
  if (!(amount > 0) || !(rate > 0)) return 0;
  return static_cast<std::uint64_t>(std::min(std::ceil(amount / rate * 1e9), 86400e9));
}

void advance(tsr_device* device, std::uint64_t time_ns) noexcept {
  auto before = device->latest_ns.load(std::memory_order_relaxed);
  while (before < time_ns && !device->latest_ns.compare_exchange_weak(before, time_ns, std::memory_order_relaxed)) {
  }
}

void submit(tsr_stream* stream, common::work work) {
  tsr_device* device = stream->device;
  stream->queue->run([device, work = std::move(work)](common::execution& state) -> tsr_status {
    const auto status = work(state);
    if (status == TSR_DEVICE_LOST) device->lost.store(true, std::memory_order_release);
    return status;
  });
}

tsr_status as_computation(tsr_device* device, common::execution& state, double flops,
                          const std::function<tsr_status()>& action) {
  auto& clock = device->plugin->clock;
  const bool as_host = device->setting.flops == 0;
  auto busy = as_host ? 0 : duration_of(flops, device->setting.flops);
  // A known duration takes its compute unit before it runs, so that others queue behind it; else it is measured first.
  auto begin = as_host ? 0 : device->compute.reserve(clock.begin(state.time_ns), busy);
  const auto before = as_host ? thread_ns() : 0;
  const tsr_status status = action();
  if (as_host) {
    busy = thread_ns() - before;
    begin = clock.is_virtual() ? device->compute.reserve(state.time_ns, busy) : clock.now() - busy;
  }
  clock.wait_until(begin + busy);
  state.time_ns = begin + busy;
  device->busy_ns.fetch_add(busy, std::memory_order_relaxed);
  advance(device, begin + busy);
  return status;
}

tsr_status stream_create(tsr_device* device, std::uint32_t flags, tsr_stream** out_stream) {
  return on_device(device, [&]() -> tsr_status {
    if (out_stream == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "stream_create: out_stream is NULL");
    if ((flags & TSR_STREAM_INLINE) != 0)
      return device->report.fail(TSR_UNIMPLEMENTED, "stream_create: a simulated device has no inline streams");
    if ((flags & ~static_cast<std::uint32_t>(TSR_STREAM_COPY)) != 0)
      return device->report.fail(TSR_INVALID_ARGUMENT, "stream_create: unknown flags 0x%x", flags);
    const auto number = device->streams_made.fetch_add(1, std::memory_order_relaxed);
    auto line = std::make_shared<common::timeline>(true);
    auto queue = std::make_unique<common::work_queue>(line, device->setting.name.substr(0, 10) + ".s" + std::to_string(number),
                                                      device->report.host(), &device->lost);
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
  return on_any_device(device, [&]() -> tsr_status {
    if (const auto status = check_stream(device, stream)) return status;
    if (!stream->magic.take(stream_magic))
      return device->report.fail(TSR_INVALID_ARGUMENT, "stream_destroy: destroyed at the same time by another thread");
    stream->queue.reset();  // works off what is queued and joins
    stream->line.reset();
    device->streams.give(*stream);
    return alive(device);
  });
}

tsr_status stream_signal(tsr_device* device, tsr_stream* stream, tsr_ticket* out_ticket) {
  return on_stream(device, stream, [&]() -> tsr_status {
    if (out_ticket == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "stream_signal: out_ticket is NULL");
    *out_ticket = {stream, stream->queue->signal()};
    return TSR_OK;
  });
}

tsr_status stream_progress(tsr_device* device, tsr_stream* stream, std::uint64_t* out_value, std::uint64_t* out_failed) {
  return on_any_device(device, [&]() -> tsr_status {
    if (const auto status = check_stream(device, stream)) return status;
    if (out_value == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "stream_progress: out_value is NULL");
    if (const auto status = alive(device)) {
      stream->line->progress_lost(out_value, out_failed);
      return status;
    }
    std::string message;
    const auto status = stream->line->progress(out_value, out_failed, message);
    return status == TSR_OK ? TSR_OK : device->report.fail(status, "%s", message.c_str());
  });
}

namespace {

/// The timeline of a ticket of any device of this plugin, or null with a record.
std::shared_ptr<common::timeline> line_of(const tsr_device* device, const tsr_ticket& ticket) {
  if (!ticket.stream->magic.is(stream_magic) || ticket.stream->device->plugin != device->plugin) {
    device->report.fail(TSR_INVALID_ARGUMENT, "the ticket is not one of a live stream of this plugin");
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
    // A ticket that is reached in fact may lie in the stream's modelled future, so a virtual clock waits in any case.
    if (ticket.stream == stream || (!device->plugin->clock.is_virtual() && line->reached() >= ticket.value)) return TSR_OK;
    stream->queue->wait(std::move(line), ticket.value);
    return TSR_OK;
  });
}

tsr_status stream_host_wait(tsr_device* device, tsr_ticket ticket, std::uint64_t timeout_ns) {
  return on_device(device, [&]() -> tsr_status {
    if (ticket.stream == nullptr) return TSR_OK;
    const auto line = line_of(device, ticket);
    if (line == nullptr) return TSR_INVALID_ARGUMENT;
    if (line->wait(ticket.value, timeout_ns)) return alive(device);
    return device->report.fail(TSR_DEADLINE_EXCEEDED, "not reached within %llu ns",
                               static_cast<unsigned long long>(timeout_ns));
  });
}

tsr_status stream_callback(tsr_device* device, tsr_stream* stream, void (*function)(void*), void* argument) {
  return on_stream(device, stream, [&]() -> tsr_status {
    if (function == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "stream_callback: function is NULL");
    stream->queue->callback(function, argument);
    return TSR_OK;
  });
}

tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* copy) {
  return on_stream(device, stream, [&]() -> tsr_status {
    common::copy_plan plan;
    if (const auto status = common::plan_copy(device->report, copy, plan)) return status;
    route way;
    if (const auto status = find_route(device, copy->source_space, copy->destination_space, way)) return status;
    void *to = nullptr, *from = nullptr;
    std::shared_ptr<allocation> held_to, held_from;
    if (const auto status = resolve_side(device, "the destination", copy->destination_space, copy->destination,
                                         plan.destination_span, &to, held_to))
      return status;
    if (const auto status = resolve_side(device, "the source", copy->source_space, copy->source, plan.source_span, &from,
                                         held_from))
      return status;
    submit(stream, [=, held = std::pair(std::move(held_to), std::move(held_from))](common::execution& state) {
      return as_transfer(device, state, *way.line, way.bandwidth, way.latency_ns, plan.total(), [&]() -> tsr_status {
        common::run_copy(plan, to, from);
        return TSR_OK;
      });
    });
    return TSR_OK;
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
    operands resolver(device);
    if (const auto status = resolver.resolve("the destination", destination, bytes, &to)) return status;
    common::scalar copied;
    std::memcpy(copied.bytes, pattern, pattern_bytes);
    submit(stream, [=, held = std::move(resolver.held)](common::execution& state) {
      return as_transfer(device, state, device->within, device->setting.memory_bandwidth, 0, bytes, [&]() -> tsr_status {
        common::fill_pattern(to, copied.bytes, pattern_bytes, count);
        return TSR_OK;
      });
    });
    return TSR_OK;
  });
}

tsr_status host_task(tsr_device* device, tsr_stream* stream, tsr_status (*function)(void*, void* const*),
                     void* argument, const tsr_address* ranges, std::uint32_t range_count, double modelled_flops) {
  return on_stream(device, stream, [&]() -> tsr_status {
    if (function == nullptr || (ranges == nullptr && range_count > 0))
      return device->report.fail(TSR_INVALID_ARGUMENT, "host_task: a NULL argument");
    operands resolver(device);
    std::vector<void*> bases(range_count);
    for (std::uint32_t i = 0; i < range_count; ++i)
      if (const auto status = resolver.resolve("a range", ranges[i], 1, &bases[i])) return status;
    submit(stream, [=, bases = std::move(bases), held = std::move(resolver.held)](common::execution& state) {
      return as_computation(device, state, modelled_flops, [&]() -> tsr_status {
        const auto status = function(argument, bases.data());
        if (status != TSR_OK)
          state.message = std::string("a host task returned ") + common::word_for(status) + " (" + std::to_string(status) + ")";
        return status;
      });
    });
    return TSR_OK;
  });
}

}  // namespace tessera::sim
