// Streams of a simulated device, and how their work is timed.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "plugins/kit/abi/copy_plan.hpp"
#include "plugins/sim/handles.hpp"

namespace tessera::sim {
namespace {

/// CPU time of the calling thread: how long the host computed, whoever else wanted the processor meanwhile.
std::uint64_t thread_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000ull + static_cast<std::uint64_t>(now.tv_nsec);
}

/// Waits for the modelled end of a computation.
void end_computation(tsr_device* device, kit::execution& state, std::uint64_t begin, std::uint64_t busy) {
  device->plugin->clock.wait_until(begin + busy);
  state.time_ns = begin + busy;
  device->busy_ns.fetch_add(busy, std::memory_order_relaxed);
  advance(device, begin + busy);
}

}  // namespace

tsr_status alive(const tsr_device* device) {
  if (!device->loss.announced()) return TSR_OK;
  return device->report.fail(TSR_DEVICE_LOST, "device '%s' is lost", device->setting.name.c_str());
}

std::uint64_t duration_of(double amount, double rate) noexcept {
  if (!(amount > 0) || !(rate > 0)) return 0;
  return static_cast<std::uint64_t>(std::min(std::ceil(amount / rate * 1e9), 86400e9));
}

void launch_delay(tsr_device* device, kit::execution& state, std::uint64_t latency_ns) {
  auto& clock = device->plugin->clock;
  const auto end = clock.begin(state.time_ns) + latency_ns;
  clock.wait_until(end);
  state.time_ns = end;
  advance(device, end);
}

void advance(tsr_device* device, std::uint64_t time_ns) noexcept {
  auto before = device->latest_ns.load(std::memory_order_relaxed);
  while (before < time_ns && !device->latest_ns.compare_exchange_weak(before, time_ns, std::memory_order_relaxed)) {
  }
}

void submit(tsr_stream* stream, kit::work work) {
  if (auto* const recorded = recorded_by(stream)) {
    recorded->push_back(std::move(work));
    return;
  }
  stream->queue->run(std::move(work));
}

void submit_kernel(tsr_stream* stream, kit::work work) {
  const auto latency = stream->device->setting.launch_latency_ns;
  if (latency == 0 || recorded_by(stream) != nullptr) return submit(stream, std::move(work));
  submit(stream, [device = stream->device, latency, work = std::move(work)](kit::execution& state) {
    launch_delay(device, state, latency);
    return work(state);
  });
}

tsr_status as_computation(tsr_device* device, kit::execution& state, double flops,
                          const std::function<tsr_status()>& action) {
  if (device->setting.flops == 0) return as_measured(device, state, 1, action);
  auto& clock = device->plugin->clock;
  const auto busy = duration_of(flops, device->setting.flops);
  // It takes its compute unit before it runs, so that others queue behind it.
  const auto begin = device->compute.reserve(clock.begin(state.time_ns), busy);
  const tsr_status status = action();
  end_computation(device, state, begin, busy);
  return status;
}

tsr_status as_measured(tsr_device* device, kit::execution& state, double speed,
                       const std::function<tsr_status()>& action) {
  auto& clock = device->plugin->clock;
  const auto before = thread_ns();
  const tsr_status status = action();
  const auto ran = thread_ns() - before, busy = duration_of(static_cast<double>(ran), speed * 1e9);
  const auto earliest = clock.is_virtual() ? state.time_ns : clock.now() - ran;
  // What has just run at the host's own speed is over: it waits for no unit.
  const bool over = !clock.is_virtual() && busy <= ran;
  end_computation(device, state, over ? earliest : device->compute.reserve(earliest, busy), busy);
  return status;
}

tsr_status stream_create(tsr_device* device, std::uint32_t flags, tsr_stream** out_stream) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (out_stream == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "stream_create: out_stream is NULL");
    if ((flags & TSR_STREAM_INLINE) != 0)
      return device->report.fail(TSR_UNIMPLEMENTED, "stream_create: a simulated device has no inline streams");
    if ((flags & ~static_cast<std::uint32_t>(TSR_STREAM_COPY)) != 0)
      return device->report.fail(TSR_INVALID_ARGUMENT, "stream_create: unknown flags 0x%x", flags);
    if (const auto most = device->setting.max_streams; most != 0 && device->streams.live() >= most)
      return device->report.fail(TSR_RESOURCE_EXHAUSTED, "device '%s' has at most %u streams at a time",
                                 device->setting.name.c_str(), most);
    const auto number = device->streams_made.fetch_add(1, std::memory_order_relaxed);
    auto line = std::make_shared<kit::timeline>(true);
    auto queue = std::make_unique<kit::work_queue>(
        line, device->setting.name.substr(0, 10) + ".s" + std::to_string(number), device->report.host(), &device->loss);
    *out_stream = stream_calls::add(device, std::move(line), std::move(queue));
    return TSR_OK;
  });
}

tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* copy) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    kit::copy_plan plan;
    if (const auto status = kit::plan_copy(device->report, copy, plan)) return status;
    if (const auto most = device->setting.max_copy; most != 0 && plan.total() > most)
      return device->report.fail(TSR_OUT_OF_RANGE, "device '%s' copies at most %llu bytes at once, %llu were asked for",
                                 device->setting.name.c_str(), static_cast<unsigned long long>(most),
                                 static_cast<unsigned long long>(plan.total()));
    route way;
    if (const auto status = find_route(device, copy->source_space, copy->destination_space, way)) return status;
    void *to = nullptr, *from = nullptr;
    std::shared_ptr<allocation> held_to, held_from;
    if (const auto status = resolve_side(device, "the destination", copy->destination_space, copy->destination,
                                         plan.destination_span, &to, held_to))
      return status;
    if (const auto status =
            resolve_side(device, "the source", copy->source_space, copy->source, plan.source_span, &from, held_from))
      return status;
    submit(stream, [=, held = std::pair(std::move(held_to), std::move(held_from))](kit::execution& state) {
      return as_transfer(device, state, *way.line, way.bandwidth, way.latency_ns, plan.total(), [&]() -> tsr_status {
        kit::run_copy(plan, to, from);
        return TSR_OK;
      });
    });
    return TSR_OK;
  });
}

tsr_status fill(tsr_device* device, tsr_stream* stream, tsr_address destination, const void* pattern,
                std::uint32_t pattern_bytes, std::uint64_t count) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    std::uint64_t bytes = 0;
    if (const auto status = kit::check_fill(device->report, pattern, pattern_bytes, count, bytes)) return status;
    void* to = nullptr;
    operands resolver(device);
    if (const auto status = resolver.resolve("the destination", destination, bytes, &to)) return status;
    kit::scalar copied;
    std::memcpy(copied.bytes, pattern, pattern_bytes);
    submit_kernel(stream, [=, held = std::move(resolver.held)](kit::execution& state) {
      return as_transfer(device, state, device->within, device->setting.memory_bandwidth, 0, bytes,
                         [&]() -> tsr_status {
                           kit::fill_pattern(to, copied.bytes, pattern_bytes, count);
                           return TSR_OK;
                         });
    });
    return TSR_OK;
  });
}

tsr_status run_host_work(tsr_device* device, tsr_stream* stream, const kit::host_work& work) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    if (const auto status = kit::check(device->report, work)) return status;
    operands resolver(device);
    std::vector<void*> bases(work.range_count);
    for (std::uint32_t i = 0; i < work.range_count; ++i)
      if (const auto status = resolver.resolve("a range", work.ranges[i], work.bytes_of(i, 1), &bases[i]))
        return status;
    submit_kernel(stream, [device, function = work.function, argument = work.argument, flops = work.modelled_flops,
                           bases = std::move(bases), held = std::move(resolver.held)](kit::execution& state) {
      return as_computation(device, state, flops, [&]() -> tsr_status {
        const auto status = function(argument, bases.data());
        if (status != TSR_OK)
          state.message =
              std::string("a host task returned ") + kit::word_for(status) + " (" + std::to_string(status) + ")";
        return status;
      });
    });
    return TSR_OK;
  });
}

}  // namespace tessera::sim
