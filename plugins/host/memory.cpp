// Slabs, addresses and registrations of the host device.
#include <utility>

#include "plugins/host/handles.hpp"

namespace tessera::host {

tsr_status operands::resolve(const char* name, const tsr_address& address, std::uint64_t bytes, void** out) {
  const auto& report = m_device->report;
  if (address.memory == nullptr) {
    if (address.offset == 0 && bytes > 0) return report.fail(TSR_INVALID_ARGUMENT, "%s is a null pointer", name);
    *out = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address.offset));
    return TSR_OK;
  }
  const auto* memory = address.memory;
  if (reinterpret_cast<std::uintptr_t>(memory) % alignof(tsr_memory_s) != 0 || !memory->magic.is(memory_magic) ||
      memory->device != m_device)
    return report.fail(TSR_INVALID_ARGUMENT, "%s is not live memory of the host device", name);
  if (address.offset > memory->bytes || bytes > memory->bytes - address.offset)
    return report.fail(TSR_OUT_OF_RANGE, "%s: %llu bytes from offset %llu leave an allocation of %llu bytes", name,
                       static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(address.offset),
                       static_cast<unsigned long long>(memory->bytes));
  *out = static_cast<char*>(memory->pages.data()) + address.offset;
  return TSR_OK;
}

tsr_status mem_alloc(tsr_device* device, std::uint32_t space, std::uint64_t bytes, tsr_memory** out_memory) {
  return on_device(device, [&]() -> tsr_status {
    const auto& report = device->report;
    if (out_memory == nullptr) return report.fail(TSR_INVALID_ARGUMENT, "mem_alloc: out_memory is NULL");
    if (space >= device->domains.size())
      return report.fail(TSR_OUT_OF_RANGE, "mem_alloc: space %u of %zu", space, device->domains.size());
    if (bytes == 0) return report.fail(TSR_INVALID_ARGUMENT, "mem_alloc: 0 bytes");
    const auto& domain = device->domains[space];
    auto& allocated = device->allocated[space];
    // Reserved first, so that several threads together cannot pass the limit.
    auto before = allocated.load(std::memory_order_relaxed);
    do {
      if (domain.bytes != 0 && (bytes > domain.bytes || before > domain.bytes - bytes))
        return report.fail(TSR_RESOURCE_EXHAUSTED, "%s has %llu bytes, %llu are allocated, %llu were asked for",
                           device->space_names[space].c_str(), static_cast<unsigned long long>(domain.bytes),
                           static_cast<unsigned long long>(before), static_cast<unsigned long long>(bytes));
    } while (!allocated.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
    auto pages = common::pages::map(bytes, device->huge_pages, device->domains.size() > 1 ? domain.node : -1);
    if (!pages) {
      allocated.fetch_sub(bytes, std::memory_order_relaxed);
      return report.fail(TSR_RESOURCE_EXHAUSTED, "the operating system has no %llu bytes of address space",
                         static_cast<unsigned long long>(bytes));
    }
    auto& memory = device->memories.take();
    memory.device = device;
    memory.space = space;
    memory.bytes = bytes;
    memory.pages = std::move(*pages);
    memory.magic.set(memory_magic);
    device->live_allocations.fetch_add(1, std::memory_order_relaxed);
    *out_memory = &memory;
    return TSR_OK;
  });
}

tsr_status mem_free(tsr_device* device, tsr_memory* memory) {
  return on_device(device, [&]() -> tsr_status {
    if (memory == nullptr || reinterpret_cast<std::uintptr_t>(memory) % alignof(tsr_memory_s) != 0 ||
        !memory->magic.is(memory_magic) || memory->device != device || !memory->magic.take(memory_magic))
      return device->report.fail(TSR_INVALID_ARGUMENT, "mem_free: not live memory of the host device");
    memory->pages = common::pages();
    device->allocated[memory->space].fetch_sub(memory->bytes, std::memory_order_relaxed);
    device->live_allocations.fetch_sub(1, std::memory_order_relaxed);
    device->memories.give(*memory);
    return TSR_OK;
  });
}

tsr_status mem_base(tsr_device* device, tsr_memory* memory, void** out_base) {
  return on_device(device, [&]() -> tsr_status {
    if (memory == nullptr || out_base == nullptr)
      return device->report.fail(TSR_INVALID_ARGUMENT, "mem_base: a NULL argument");
    return operands(device).resolve("the memory", {memory, 0}, 0, out_base);
  });
}

// Host memory needs no page lock to be fast here; the book is kept so that a caller's mistakes show on this device too.
tsr_status host_register(tsr_device* device, void* pointer, std::uint64_t bytes) {
  return on_device(device, [&]() -> tsr_status {
    if (pointer == nullptr || bytes == 0 || bytes > ~reinterpret_cast<std::uintptr_t>(pointer))
      return device->report.fail(TSR_INVALID_ARGUMENT, "host_register: an empty or impossible range");
    if (!device->registered.add(pointer, bytes))
      return device->report.fail(TSR_ALREADY_EXISTS, "host_register: the range overlaps one that is registered");
    return TSR_OK;
  });
}

tsr_status host_unregister(tsr_device* device, void* pointer) {
  return on_device(device, [&]() -> tsr_status {
    if (!device->registered.remove(pointer))
      return device->report.fail(TSR_INVALID_ARGUMENT, "host_unregister: no range is registered at this address");
    return TSR_OK;
  });
}

}  // namespace tessera::host
