// Slabs and addresses of the host device.
#include <utility>

#include "plugins/host/handles.hpp"
#include "plugins/kit/abi/copy_plan.hpp"

namespace tessera::host {

bool is_live(const tsr_device* device, const tsr_memory* memory) {
  return memory != nullptr && reinterpret_cast<std::uintptr_t>(memory) % alignof(tsr_memory_s) == 0 &&
         memory->magic.is(memory_magic) && memory->device == device;
}

tsr_status operands::resolve(const char* name, const tsr_address& address, std::uint64_t bytes, void** out) {
  const auto& report = m_device->report;
  if (address.memory == nullptr) {
    if (address.offset == 0 && bytes > 0) return report.fail(TSR_INVALID_ARGUMENT, "%s is a null pointer", name);
    *out = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address.offset));
    return TSR_OK;
  }
  const auto* memory = address.memory;
  if (!is_live(m_device, memory))
    return report.fail(TSR_INVALID_ARGUMENT, "%s is not live memory of the host device", name);
  if (const auto status = kit::check_bounds(report, name, memory->bytes, address, bytes)) return status;
  *out = static_cast<char*>(memory->pages.data()) + address.offset;
  return TSR_OK;
}

tsr_status mem_alloc(tsr_device* device, std::uint32_t space, std::uint64_t bytes, tsr_memory** out_memory) {
  return gate::on_device(device, [&]() -> tsr_status {
    const auto& report = device->report;
    if (out_memory == nullptr) return report.fail(TSR_INVALID_ARGUMENT, "mem_alloc: out_memory is NULL");
    if (space >= device->domains.size())
      return report.fail(TSR_OUT_OF_RANGE, "mem_alloc: space %u of %zu", space, device->domains.size());
    if (bytes == 0) return report.fail(TSR_INVALID_ARGUMENT, "mem_alloc: 0 bytes");
    const auto& domain = device->domains[space];
    auto& allocated = device->allocated[space];
    std::uint64_t before = 0;
    if (!allocated.reserve(bytes, &before))
      return report.fail(TSR_RESOURCE_EXHAUSTED, "%s has %llu bytes, %llu are allocated, %llu were asked for",
                         device->space_names[space].c_str(), static_cast<unsigned long long>(domain.bytes),
                         static_cast<unsigned long long>(before), static_cast<unsigned long long>(bytes));
    kit::shared_place place;
    const int node = device->domains.size() > 1 && !device->imagined_domains ? domain.node : -1;
    const std::uint64_t n =
        bytes < kit::pages::coloured_bytes ? 0 : device->coloured.fetch_add(1, std::memory_order_relaxed);
    auto pages =
        device->shared ? kit::map_shared(bytes, node, place) : kit::pages::map(bytes, device->huge_pages, node, n);
    if (!pages) {
      allocated.release(bytes);
      return report.fail(TSR_RESOURCE_EXHAUSTED, "the operating system has no %llu bytes of %s",
                         static_cast<unsigned long long>(bytes), device->shared ? "memory to share" : "address space");
    }
    auto& memory = device->memories.take();
    memory.device = device;
    memory.space = space;
    memory.bytes = bytes;
    memory.pages = std::move(*pages);
    memory.place = place;
    memory.imported = false;
    memory.magic.set(memory_magic);
    device->live_allocations.fetch_add(1, std::memory_order_relaxed);
    *out_memory = &memory;
    return TSR_OK;
  });
}

tsr_status mem_free(tsr_device* device, tsr_memory* memory) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (!is_live(device, memory) || !memory->magic.take(memory_magic))
      return device->report.fail(TSR_INVALID_ARGUMENT, "mem_free: not live memory of the host device");
    memory->pages = kit::pages();
    if (!memory->imported) device->allocated[memory->space].release(memory->bytes);
    device->live_allocations.fetch_sub(1, std::memory_order_relaxed);
    device->memories.give(*memory);
    return TSR_OK;
  });
}

tsr_status mem_base(tsr_device* device, tsr_memory* memory, void** out_base) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (memory == nullptr || out_base == nullptr)
      return device->report.fail(TSR_INVALID_ARGUMENT, "mem_base: a NULL argument");
    return operands(device).resolve("the memory", {memory, 0}, 0, out_base);
  });
}

}  // namespace tessera::host
