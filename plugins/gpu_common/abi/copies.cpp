// What streams of a GPU do without a library: copies, fills, host tasks.
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "plugins/gpu_common/abi/handles.hpp"
#include "plugins/gpu_common/kernels/kernels.hpp"
#include "plugins/kit/abi/copy_plan.hpp"

#if defined(TESSERA_GPU_EMULATED)
#include "plugins/gpu_common/api/emulator/runtime.hpp"
#endif

namespace tessera::gpu {
namespace {

/// A plan with as few dimensions as its strides allow.
kit::copy_plan fused(kit::copy_plan plan) {
  if (plan.rows > 1 && plan.destination_stride[0] == plan.bytes && plan.source_stride[0] == plan.bytes) {
    plan.bytes *= plan.rows;
    plan.rows = plan.planes;
    plan.planes = 1;
    plan.destination_stride[0] = plan.destination_stride[1];
    plan.source_stride[0] = plan.source_stride[1];
    return fused(plan);
  }
  const bool planes_go_on = plan.rows > 0 && plan.destination_stride[1] == plan.destination_stride[0] * plan.rows &&
                            plan.source_stride[1] == plan.source_stride[0] * plan.rows;
  if (plan.planes > 1 && planes_go_on) {
    plan.rows *= plan.planes;
    plan.planes = 1;
  }
  if (plan.rows == 1 && plan.planes > 1) {
    plan.rows = plan.planes;
    plan.planes = 1;
    plan.destination_stride[0] = plan.destination_stride[1];
    plan.source_stride[0] = plan.source_stride[1];
  }
  return plan;
}

/// One plane. Rows too far apart for the vendor's call go one by one.
error_t copy_plane(const kit::copy_plan& plan, char* to, const char* from, stream_t stream) {
  if (plan.rows == 1) return copy(to, from, plan.bytes, stream);
  if (plan.destination_stride[0] <= max_pitch && plan.source_stride[0] <= max_pitch)
    return copy_2d(to, plan.destination_stride[0], from, plan.source_stride[0], plan.bytes, plan.rows, stream);
  for (std::uint64_t r = 0; r < plan.rows; ++r) {
    const auto error = copy(to + r * plan.destination_stride[0], from + r * plan.source_stride[0], plan.bytes, stream);
    if (kind_of(error) != error_kind::none) return error;
  }
  return error_t{};
}

error_t enqueue_copy(const kit::copy_plan& plan, char* to, const char* from, stream_t stream) {
  if (plan.planes == 1) return copy_plane(plan, to, from, stream);
  // The vendor's call counts planes in whole rows.
  const auto *ds = plan.destination_stride, *ss = plan.source_stride;
  if (ds[1] % ds[0] == 0 && ss[1] % ss[0] == 0 && ds[0] <= max_pitch && ss[0] <= max_pitch)
    return copy_3d(to, ds[0], ds[1] / ds[0], from, ss[0], ss[1] / ss[0], plan.bytes, plan.rows, plan.planes, stream);
  for (std::uint64_t p = 0; p < plan.planes; ++p) {
    const auto error = copy_plane(plan, to + p * ds[1], from + p * ss[1], stream);
    if (kind_of(error) != error_kind::none) return error;
  }
  return error_t{};
}

}  // namespace

tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* copy) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    kit::copy_plan plan;
    if (const auto status = kit::plan_copy(device->report, copy, plan)) return status;
    tsr_link_desc way{};
    if (const auto status = find_link(device, copy->source_space, copy->destination_space, way)) return status;
    void *to = nullptr, *from = nullptr;
    if (const auto status = resolve_side(device, "the destination", copy->destination_space, copy->destination,
                                         plan.destination_span, &to))
      return status;
    if (const auto status =
            resolve_side(device, "the source", copy->source_space, copy->source, plan.source_span, &from))
      return status;
    if (plan.total() == 0) return TSR_OK;
    const auto error =
        enqueue_copy(fused(plan), static_cast<char*>(to), static_cast<const char*>(from), state_of(stream).native);
    return tell(device, error, "copy");
  });
}

tsr_status fill(tsr_device* device, tsr_stream* stream, tsr_address destination, const void* pattern,
                std::uint32_t pattern_bytes, std::uint64_t count) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    std::uint64_t bytes = 0;
    if (const auto status = kit::check_fill(device->report, pattern, pattern_bytes, count, bytes)) return status;
    void* to = nullptr;
    if (const auto status = operands(device).resolve("the destination", destination, bytes, &to)) return status;
    return tell(device,
                fill_pattern(to, pattern, pattern_bytes, static_cast<std::int64_t>(count), state_of(stream).native),
                "fill");
  });
}

#if defined(TESSERA_GPU_EMULATED)
namespace {

/// The launch of a graph that runs on this thread, or null.
struct launch_place {
  std::shared_ptr<stream_state> state;
  std::uint64_t point;  ///< of the first signal after it
};
thread_local const launch_place* running_launch = nullptr;

/// A host task under way; it goes with the piece of work.
struct task {
  tsr_device* device;
  std::shared_ptr<stream_state> state;
  tsr_status (*function)(void*, void* const*);
  void* argument;
  std::vector<void*> bases;
  std::uint64_t point;  ///< of the first signal after it

  void operator()() const {
    const auto status = function(argument, bases.data());
    if (status == TSR_OK) return;
    if (status == TSR_DEVICE_LOST) return emulator::lose_device(device->ordinal);
    // In a graph the failure is that of the launch, not of the stream that recorded it.
    auto& noted = running_launch != nullptr ? *running_launch->state : *state;
    const std::lock_guard lock(noted.mutex);
    noted.failures.push_back(
        {running_launch != nullptr ? running_launch->point : point, status,
         std::string("a host task returned ") + kit::word_for(status) + " (" + std::to_string(status) + ")"});
  }
};

}  // namespace

tsr_status run_host_work(tsr_device* device, tsr_stream* stream, const kit::host_work& work) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    if (const auto status = kit::check(device->report, work)) return status;
    operands resolver(device);
    task made{device,
              std::static_pointer_cast<stream_state>(stream->own),
              work.function,
              work.argument,
              std::vector<void*>(work.range_count),
              stream->line->next()};
    for (std::uint32_t i = 0; i < work.range_count; ++i)
      if (const auto status = resolver.resolve("a range", work.ranges[i], work.bytes_of(i, 1), &made.bases[i]))
        return status;
    const auto native = made.state->native;
    return tell(device, emulator::enqueue(native, std::move(made)), work.call);
  });
}

error_t launch_with_place(graph_t graph, tsr_stream* stream) {
  const auto place = std::make_shared<launch_place>(
      launch_place{std::static_pointer_cast<stream_state>(stream->own), stream->line->next()});
  const auto native = place->state->native;
  auto error = emulator::enqueue(native, [place] { running_launch = place.get(); });
  if (kind_of(error) == error_kind::none) error = launch_graph(graph, native);
  if (kind_of(error) == error_kind::none) error = emulator::enqueue(native, [place] { running_launch = nullptr; });
  return error;
}
#endif

}  // namespace tessera::gpu
