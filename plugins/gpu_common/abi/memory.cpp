// Slabs of device memory and of pinned host memory, addresses, registered host memory.
#include <limits>
#include <vector>

#include "plugins/gpu_common/abi/handles.hpp"
#include "plugins/kit/abi/copy_plan.hpp"

namespace tessera::gpu {

bool is_live(const tsr_memory* memory) {
  return memory != nullptr && reinterpret_cast<std::uintptr_t>(memory) % alignof(tsr_memory_s) == 0 &&
         memory->magic.is(memory_magic);
}

tsr_memory& hand_out(tsr_device& device, std::uint32_t space, std::uint64_t bytes, void* base, bool imported) {
  auto& memory = device.memories.take();
  memory.device = &device;
  memory.space = space;
  memory.bytes = bytes;
  memory.base = base;
  memory.imported = imported;
  memory.exported = false;
  memory.magic.set(memory_magic);
  device.live_allocations.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

namespace {

const char* name_of(std::uint32_t space) { return space == device_space ? "device memory" : "pinned memory"; }

}  // namespace

tsr_status resolve_side(const tsr_device* device, const char* name, const tsr_space_ref& where,
                        const tsr_address& address, std::uint64_t bytes, void** out) {
  const auto& report = device->report;
  if (where.device == nullptr) {
    if (address.memory != nullptr)
      return report.fail(TSR_INVALID_ARGUMENT, "%s is said to be host memory but carries a memory handle", name);
    if (address.offset == 0 && bytes > 0) return report.fail(TSR_INVALID_ARGUMENT, "%s is a null pointer", name);
    *out = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address.offset));
    return TSR_OK;
  }
  if (!is_live(address.memory) || address.memory->device != where.device || address.memory->space != where.space)
    return report.fail(TSR_INVALID_ARGUMENT, "%s is no live memory of the space that was named", name);
  if (const auto status = kit::check_bounds(report, name, address.memory->bytes, address, bytes)) return status;
  *out = static_cast<char*>(address.memory->base) + address.offset;
  return TSR_OK;
}

tsr_status operands::resolve(const char* name, const tsr_address& address, std::uint64_t bytes, void** out) {
  const auto& report = m_device->report;
  if (address.memory == nullptr) {
    *out = nullptr;
    if (bytes == 0) return TSR_OK;
    return report.fail(TSR_INVALID_ARGUMENT, "%s is a host pointer; a GPU computes on its own memory", name);
  }
  if (!is_live(address.memory) || address.memory->device != m_device)
    return report.fail(TSR_INVALID_ARGUMENT, "%s is no live memory of this device", name);
  if (const auto status = kit::check_bounds(report, name, address.memory->bytes, address, bytes)) return status;
  *out = static_cast<char*>(address.memory->base) + address.offset;
  return TSR_OK;
}

error_t allocate_kept(tsr_device& device, void** out, std::uint64_t bytes) {
  if ((*out = device.kept.take(bytes)) != nullptr) return error_t{};
  const std::lock_guard one_at_a_time(device.allocating);  // who finds nothing kept must not overtake who gives back
  const auto give_back = [&](std::uint64_t wanted) {
    const std::vector<void*> kept = device.kept.take_oldest(wanted);
    for (void* const memory : kept) release(memory);
    return !kept.empty();
  };
  const auto& used = device.used[device_space];
  if (const std::uint64_t taken = used.used() + device.kept.bytes(); used.limit() != 0 && taken > used.limit())
    give_back(taken - used.limit());
  const auto error = allocate(out, bytes);
  if (kind_of(error) != error_kind::out_of_memory) return error;
  clear_error();
  return give_back(std::numeric_limits<std::uint64_t>::max()) ? allocate(out, bytes) : error;
}

tsr_status mem_alloc(tsr_device* device, std::uint32_t space, std::uint64_t bytes, tsr_memory** out_memory) {
  return gate::on_device(device, [&]() -> tsr_status {
    const auto& report = device->report;
    if (out_memory == nullptr) return report.fail(TSR_INVALID_ARGUMENT, "mem_alloc: out_memory is NULL");
    if (const auto status = refuse_while_thread_records(device, "mem_alloc")) return status;
    if (space >= space_count) return report.fail(TSR_OUT_OF_RANGE, "mem_alloc: space %u of %u", space, +space_count);
    if (bytes == 0) return report.fail(TSR_INVALID_ARGUMENT, "mem_alloc: 0 bytes");
    auto& used = device->used[space];
    std::uint64_t before = 0;
    if (!used.reserve(bytes, &before))
      return report.fail(TSR_RESOURCE_EXHAUSTED, "of %llu bytes of %s, %llu are allocated, %llu were asked for",
                         static_cast<unsigned long long>(used.limit()), name_of(space),
                         static_cast<unsigned long long>(before), static_cast<unsigned long long>(bytes));
    void* base = nullptr;
    const auto error = space == pinned_space             ? allocate_pinned(&base, bytes)
                       : device->plugin->setting.managed ? allocate_managed(&base, bytes)
                                                         : allocate_kept(*device, &base, bytes);
    if (kind_of(error) != error_kind::none) {
      used.release(bytes);
      return tell(device, error, "allocating memory");
    }
    *out_memory = &hand_out(*device, space, bytes, base, false);
    return TSR_OK;
  });
}

void release_memory(tsr_memory_s& memory) {
  if (memory.imported)
    release_imported(memory.base);
  else if (memory.space != device_space)
    release_pinned(memory.base);
  else if (memory.exported)
    release(memory.base);  // a key to it must not open what is made there later
  else
    for (void* const gone : memory.device->kept.keep(memory.base, memory.bytes)) release(gone);
}

void release_kept(tsr_device& device) {
  device.kept.set_limit(0);
  for (void* const memory : device.kept.take_oldest(std::numeric_limits<std::uint64_t>::max())) release(memory);
}

tsr_status mem_free(tsr_device* device, tsr_memory* memory) {
  return gate::on_any_device(device, [&]() -> tsr_status {
    if (const auto status = refuse_while_thread_records(device, "mem_free")) return status;
    if (!is_live(memory) || memory->device != device || !memory->magic.take(memory_magic))
      return device->report.fail(TSR_INVALID_ARGUMENT, "mem_free: not live memory of this device");
    release_memory(*memory);
    if (!memory->imported) device->used[memory->space].release(memory->bytes);
    device->live_allocations.fetch_sub(1, std::memory_order_relaxed);
    device->memories.give(*memory);
    return alive(device);
  });
}

tsr_status mem_base(tsr_device* device, tsr_memory* memory, void** out_base) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (memory == nullptr || out_base == nullptr)
      return device->report.fail(TSR_INVALID_ARGUMENT, "mem_base: a NULL argument");
    return operands(device).resolve("the memory", {memory, 0}, 0, out_base);
  });
}

tsr_status host_register(tsr_device* device, void* pointer, std::uint64_t bytes) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (pointer == nullptr || bytes == 0 || bytes > ~reinterpret_cast<std::uintptr_t>(pointer))
      return device->report.fail(TSR_INVALID_ARGUMENT, "host_register: an empty or impossible range");
    return tell(device, gpu::register_host(pointer, bytes), "registering host memory");
  });
}

tsr_status host_unregister(tsr_device* device, void* pointer) {
  return gate::on_any_device(device, [&]() -> tsr_status {
    const auto error = gpu::unregister_host(pointer);
    return device->loss.is_lost() ? alive(device) : tell(device, error, "unregistering host memory");
  });
}

}  // namespace tessera::gpu
