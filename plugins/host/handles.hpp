#pragma once
// What the host plugin's opaque handles are. Start here; device.cpp has the table.
#include <tessera/plugin.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "plugins/kit/abi/handle_pool.hpp"
#include "plugins/kit/abi/host_work.hpp"
#include "plugins/kit/abi/ipc_table.hpp"
#include "plugins/kit/abi/module_calls.hpp"
#include "plugins/kit/abi/operand.hpp"
#include "plugins/kit/abi/registration_calls.hpp"
#include "plugins/kit/abi/report.hpp"
#include "plugins/kit/abi/stream_calls.hpp"
#include "plugins/kit/jit/host_compiler.hpp"
#include "plugins/kit/kernels/sparse_table.hpp"
#include "plugins/kit/system/byte_budget.hpp"
#include "plugins/kit/system/pages.hpp"

namespace tessera::host {
inline constexpr std::uint64_t device_magic = 0x7473722e686f7374;  // "tsr.host"
inline constexpr std::uint64_t memory_magic = 0x7473722e736c6162;  // "tsr.slab"
inline constexpr std::uint64_t stream_magic = 0x7473722e666c6f77;  // "tsr.flow"
inline constexpr char uuid[16] = "tessera.host";
}  // namespace tessera::host

/// One slab of host memory.
struct tsr_memory_s {
  tessera::kit::magic_word magic;
  tsr_device* device = nullptr;
  std::uint32_t space = 0;
  std::uint64_t bytes = 0;  // as asked for: what bounds are checked against
  tessera::kit::pages pages;
  tessera::kit::shared_place place;  // with `shared`
  bool imported = false;             // another process's
};

/// The one device of an opened host plugin. A closed device stays (without its magic word) until shutdown.
struct tsr_device_s {
  tessera::kit::magic_word magic;
  tessera::kit::reporter report;
  std::uint32_t index = 0;                         // as enumerated
  std::vector<tessera::kit::numa_domain> domains;  // one per space
  std::vector<std::string> space_names;
  std::unique_ptr<tessera::kit::byte_budget[]> allocated;  // one per space
  std::atomic<std::uint64_t> live_allocations{0};
  std::atomic<std::uint32_t> streams_made{0};
  std::atomic<std::uint64_t> coloured{0};  // large slabs so far
  bool huge_pages = true, shared = false, imagined_domains = false;
  double bandwidth = 0;
  std::chrono::steady_clock::time_point opened_at;
  tessera::kit::registration_table registered;
  tessera::kit::handle_pool<tsr_memory_s> memories;
  tessera::kit::handle_pool<tsr_stream_s> streams;
  tessera::kit::handle_pool<tsr_sparse_s> matrices;
  tessera::kit::handle_pool<tsr_module_s> modules;
  tessera::kit::handle_pool<tsr_kernel_s> kernels;
  std::shared_ptr<const tessera::kit::host_compiler> compiler;
};

namespace tessera::host {

/// What the shared calls need to know (plugins/kit/abi/gate.hpp, stream_calls.hpp).
struct rules {
  using device = tsr_device_s;
  static constexpr std::uint64_t device_magic = host::device_magic, stream_magic = host::stream_magic;
  static tsr_status alive(const device*) { return TSR_OK; }  // a host device cannot be lost
  static bool same_plugin(const device* a, const device* b) { return a == b; }
  static bool skips_reached(const device*) { return true; }
};
using gate = kit::gate<rules>;
using stream_calls = kit::stream_calls<rules>;
using registration_calls = kit::registration_calls<rules>;

/// Resolves plain host pointers and slabs of the device.
class operands final : public kit::operand_resolver {
 public:
  explicit operands(tsr_device* device) : m_device(device) {}
  tsr_status resolve(const char* name, const tsr_address& address, std::uint64_t bytes, void** out) override;

 private:
  tsr_device* m_device;
};

// memory.cpp
tsr_status mem_alloc(tsr_device* device, std::uint32_t space, std::uint64_t bytes, tsr_memory** out_memory);
tsr_status mem_free(tsr_device* device, tsr_memory* memory);
tsr_status mem_base(tsr_device* device, tsr_memory* memory, void** out_base);
bool is_live(const tsr_device* device, const tsr_memory* memory);

// stream.cpp
tsr_status stream_create(tsr_device* device, std::uint32_t flags, tsr_stream** out_stream);
tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* copy);
tsr_status fill(tsr_device* device, tsr_stream* stream, tsr_address destination, const void* pattern,
                std::uint32_t pattern_bytes, std::uint64_t count);
tsr_status run_host_work(tsr_device* device, tsr_stream* stream, const kit::host_work& work);

// modules.cpp
void put_modules_into(tsr_device_table& table);
tsr_jit_table jit_table();
/// Unloads what is left; no stream runs any more.
void close_modules(tsr_device& device);

// ipc.cpp
tsr_ipc_table ipc_table();

// device.cpp
const tsr_device_table& device_table();

// kernels.cpp
tsr_blas_table blas_table(const char* library);
tsr_tensor_table tensor_table();
tsr_sparse_table sparse_table();

}  // namespace tessera::host
