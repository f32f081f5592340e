#pragma once
// What the opaque handles of a GPU plugin are. Start here; device.cpp has the table. Everything in this folder is
// compiled once per runtime (runtime.hpp).
#include <tessera/plugin.h>

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "plugins/gpu_common/abi/bus.hpp"
#include "plugins/gpu_common/abi/kept_memory.hpp"
#include "plugins/gpu_common/abi/settings.hpp"
#include "plugins/gpu_common/abi/stream_state.hpp"
#include "plugins/gpu_common/api/runtime.hpp"
#include "plugins/gpu_common/libraries/dense.hpp"
#include "plugins/gpu_common/libraries/run_time_compiler.hpp"
#include "plugins/gpu_common/libraries/sensors.hpp"
#include "plugins/gpu_common/libraries/sparse.hpp"
#include "plugins/gpu_common/libraries/workspace_sizes.hpp"
#include "plugins/kit/abi/device_list.hpp"
#include "plugins/kit/abi/gate.hpp"
#include "plugins/kit/abi/graph_calls.hpp"
#include "plugins/kit/abi/handle_pool.hpp"
#include "plugins/kit/abi/host_work.hpp"
#include "plugins/kit/abi/module_calls.hpp"
#include "plugins/kit/abi/operand.hpp"
#include "plugins/kit/abi/report.hpp"
#include "plugins/kit/jit/host_compiler.hpp"
#include "plugins/kit/kernels/sparse_table.hpp"
#include "plugins/kit/system/byte_budget.hpp"

namespace tessera::gpu {
inline constexpr std::uint64_t device_magic = 0x7473722e67707564;  // "tsr.gpud"
inline constexpr std::uint64_t memory_magic = 0x7473722e6770756d;  // "tsr.gpum"
inline constexpr std::uint64_t stream_magic = 0x7473722e67707573;  // "tsr.gpus"
inline constexpr std::uint64_t graph_magic = 0x7473722e67707567;   // "tsr.gpug"

/// The spaces of every device. Not every vendor has pinned memory.
enum space : std::uint32_t {
  device_space = 0,
  pinned_space = 1,
  space_count = has_pinned_memory ? 2 : 1
};
}  // namespace tessera::gpu

/// One slab, of the device's memory or of pinned host memory.
struct tsr_memory_s {
  tessera::kit::magic_word magic;
  tsr_device* device = nullptr;
  std::uint32_t space = 0;
  std::uint64_t bytes = 0;  // as asked for: what bounds are checked against
  void* base = nullptr;
  bool imported = false;                       // another process's
  mutable std::atomic<bool> exported = false;  // another process may have it
};

/// One graph.
struct tsr_graph_s {
  tessera::kit::magic_word magic;
  tsr_device* device = nullptr;
  tessera::gpu::graph_t native{};
};

/// One opened device. A closed one stays (without its magic word) until shutdown.
struct tsr_device_s {
  tsr_device_s(tsr_plugin* p, std::uint32_t i, int vendor_ordinal, const tessera::kit::reporter& r)
      : report(r), plugin(p), index(i), ordinal(vendor_ordinal) {}
  tessera::kit::magic_word magic;
  const tessera::kit::reporter report;
  tsr_plugin* const plugin;
  const std::uint32_t index;  // as enumerated
  const int ordinal;          // as the vendor counts
  tessera::gpu::device_facts facts;
  std::chrono::steady_clock::time_point opened_at = std::chrono::steady_clock::now();
  tessera::gpu::bus_rates bus;
  tessera::kit::byte_budget used[tessera::gpu::space_count];
  tessera::gpu::kept_memory kept;
  std::mutex allocating;  // device memory that is not kept
  std::atomic<std::uint64_t> live_allocations{0};
  tessera::gpu::loss loss;
  tessera::gpu::event_pool events;
  tessera::gpu::callback_list callbacks;
  std::unique_ptr<tessera::gpu::workspace_sizes> sizes =
      std::make_unique<tessera::gpu::workspace_sizes>();  // until the device is closed
  tessera::kit::handle_pool<tsr_memory_s> memories;
  tessera::kit::handle_pool<tsr_stream_s> streams;
  tessera::kit::handle_pool<tsr_sparse_s> matrices;
  tessera::kit::handle_pool<tsr_graph_s> graphs;
  tessera::kit::recorders recording;
  tessera::kit::handle_pool<tsr_module_s> modules;
  tessera::kit::handle_pool<tsr_kernel_s> kernels;
  std::string compiler_identity;
};

struct tsr_plugin_s {
  tessera::kit::reporter report;
  tessera::gpu::settings setting;
  std::vector<int> ordinals;   // of the devices that are used, as the vendor counts; by their index
  std::string no_device;       // why there is none
  std::mutex libraries_mutex;  // guards the making of what follows, down to blas
  std::unique_ptr<const tessera::gpu::sensors> sensors;      // null: none
  std::unique_ptr<const tessera::gpu::dense_library> dense;  // from the first opened device on; null: not wanted
  std::unique_ptr<const tessera::gpu::sparse_library> sparse_library;  // likewise; null also where it cannot be used
  std::unique_ptr<const tessera::kit::host_compiler> host_compiler;    // an emulator's, likewise
  std::unique_ptr<const tessera::gpu::run_time_compiler> compiler;     // the vendor's; null: none
  std::string library;                                                 // the blas table's
  tsr_blas_table blas{};
  tsr_tensor_table tensor{};
  tsr_sparse_table sparse{};
  tsr_graph_table graph{};
  tsr_telemetry_table telemetry{};
  tsr_jit_table jit{};
  tsr_ipc_table ipc{};
  tessera::kit::device_list<tsr_device_s, tessera::gpu::device_magic> devices;
};

namespace tessera::gpu {

/// OK, or DEVICE_LOST with a record. A device is called lost once nothing of it runs any more (see loss).
tsr_status alive(const tsr_device* device);

/// What a call of the vendor's runtime answered, as a status with a record: "copy: invalid value". An error that breaks
/// the device for good starts its end; while that takes, this waits, so that the answer DEVICE_LOST is true.
tsr_status tell(tsr_device* device, error_t error, const char* call);

/// What the shared calls need to know (plugins/kit/abi/gate.hpp).
struct rules {
  using device = tsr_device_s;
  static constexpr std::uint64_t device_magic = gpu::device_magic, stream_magic = gpu::stream_magic;
  static tsr_status alive(const device* one) { return gpu::alive(one); }
};

/// The gate, and the device as the calling thread's current one, for calls that reach the vendor's runtime.
struct gate {
  template <class Function>
  static tsr_status on_any_device(tsr_device* on, Function&& function) noexcept {
    return kit::gate<rules>::on_any_device(on, [&]() -> tsr_status {
      use_device(on->ordinal);
      return function();
    });
  }
  template <class Function>
  static tsr_status on_device(tsr_device* on, Function&& function) noexcept {
    return kit::gate<rules>::on_device(on, [&]() -> tsr_status {
      if (const auto status = tell(on, use_device(on->ordinal), "choosing the device")) return status;
      return function();
    });
  }
  template <class Function>
  static tsr_status on_any_stream(tsr_device* on, tsr_stream* stream, Function&& function) noexcept {
    return kit::gate<rules>::on_any_stream(on, stream, [&]() -> tsr_status {
      use_device(on->ordinal);
      return function();
    });
  }
  template <class Function>
  static tsr_status on_stream(tsr_device* on, tsr_stream* stream, Function&& function) noexcept {
    return kit::gate<rules>::on_stream(on, stream, [&]() -> tsr_status {
      if (const auto status = tell(on, use_device(on->ordinal), "choosing the device")) return status;
      return function();
    });
  }
};

/// What a stream of this plugin keeps besides the shared handle.
inline stream_state& state_of(const tsr_stream* stream) { return *static_cast<stream_state*>(stream->own.get()); }

/// Resolves addresses of kernels: memory of this very device, in either of its spaces.
class operands final : public kit::operand_resolver {
 public:
  explicit operands(tsr_device* device) : m_device(device) {}
  tsr_status resolve(const char* name, const tsr_address& address, std::uint64_t bytes, void** out) override;

 private:
  tsr_device* m_device;
};

/// Resolves one side of a copy: a plain pointer when `where` is host memory, else memory of where.device.
tsr_status resolve_side(const tsr_device* device, const char* name, const tsr_space_ref& where,
                        const tsr_address& address, std::uint64_t bytes, void** out);

/// Whether a device reads and writes another one's memory directly.
bool reaches(int ordinal, int peer);

/// The way between two spaces. Fails: INVALID_ARGUMENT (a device of another plugin), OUT_OF_RANGE (a space),
/// UNIMPLEMENTED (no direct way).
tsr_status find_link(tsr_device* device, const tsr_space_ref& source, const tsr_space_ref& destination,
                     tsr_link_desc& out);

// memory.cpp
tsr_status mem_alloc(tsr_device* device, std::uint32_t space, std::uint64_t bytes, tsr_memory** out_memory);
tsr_status mem_free(tsr_device* device, tsr_memory* memory);
tsr_status mem_base(tsr_device* device, tsr_memory* memory, void** out_base);
tsr_status host_register(tsr_device* device, void* pointer, std::uint64_t bytes);
tsr_status host_unregister(tsr_device* device, void* pointer);
void release_memory(tsr_memory_s& memory);
/// Memory of this size that was freed before, or fresh memory, for which as much of what is kept is given back as both
/// together are more than the limit, or all where there is none. The bytes are reserved.
error_t allocate_kept(tsr_device& device, void** out, std::uint64_t bytes);
/// Gives back what is kept of freed memory, and keeps nothing from now on.
void release_kept(tsr_device& device);
bool is_live(const tsr_memory* memory);
/// A handle on memory that lies at `base`.
tsr_memory& hand_out(tsr_device& device, std::uint32_t space, std::uint64_t bytes, void* base, bool imported);

// ipc.cpp
/// Offered where has_ipc says so: real devices, and emulated ones that were told to share.
tsr_ipc_table ipc_table();
bool has_ipc(const tsr_plugin_s& plugin);

// stream.cpp
tsr_status stream_create(tsr_device* device, std::uint32_t flags, tsr_stream** out_stream);
/// What else a stream does.
void put_streams_into(tsr_device_table& table);
/// Ends all streams, then the pools behind them. Nobody else uses the device any more.
void close_streams(tsr_device& device);

// graph.cpp
tsr_graph_table graph_table();
/// FAILED_PRECONDITION, with a record, when the stream, or the calling thread on some stream of the device, records.
tsr_status refuse_while_recording(const tsr_device* device, const tsr_stream* stream, const char* call);
tsr_status refuse_while_thread_records(const tsr_device* device, const char* call);
void close_graphs(tsr_device& device);

// telemetry.cpp
/// Offered where the plugin has sensors.
tsr_telemetry_table telemetry_table();

// modules.cpp
void put_modules_into(tsr_device_table& table);
tsr_jit_table jit_table();
/// Unloads what is left; nothing of the device runs any more.
void close_modules(tsr_device& device);

// copies.cpp
tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* copy);
tsr_status fill(tsr_device* device, tsr_stream* stream, tsr_address destination, const void* pattern,
                std::uint32_t pattern_bytes, std::uint64_t count);
tsr_status run_host_work(tsr_device* device, tsr_stream* stream, const kit::host_work& work);
/// launch_graph, with the failures of host tasks in it told of where it is launched. In the emulator alone.
error_t launch_with_place(graph_t graph, tsr_stream* stream);

// tables.cpp
/// `library` says what the calls are done by, and lives as long as the table.
tsr_blas_table blas_table(const char* library);
tsr_tensor_table tensor_table();
/// Whether a device computes with doubles where a type asks for them; and as a status, with a record.
bool has_numbers(const tsr_device* device, tsr_type type);
tsr_status check_numbers(const tsr_device* device, tsr_type type);

// sparse.cpp
tsr_sparse_table sparse_table();

// device.cpp
const tsr_device_table& device_table();

}  // namespace tessera::gpu
