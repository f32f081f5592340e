#pragma once
// What the sim plugin's opaque handles are, and how work is timed. Start here; device.cpp has the table.
#include <tessera/plugin.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "plugins/kit/abi/device_list.hpp"
#include "plugins/kit/abi/graph_calls.hpp"
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
#include "plugins/sim/channel.hpp"
#include "plugins/sim/clock.hpp"
#include "plugins/sim/settings.hpp"

/// A recorded graph; graph.cpp.
struct tsr_graph_s {
  tessera::kit::magic_word magic;
  tsr_device* device = nullptr;
  std::shared_ptr<const std::vector<tessera::kit::work>> nodes;  ///< shared by launches that have not ended
};

namespace tessera::sim {

inline constexpr std::uint64_t graph_magic = 0x7473722e73696d67;   // "tsr.simg"
inline constexpr std::uint64_t device_magic = 0x7473722e73696d64;  // "tsr.simd"
inline constexpr std::uint64_t stream_magic = 0x7473722e73696d73;  // "tsr.sims"

/// One allocation of device memory. Enqueued work shares it, so that work which outlives its memory (the caller's
/// mistake) meets poison and no foreign data.
struct allocation {
  tsr_device* owner;
  std::uint64_t bytes;    ///< as asked for: what bounds are checked against
  std::uint64_t rounded;  ///< what it takes of the capacity
  kit::pages pages;
  kit::shared_place place = {};  ///< with `shared`
  bool imported = false;         ///< another process's: takes nothing of the capacity
  std::uint64_t ahead = 0;       ///< bytes of the pages before its first one
  char* data() const noexcept { return static_cast<char*>(pages.data()) + ahead; }
};

/// All live memory of one plugin. A tsr_memory* of this plugin is a number that was never an address and is never used
/// twice: a stale, foreign or invented handle is recognised for certain, and following one as a pointer faults.
class memory_table {
 public:
  tsr_memory* add(std::shared_ptr<allocation> memory);
  std::shared_ptr<allocation> find(const tsr_memory* handle) const;  ///< null: not live
  std::shared_ptr<allocation> remove(const tsr_memory* handle);      ///< null: not live
  void remove_all_of(const tsr_device* owner);

 private:
  mutable std::shared_mutex m_mutex;
  std::unordered_map<std::uintptr_t, std::shared_ptr<allocation>> m_live;
  std::uintptr_t m_next = 0;
};

struct peer_link {
  link_settings setting;
  channel line;
};

}  // namespace tessera::sim

struct tsr_device_s {
  inline tsr_device_s(tsr_plugin* p, std::uint32_t i);
  tessera::kit::magic_word magic;
  const tessera::kit::reporter report;
  tsr_plugin* const plugin;
  const std::uint32_t index;  // as enumerated
  const tessera::sim::device_settings& setting;
  std::string space_name;
  std::uint64_t opened_ns = 0;
  tessera::kit::device_loss loss;
  tessera::kit::byte_budget used;  // of the capacity
  std::atomic<std::uint64_t> live_allocations{0};
  std::atomic<std::uint32_t> streams_made{0};
  std::atomic<std::uint64_t> coloured{0};   // large slabs so far
  std::atomic<std::uint64_t> latest_ns{0};  // the largest modelled time of any of its streams
  std::atomic<std::uint64_t> busy_ns{0};    // sum of compute time
  tessera::sim::channel into, out_of, within, compute;
  tessera::kit::registration_table registered;
  tessera::kit::handle_pool<tsr_stream_s> streams;
  tessera::kit::handle_pool<tsr_sparse_s> matrices;
  tessera::kit::handle_pool<tsr_graph_s> graphs;
  tessera::kit::handle_pool<tsr_module_s> modules;
  tessera::kit::handle_pool<tsr_kernel_s> kernels;
  tessera::kit::recorders recording;

  tessera::sim::channel& to_host() { return setting.copy_engines == 1 ? into : out_of; }
};

struct tsr_plugin_s {
  tsr_plugin_s(const tessera::kit::reporter& r, tessera::sim::settings s)
      : report(r),
        setting(std::move(s)),
        clock(setting.virtual_clock),
        compiler(setting.compiler, setting.compile_limit_ns) {}
  tessera::kit::reporter report;
  const tessera::sim::settings setting;
  tessera::sim::sim_clock clock;
  const tessera::kit::host_compiler compiler;
  tessera::sim::memory_table memory;
  std::vector<std::unique_ptr<tessera::sim::peer_link>> links;
  std::string library;
  tsr_blas_table blas{};
  tsr_tensor_table tensor{};
  tsr_sparse_table sparse{};
  tsr_graph_table graph{};
  tsr_ipc_table ipc{};
  tsr_jit_table jit{};
  tessera::kit::device_list<tsr_device_s, tessera::sim::device_magic> devices;
};

tsr_device_s::tsr_device_s(tsr_plugin* p, std::uint32_t i)
    : report(p->report),
      plugin(p),
      index(i),
      setting(p->setting.devices[i]),
      used(setting.memory),
      compute(setting.compute_streams) {}

namespace tessera::sim {

/// DEVICE_LOST with a record when the device is lost. Every call but those that clean up asks here first.
tsr_status alive(const tsr_device* device);

/// Of device `index` of every simulated machine.
inline void put_uuid(std::uint32_t index, std::uint8_t to[16]) {
  std::memcpy(to, "tessera.sim", 11);
  std::memcpy(to + 12, &index, sizeof index);
}

/// What the shared calls need to know (plugins/kit/abi/gate.hpp, stream_calls.hpp).
struct rules {
  using device = tsr_device_s;
  static constexpr std::uint64_t device_magic = sim::device_magic, stream_magic = sim::stream_magic;
  static tsr_status alive(const device* one) { return sim::alive(one); }
  static bool same_plugin(const device* a, const device* b) { return a->plugin == b->plugin; }
  /// A ticket that is reached in fact may lie in the stream's modelled future, so a virtual clock waits in any case.
  static bool skips_reached(const device* one) { return !one->plugin->clock.is_virtual(); }
};
using gate = kit::gate<rules>;
using stream_calls = kit::stream_calls<rules>;
using registration_calls = kit::registration_calls<rules>;

/// Resolves addresses of kernels: memory of this very device only. What was resolved stays alive with `held`.
class operands final : public kit::operand_resolver {
 public:
  explicit operands(tsr_device* device) : m_device(device) {}
  tsr_status resolve(const char* name, const tsr_address& address, std::uint64_t bytes, void** out) override;
  std::vector<std::shared_ptr<allocation>> held;

 private:
  tsr_device* m_device;
};

/// Resolves one side of a copy: a plain pointer when `where` is host memory, else memory of where.device.
tsr_status resolve_side(const tsr_device* device, const char* name, const tsr_space_ref& where,
                        const tsr_address& address, std::uint64_t bytes, void** out, std::shared_ptr<allocation>& held);

/// The way between two spaces, as link reports it and copies use it.
struct route {
  channel* line = nullptr;
  tsr_link_class link_class = TSR_LINK_SAME;
  double bandwidth = 0;
  std::uint64_t latency_ns = 0;
};
/// Fails: INVALID_ARGUMENT (a device of another plugin), OUT_OF_RANGE (a space), UNIMPLEMENTED (no such way).
tsr_status find_route(tsr_device* device, const tsr_space_ref& source, const tsr_space_ref& destination, route& out);

/// The one gate through which all work of a device goes to a stream, or into the graph that the stream records; its
/// fault hooks belong here.
void submit(tsr_stream* stream, kit::work work);
/// The same for a kernel: when it is not recorded, it begins a launch latency later.
void submit_kernel(tsr_stream* stream, kit::work work);

/// Where the work of a stream that records goes; null for one that does not.
std::vector<kit::work>* recorded_by(tsr_stream* stream);
/// FAILED_PRECONDITION, with a record, when the calling thread records on a stream of the device.
tsr_status refuse_while_thread_records(tsr_device* device, const char* call);

/// Runs `action` as a transfer: takes `line` for bytes/bandwidth and ends a latency later.
template <class Action>
tsr_status as_transfer(tsr_device* device, kit::execution& state, channel& line, double bandwidth,
                       std::uint64_t latency_ns, std::uint64_t bytes, Action&& action);

/// Runs `action` as a computation of `flops` operations on one of the device's compute units.
tsr_status as_computation(tsr_device* device, kit::execution& state, double flops,
                          const std::function<tsr_status()>& action);

/// The same where nobody knows the operations: takes a unit for as long as the host computed, over `speed`.
tsr_status as_measured(tsr_device* device, kit::execution& state, double speed,
                       const std::function<tsr_status()>& action);

/// Nanoseconds, rounded up, capped at a day.
std::uint64_t duration_of(double amount, double rate) noexcept;

/// What a launch costs before its first kernel begins.
void launch_delay(tsr_device* device, kit::execution& state, std::uint64_t latency_ns);

/// Moves the device's clock (the latest modelled time of any stream) forward.
void advance(tsr_device* device, std::uint64_t time_ns) noexcept;

template <class Action>
tsr_status as_transfer(tsr_device* device, kit::execution& state, channel& line, double bandwidth,
                       std::uint64_t latency_ns, std::uint64_t bytes, Action&& action) {
  auto& clock = device->plugin->clock;
  const auto busy = duration_of(static_cast<double>(bytes), bandwidth);
  const auto end = line.reserve(clock.begin(state.time_ns), busy) + busy + latency_ns;
  const tsr_status status = action();
  clock.wait_until(end);
  state.time_ns = end;
  advance(device, end);
  return status;
}

// memory.cpp
tsr_status mem_alloc(tsr_device* device, std::uint32_t space, std::uint64_t bytes, tsr_memory** out_memory);
tsr_status mem_free(tsr_device* device, tsr_memory* memory);

// stream.cpp
tsr_status stream_create(tsr_device* device, std::uint32_t flags, tsr_stream** out_stream);
tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* copy);
tsr_status fill(tsr_device* device, tsr_stream* stream, tsr_address destination, const void* pattern,
                std::uint32_t pattern_bytes, std::uint64_t count);
tsr_status run_host_work(tsr_device* device, tsr_stream* stream, const kit::host_work& work);

// graph.cpp
tsr_graph_table graph_table();
void put_refusals_into(tsr_device_table& table);  ///< after the stream entries: they refuse while a graph is recorded

// device.cpp
const tsr_device_table& device_table();

// ipc.cpp
tsr_ipc_table ipc_table();

// kernels.cpp
tsr_blas_table blas_table(const char* library);
tsr_tensor_table tensor_table();
tsr_sparse_table sparse_table();

// modules.cpp
void put_modules_into(tsr_device_table& table);
tsr_jit_table jit_table();
void close_modules(tsr_device& device);

}  // namespace tessera::sim
