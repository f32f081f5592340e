#pragma once
// What the disk plugin's opaque handles are. Start here; device.cpp has the table.
#include <tessera/plugin.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "plugins/disk/directory.hpp"
#include "plugins/disk/engine.hpp"
#include "plugins/disk/io_context.hpp"
#include "plugins/disk/settings.hpp"
#include "plugins/disk/store.hpp"
#include "plugins/kit/abi/device_list.hpp"
#include "plugins/kit/abi/handle_pool.hpp"
#include "plugins/kit/abi/registration_calls.hpp"
#include "plugins/kit/abi/report.hpp"
#include "plugins/kit/abi/stream_calls.hpp"
#include "plugins/kit/system/byte_budget.hpp"

namespace tessera::disk {
inline constexpr std::uint64_t device_magic = 0x7473722e6469736b;  // "tsr.disk"
inline constexpr std::uint64_t memory_magic = 0x7473722e64736c62;  // "tsr.dslb"
inline constexpr std::uint64_t stream_magic = 0x7473722e64666c6f;  // "tsr.dflo"

/// What a stream keeps (tsr_stream_s::own): its engine, and memory of its thread.
struct stream_io {
  std::shared_ptr<engine> does;
  scratch own;
  aligned_buffer window;  ///< what passes by on the way from the disk to the disk, and patterns
};
}  // namespace tessera::disk

/// One slab on the disk.
struct tsr_memory_s {
  tessera::kit::magic_word magic;
  tsr_device* device = nullptr;
  std::shared_ptr<tessera::disk::extent> range;
};

struct tsr_plugin_s;

/// The one device of an opened disk plugin. A closed device stays (without its magic word) until shutdown.
struct tsr_device_s {
  tsr_device_s(const tessera::kit::reporter& r, const tessera::disk::settings& s)
      : report(r), setting(s), io(setting), opened_at(std::chrono::steady_clock::now()) {}
  tessera::kit::magic_word magic;
  const tessera::kit::reporter report;
  const std::uint32_t index = 0;  // as enumerated
  const tessera::disk::settings setting;
  tessera::disk::io_context io;
  const std::chrono::steady_clock::time_point opened_at;
  tessera::kit::byte_budget allocated;
  tessera::disk::store* store = nullptr;           // the plugin's
  std::shared_ptr<tessera::disk::engine> threads;  // null: each stream has a ring
  std::atomic<std::uint64_t> live_allocations{0};
  std::atomic<std::uint32_t> streams_made{0};
  tessera::kit::registration_table registered;
  tessera::kit::handle_pool<tsr_memory_s> memories;
  tessera::kit::handle_pool<tsr_stream_s> streams;
};

struct tsr_plugin_s {
  tessera::kit::reporter report;
  tessera::disk::settings setting;  // as checked: capacity, io and direct are what there really is
  std::unique_ptr<tessera::disk::private_directory> directory;
  std::unique_ptr<tessera::disk::store> store;
  tsr_telemetry_table telemetry{};
  tessera::kit::device_list<tsr_device_s, tessera::disk::device_magic> devices;
};

namespace tessera::disk {

/// What the shared calls need to know (plugins/kit/abi/gate.hpp, stream_calls.hpp).
struct rules {
  using device = tsr_device_s;
  static constexpr std::uint64_t device_magic = disk::device_magic, stream_magic = disk::stream_magic;
  static tsr_status alive(const device*) { return TSR_OK; }  // a disk that fails says so request by request
  static bool same_plugin(const device* a, const device* b) { return a == b; }
  static bool skips_reached(const device*) { return true; }
};
using gate = kit::gate<rules>;
using stream_calls = kit::stream_calls<rules>;
using registration_calls = kit::registration_calls<rules>;

// memory.cpp
tsr_status mem_alloc(tsr_device* device, std::uint32_t space, std::uint64_t bytes, tsr_memory** out_memory);
tsr_status mem_free(tsr_device* device, tsr_memory* memory);
/// The allocation of an address whose `bytes` bytes lie in it. Fails: INVALID_ARGUMENT, OUT_OF_RANGE.
tsr_status find_extent(const tsr_device* device, const char* name, const tsr_address& address, std::uint64_t bytes,
                       std::shared_ptr<extent>& out);

// stream.cpp
tsr_status stream_create(tsr_device* device, std::uint32_t flags, tsr_stream** out_stream);
tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* copy);
tsr_status fill(tsr_device* device, tsr_stream* stream, tsr_address destination, const void* pattern,
                std::uint32_t pattern_bytes, std::uint64_t count);

// device.cpp
/// Fails when a side is no space of this device: INVALID_ARGUMENT, OUT_OF_RANGE.
tsr_status check_sides(const tsr_device* device, const tsr_space_ref& source, const tsr_space_ref& destination);
const tsr_device_table& device_table();
tsr_telemetry_table telemetry_table();

}  // namespace tessera::disk
