// Streams of the disk, and the work on them.
#include <algorithm>
#include <cstring>
#include <utility>

#include "plugins/disk/handles.hpp"
#include "plugins/kit/abi/copy_plan.hpp"
#include "plugins/kit/abi/operand.hpp"

namespace tessera::disk {
namespace {

using kit::copy_plan;
using direction = transfer::direction;

/// What passes at once through host memory, for copies from the disk to the disk and for fills. A multiple of all
/// patterns.
constexpr std::uint64_t window_bytes = 4 << 20;

/// Moves rows between the host and the disk; the state's message says why when it fails.
tsr_status move(io_context& io, stream_io& by, kit::execution& state, extent& on_disk, direction way, void* host,
                const strided_range& range) {
  transfer whole(io, on_disk, way, host, range);
  by.does->run(whole, by.own);
  if (!whole.result().good()) state.message = whole.result().message;
  return whole.result().status;
}

/// `bytes` in one row.
strided_range flat(std::uint64_t disk, std::uint64_t bytes) {
  strided_range range;
  range.bytes = bytes;
  range.disk = disk;
  return range;
}

/// One end on the disk.
struct place {
  std::shared_ptr<extent> range;
  std::uint64_t offset = 0;
};

/// A row of a copy inside the disk, window by window: backwards when its end would be overwritten before it is read.
tsr_status move_row(io_context& io, stream_io& by, kit::execution& state, const place& to, const place& from,
                    std::uint64_t bytes) {
  unsigned char* window =
      by.window.at_least(std::min((bytes + cell_bytes - 1) / cell_bytes * cell_bytes, window_bytes));
  const bool backwards = to.range == from.range && to.offset > from.offset && to.offset - from.offset < bytes;
  for (std::uint64_t done = 0; done < bytes;) {
    const auto here = std::min(bytes - done, window_bytes);
    const auto at = backwards ? bytes - done - here : done;
    if (const auto status =
            move(io, by, state, *from.range, direction::from_disk, window, flat(from.offset + at, here)))
      return status;
    if (const auto status = move(io, by, state, *to.range, direction::to_disk, window, flat(to.offset + at, here)))
      return status;
    done += here;
  }
  return TSR_OK;
}

/// A copy inside the disk. Short rows go in groups, packed in between.
tsr_status move_inside(io_context& io, stream_io& by, kit::execution& state, const copy_plan& plan, const place& to,
                       const place& from) {
  if (plan.total() == 0) return TSR_OK;
  const auto group = plan.bytes >= window_bytes ? 1 : std::min(window_bytes / plan.bytes, plan.rows);
  for (std::uint64_t p = 0; p < plan.planes; ++p)
    for (std::uint64_t r = 0; r < plan.rows; r += group) {
      const place to_here{to.range, to.offset + p * plan.destination_stride[1] + r * plan.destination_stride[0]};
      const place from_here{from.range, from.offset + p * plan.source_stride[1] + r * plan.source_stride[0]};
      if (plan.rows == 1 || group == 1) {
        if (const auto status = move_row(io, by, state, to_here, from_here, plan.bytes)) return status;
        continue;
      }
      unsigned char* window = by.window.at_least(window_bytes);
      strided_range rows;
      rows.bytes = plan.bytes;
      rows.rows = std::min(group, plan.rows - r);
      rows.host_stride[0] = plan.bytes;
      rows.disk = from_here.offset;
      rows.disk_stride[0] = plan.source_stride[0];
      if (const auto status = move(io, by, state, *from.range, direction::from_disk, window, rows)) return status;
      rows.disk = to_here.offset;
      rows.disk_stride[0] = plan.destination_stride[0];
      if (const auto status = move(io, by, state, *to.range, direction::to_disk, window, rows)) return status;
    }
  return TSR_OK;
}

/// The rows of a copy with one end in host memory.
strided_range rows_of(const copy_plan& plan, std::uint64_t disk_offset, bool to_disk) {
  strided_range range;
  range.bytes = plan.bytes;
  range.rows = plan.rows;
  range.planes = plan.planes;
  range.disk = disk_offset;
  const auto& on_disk = to_disk ? plan.destination_stride : plan.source_stride;
  const auto& in_memory = to_disk ? plan.source_stride : plan.destination_stride;
  std::copy_n(on_disk, 2, range.disk_stride);
  std::copy_n(in_memory, 2, range.host_stride);
  return range;
}

/// One side of a copy: a host pointer (`range` stays null) or a range of the disk.
tsr_status find_side(const tsr_device* device, const char* name, const tsr_space_ref& where, const tsr_address& address,
                     std::uint64_t bytes, std::shared_ptr<extent>& range) {
  if (where.device != nullptr) return find_extent(device, name, address, bytes, range);
  if (address.memory != nullptr)
    return device->report.fail(TSR_INVALID_ARGUMENT, "%s is said to be host memory but carries a memory handle", name);
  if (address.offset == 0 && bytes > 0) return device->report.fail(TSR_INVALID_ARGUMENT, "%s is a null pointer", name);
  return TSR_OK;
}

void* pointer_of(const tsr_address& address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address.offset));
}

}  // namespace

tsr_status stream_create(tsr_device* device, std::uint32_t flags, tsr_stream** out_stream) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (out_stream == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "stream_create: out_stream is NULL");
    if ((flags & TSR_STREAM_INLINE) != 0)
      return device->report.fail(TSR_UNIMPLEMENTED, "stream_create: the disk has no inline streams");
    if ((flags & ~static_cast<std::uint32_t>(TSR_STREAM_COPY)) != 0)
      return device->report.fail(TSR_INVALID_ARGUMENT, "stream_create: unknown flags 0x%x", flags);
    auto own = std::make_shared<stream_io>();
    own->does = device->threads;
    if (own->does == nullptr) {
      std::string why;
      own->does = make_ring_engine(device->io, device->setting.queue_depth, why);
      if (own->does == nullptr)
        return device->report.fail(TSR_RESOURCE_EXHAUSTED, "stream_create: no further io_uring: %s", why.c_str());
    }
    const auto number = device->streams_made.fetch_add(1, std::memory_order_relaxed);
    auto line = std::make_shared<kit::timeline>();
    auto queue =
        std::make_unique<kit::work_queue>(line, "disk.s" + std::to_string(number), device->report.host(), nullptr);
    *out_stream = stream_calls::add(device, std::move(line), std::move(queue), std::move(own));
    return TSR_OK;
  });
}

tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* copy) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    copy_plan plan;
    if (const auto status = kit::plan_copy(device->report, copy, plan)) return status;
    if (const auto status = check_sides(device, copy->source_space, copy->destination_space)) return status;
    std::shared_ptr<extent> to, from;
    if (const auto status =
            find_side(device, "the destination", copy->destination_space, copy->destination, plan.destination_span, to))
      return status;
    if (const auto status = find_side(device, "the source", copy->source_space, copy->source, plan.source_span, from))
      return status;
    if (plan.total() == 0) return TSR_OK;
    auto* by = static_cast<stream_io*>(stream->own.get());
    const auto to_address = copy->destination, from_address = copy->source;
    return kit::enqueue(
        stream, [=, io = &device->io, to = std::move(to), from = std::move(from)](kit::execution& state) -> tsr_status {
          if (to != nullptr && from != nullptr)
            return move_inside(*io, *by, state, plan, {to, to_address.offset}, {from, from_address.offset});
          if (to != nullptr)
            return move(*io, *by, state, *to, direction::to_disk, pointer_of(from_address),
                        rows_of(plan, to_address.offset, true));
          return move(*io, *by, state, *from, direction::from_disk, pointer_of(to_address),
                      rows_of(plan, from_address.offset, false));
        });
  });
}

tsr_status fill(tsr_device* device, tsr_stream* stream, tsr_address destination, const void* pattern,
                std::uint32_t pattern_bytes, std::uint64_t count) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    std::uint64_t bytes = 0;
    if (const auto status = kit::check_fill(device->report, pattern, pattern_bytes, count, bytes)) return status;
    std::shared_ptr<extent> to;
    if (const auto status = find_extent(device, "the destination", destination, bytes, to)) return status;
    kit::scalar copied;
    std::memcpy(copied.bytes, pattern, pattern_bytes);
    auto* by = static_cast<stream_io*>(stream->own.get());
    return kit::enqueue(stream, [=, io = &device->io, to = std::move(to)](kit::execution& state) -> tsr_status {
      const auto first = std::min(bytes, window_bytes);
      unsigned char* window = by->window.at_least((first + cell_bytes - 1) / cell_bytes * cell_bytes);
      kit::fill_pattern(window, copied.bytes, pattern_bytes, first / pattern_bytes);
      for (std::uint64_t done = 0; done < bytes; done += window_bytes) {
        const auto here = std::min(bytes - done, window_bytes);
        if (const auto status =
                move(*io, *by, state, *to, direction::to_disk, window, flat(destination.offset + done, here)))
          return status;
      }
      return TSR_OK;
    });
  });
}

}  // namespace tessera::disk
