// How streams of the host device are made, inline ones and those with a thread, and the work that needs no library.
#include <array>
#include <cstring>
#include <utility>

#include "plugins/host/handles.hpp"
#include "plugins/kit/abi/copy_plan.hpp"

namespace tessera::host {

tsr_status stream_create(tsr_device* device, std::uint32_t flags, tsr_stream** out_stream) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (out_stream == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "stream_create: out_stream is NULL");
    if ((flags & ~static_cast<std::uint32_t>(TSR_STREAM_COPY | TSR_STREAM_INLINE)) != 0)
      return device->report.fail(TSR_INVALID_ARGUMENT, "stream_create: unknown flags 0x%x", flags);
    const auto number = device->streams_made.fetch_add(1, std::memory_order_relaxed);
    auto line = std::make_shared<kit::timeline>();
    std::unique_ptr<kit::work_queue> queue;
    if ((flags & TSR_STREAM_INLINE) == 0)
      queue =
          std::make_unique<kit::work_queue>(line, "host.s" + std::to_string(number), device->report.host(), nullptr);
    *out_stream = stream_calls::add(device, std::move(line), std::move(queue));
    return TSR_OK;
  });
}

tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* copy) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    kit::copy_plan plan;
    if (const auto status = kit::plan_copy(device->report, copy, plan)) return status;
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
    return kit::enqueue(stream, [plan, to, from](kit::execution&) -> tsr_status {
      kit::run_copy(plan, to, from);
      return TSR_OK;
    });
  });
}

tsr_status fill(tsr_device* device, tsr_stream* stream, tsr_address destination, const void* pattern,
                std::uint32_t pattern_bytes, std::uint64_t count) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    std::uint64_t bytes = 0;
    if (const auto status = kit::check_fill(device->report, pattern, pattern_bytes, count, bytes)) return status;
    void* to = nullptr;
    if (const auto status = operands(device).resolve("the destination", destination, bytes, &to)) return status;
    kit::scalar copied;
    std::memcpy(copied.bytes, pattern, pattern_bytes);
    return kit::enqueue(stream, [=](kit::execution&) -> tsr_status {
      kit::fill_pattern(to, copied.bytes, pattern_bytes, count);
      return TSR_OK;
    });
  });
}

namespace {

/// Calls the task's function. A host device cannot be lost, so a task that says so has merely failed.
tsr_status call_task(tsr_status (*function)(void*, void* const*), void* argument, void* const* bases,
                     kit::execution& state) {
  const auto status = function(argument, bases);
  if (status == TSR_OK) return TSR_OK;
  state.message = std::string("a host task returned ") + kit::word_for(status) + " (" + std::to_string(status) + ")";
  return status == TSR_DEVICE_LOST ? TSR_INTERNAL : status;
}

}  // namespace

tsr_status run_host_work(tsr_device* device, tsr_stream* stream, const kit::host_work& work) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    if (const auto status = kit::check(device->report, work)) return status;
    operands resolver(device);
    constexpr std::size_t few = 16;
    std::array<void*, few> here{};
    std::vector<void*> many;
    if (work.range_count > few || stream->queue != nullptr) many.resize(work.range_count);
    void** bases = many.empty() ? here.data() : many.data();
    for (std::uint32_t i = 0; i < work.range_count; ++i)
      if (const auto status = resolver.resolve("a range", work.ranges[i], work.bytes_of(i, 0), &bases[i]))
        return status;
    if (stream->queue == nullptr)
      return kit::enqueue(stream,
                          [&](kit::execution& state) { return call_task(work.function, work.argument, bases, state); });
    return kit::enqueue(
        stream, [function = work.function, argument = work.argument, owned = std::move(many)](kit::execution& state) {
          return call_task(function, argument, owned.data(), state);
        });
  });
}

}  // namespace tessera::host
