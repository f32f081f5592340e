// Slabs on the disk.
#include <algorithm>
#include <utility>

#include "plugins/disk/handles.hpp"
#include "plugins/kit/abi/copy_plan.hpp"

namespace tessera::disk {
namespace {

bool is_live(const tsr_device* device, const tsr_memory* memory) {
  return memory != nullptr && reinterpret_cast<std::uintptr_t>(memory) % alignof(tsr_memory_s) == 0 &&
         memory->magic.is(memory_magic) && memory->device == device;
}

}  // namespace

tsr_status find_extent(const tsr_device* device, const char* name, const tsr_address& address, std::uint64_t bytes,
                       std::shared_ptr<extent>& out) {
  if (!is_live(device, address.memory))
    return device->report.fail(TSR_INVALID_ARGUMENT, "%s is not live memory of the disk", name);
  auto range = address.memory->range;
  if (const auto status = kit::check_bounds(device->report, name, range->bytes, address, bytes)) return status;
  out = std::move(range);
  return TSR_OK;
}

tsr_status mem_alloc(tsr_device* device, std::uint32_t space, std::uint64_t bytes, tsr_memory** out_memory) {
  return gate::on_device(device, [&]() -> tsr_status {
    const auto& report = device->report;
    if (out_memory == nullptr) return report.fail(TSR_INVALID_ARGUMENT, "mem_alloc: out_memory is NULL");
    if (space != 0) return report.fail(TSR_OUT_OF_RANGE, "mem_alloc: space %u of 1", space);
    if (bytes == 0) return report.fail(TSR_INVALID_ARGUMENT, "mem_alloc: 0 bytes");
    const auto capacity = device->allocated.limit();
    const auto full = [&](std::uint64_t used) {
      return report.fail(TSR_RESOURCE_EXHAUSTED,
                         "the disk's capacity is %llu bytes, %llu are allocated, %llu were asked for",
                         static_cast<unsigned long long>(capacity), static_cast<unsigned long long>(used),
                         static_cast<unsigned long long>(bytes));
    };
    if (bytes > capacity) return full(device->allocated.used());
    const auto taken = (bytes + cell_bytes - 1) / cell_bytes * cell_bytes;
    std::uint64_t before = 0;
    if (!device->allocated.reserve(taken, &before)) return full(before);
    std::shared_ptr<extent> range;
    tsr_status status = TSR_INTERNAL;
    try {
      status = device->store->allocate(bytes, range);
    } catch (...) {
      device->allocated.release(taken);
      throw;
    }
    if (status != TSR_OK) {
      device->allocated.release(taken);
      return status;
    }
    auto& memory = device->memories.take();
    memory.device = device;
    memory.range = std::move(range);
    memory.magic.set(memory_magic);
    device->live_allocations.fetch_add(1, std::memory_order_relaxed);
    *out_memory = &memory;
    return TSR_OK;
  });
}

tsr_status mem_free(tsr_device* device, tsr_memory* memory) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (!is_live(device, memory) || !memory->magic.take(memory_magic))
      return device->report.fail(TSR_INVALID_ARGUMENT, "mem_free: not live memory of the disk");
    const auto taken = memory->range->cells * cell_bytes;
    memory->range.reset();
    device->allocated.release(taken);
    device->live_allocations.fetch_sub(1, std::memory_order_relaxed);
    device->memories.give(*memory);
    return TSR_OK;
  });
}

}  // namespace tessera::disk
