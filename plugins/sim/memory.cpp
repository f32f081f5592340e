// Device memory: capacity, poison, opaque handles.
#include <algorithm>
#include <utility>

#include "plugins/kit/abi/copy_plan.hpp"
#include "plugins/sim/handles.hpp"

namespace tessera::sim {
namespace {

constexpr std::uint64_t granularity = 256;
// Bytes around each allocation: a kernel that reads a little beyond its blocks finds poison there, and the process goes
// on, as with most devices. Shared memory has none.
constexpr std::uint64_t margin = 64 << 10;
// No canonical address on any 64-bit machine we know, so following a handle as a pointer faults at once.
constexpr std::uintptr_t handle_tag = 0x51a0000000000000;
// Every aligned 4 or 8 bytes of it are a NaN of float32 and float64; as integers it is a large odd-looking number.
constexpr std::uint32_t poison = 0x7ff4dead;

std::uintptr_t number(const tsr_memory* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

void fill_with_poison(allocation& memory) {
  kit::fill_pattern(memory.pages.data(), &poison, sizeof poison, memory.pages.bytes() / sizeof poison);
}

}  // namespace

tsr_memory* memory_table::add(std::shared_ptr<allocation> memory) {
  const std::lock_guard lock(m_mutex);
  const auto key = handle_tag + (++m_next << 4);
  m_live.emplace(key, std::move(memory));
  return reinterpret_cast<tsr_memory*>(key);
}

std::shared_ptr<allocation> memory_table::find(const tsr_memory* handle) const {
  const std::shared_lock lock(m_mutex);
  const auto found = m_live.find(number(handle));
  return found == m_live.end() ? nullptr : found->second;
}

std::shared_ptr<allocation> memory_table::remove(const tsr_memory* handle) {
  const std::lock_guard lock(m_mutex);
  const auto found = m_live.find(number(handle));
  if (found == m_live.end()) return nullptr;
  auto memory = std::move(found->second);
  m_live.erase(found);
  return memory;
}

void memory_table::remove_all_of(const tsr_device* owner) {
  const std::lock_guard lock(m_mutex);
  std::erase_if(m_live, [&](const auto& entry) { return entry.second->owner == owner; });
}

tsr_status operands::resolve(const char* name, const tsr_address& address, std::uint64_t bytes, void** out) {
  const auto& report = m_device->report;
  if (address.memory == nullptr) {
    if (bytes == 0) {
      *out = nullptr;
      return TSR_OK;
    }
    return report.fail(TSR_INVALID_ARGUMENT, "%s is a host pointer; device '%s' computes on its own memory only", name,
                       m_device->setting.name.c_str());
  }
  auto memory = m_device->plugin->memory.find(address.memory);
  if (memory == nullptr)
    return report.fail(TSR_INVALID_ARGUMENT, "%s is no live memory of this plugin: freed, or another plugin's", name);
  if (memory->owner != m_device)
    return report.fail(TSR_INVALID_ARGUMENT, "%s is memory of device '%s', not of '%s'", name,
                       memory->owner->setting.name.c_str(), m_device->setting.name.c_str());
  if (const auto status = kit::check_bounds(report, name, memory->bytes, address, bytes)) return status;
  *out = memory->data() + address.offset;
  held.push_back(std::move(memory));
  return TSR_OK;
}

tsr_status resolve_side(const tsr_device* device, const char* name, const tsr_space_ref& where,
                        const tsr_address& address, std::uint64_t bytes, void** out,
                        std::shared_ptr<allocation>& held) {
  const auto& report = device->report;
  if (where.device == nullptr) {
    if (address.memory != nullptr)
      return report.fail(TSR_INVALID_ARGUMENT, "%s is said to be host memory but carries a memory handle", name);
    if (address.offset == 0 && bytes > 0) return report.fail(TSR_INVALID_ARGUMENT, "%s is a null pointer", name);
    *out = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address.offset));
    return TSR_OK;
  }
  if (address.memory == nullptr)
    return report.fail(TSR_INVALID_ARGUMENT, "%s is said to be device memory but is a host pointer", name);
  auto memory = device->plugin->memory.find(address.memory);
  if (memory == nullptr)
    return report.fail(TSR_INVALID_ARGUMENT, "%s is no live memory of this plugin: freed, or another plugin's", name);
  if (memory->owner != where.device)
    return report.fail(TSR_INVALID_ARGUMENT, "%s is memory of device '%s', not of the device that was named", name,
                       memory->owner->setting.name.c_str());
  if (const auto status = kit::check_bounds(report, name, memory->bytes, address, bytes)) return status;
  *out = memory->data() + address.offset;
  held = std::move(memory);
  return TSR_OK;
}

tsr_status mem_alloc(tsr_device* device, std::uint32_t space, std::uint64_t bytes, tsr_memory** out_memory) {
  return gate::on_device(device, [&]() -> tsr_status {
    const auto& report = device->report;
    if (const auto status = refuse_while_thread_records(device, "mem_alloc")) return status;
    if (out_memory == nullptr) return report.fail(TSR_INVALID_ARGUMENT, "mem_alloc: out_memory is NULL");
    if (space != 0) return report.fail(TSR_OUT_OF_RANGE, "mem_alloc: space %u of 1", space);
    if (bytes == 0) return report.fail(TSR_INVALID_ARGUMENT, "mem_alloc: 0 bytes");
    const auto capacity = device->setting.memory;
    const auto full = [&](std::uint64_t used) {
      return report.fail(TSR_RESOURCE_EXHAUSTED, "device '%s' has %llu bytes, %llu are allocated, %llu were asked for",
                         device->setting.name.c_str(), static_cast<unsigned long long>(capacity),
                         static_cast<unsigned long long>(used), static_cast<unsigned long long>(bytes));
    };
    if (bytes > capacity) return full(device->used.used());
    if (const auto most = device->setting.max_allocation; most != 0 && bytes > most)
      return report.fail(
          TSR_RESOURCE_EXHAUSTED, "device '%s' allocates at most %llu bytes at once, %llu were asked for",
          device->setting.name.c_str(), static_cast<unsigned long long>(most), static_cast<unsigned long long>(bytes));
    const auto rounded = (bytes + granularity - 1) / granularity * granularity;
    std::uint64_t before = 0;
    if (!device->used.reserve(rounded, &before)) return full(before);
    kit::shared_place place;
    const int node = device->setting.numa_node;
    const bool shared = device->plugin->setting.shared;
    const std::uint64_t n =
        rounded < kit::pages::coloured_bytes ? 0 : device->coloured.fetch_add(1, std::memory_order_relaxed);
    auto pages = shared ? kit::map_shared(rounded, node, place) : kit::pages::map(rounded + 2 * margin, true, node, n);
    if (!pages) {
      device->used.release(rounded);
      return report.fail(TSR_RESOURCE_EXHAUSTED, "the operating system has no %llu bytes for a simulated device",
                         static_cast<unsigned long long>(rounded));
    }
    auto memory = std::make_shared<allocation>(allocation{device, bytes, rounded, std::move(*pages), place});
    if (!shared) memory->ahead = margin;
    if (device->plugin->setting.poison) fill_with_poison(*memory);
    *out_memory = device->plugin->memory.add(std::move(memory));
    device->live_allocations.fetch_add(1, std::memory_order_relaxed);
    return TSR_OK;
  });
}

tsr_status mem_free(tsr_device* device, tsr_memory* memory) {
  return gate::on_any_device(device, [&]() -> tsr_status {
    if (const auto status = refuse_while_thread_records(device, "mem_free")) return status;
    const auto live = device->plugin->memory.find(memory);
    if (live == nullptr || live->owner != device || device->plugin->memory.remove(memory) == nullptr)
      return device->report.fail(TSR_INVALID_ARGUMENT, "mem_free: not live memory of device '%s'",
                                 device->setting.name.c_str());
    if (!live->imported) device->used.release(live->rounded);
    device->live_allocations.fetch_sub(1, std::memory_order_relaxed);
    // Somebody's enqueued work still uses it, against the contract: let it see poison. Else the pages go back.
    if (device->plugin->setting.poison && !live->imported && live.use_count() > 1) fill_with_poison(*live);
    return alive(device);
  });
}

}  // namespace tessera::sim
