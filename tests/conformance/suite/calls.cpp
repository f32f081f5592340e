#include "tests/conformance/suite/calls.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>

namespace tessera::conformance {
namespace {

/// What a thread calls. More threads than slots share them; then the name may be another thread's.
struct slot {
  std::atomic<const char*> entry{nullptr};
  std::atomic<std::int64_t> since{0};  ///< nanoseconds of the steady clock
};
std::array<slot, 64> slots;
std::atomic<std::size_t> threads_seen{0};

slot& own_slot() noexcept {
  thread_local slot& own = slots[threads_seen.fetch_add(1, std::memory_order_relaxed) % slots.size()];
  return own;
}

std::int64_t now_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// The plugin's own tables of one kind, by the device (or the plugin) that they are for.
template <class Table>
class originals {
 public:
  /// A NULL or stale handle gets the table of another one: all devices of a plugin refuse it alike.
  static const Table& of(const void* handle) {
    const std::shared_lock guard(m_mutex);
    const auto found = m_all.find(handle);
    return found != m_all.end() ? found->second : *m_last;
  }
  /// Keeps `given`, and gives a copy whose entries `mark_entries` has replaced: the one of before, if it was given
  /// before.
  static Table& keep(const void* handle, const Table& given, void (*mark_entries)(Table& made)) {
    Table own{};
    std::memcpy(&own, &given, std::min<std::size_t>(given.struct_size, sizeof own));
    own.struct_size = std::min<std::uint32_t>(given.struct_size, sizeof own);
    const std::lock_guard guard(m_mutex);
    Table& kept = m_all[handle];
    m_last = &kept;
    Table& made = m_made[handle];
    if (std::memcmp(&kept, &own, sizeof own) == 0) return made;  // which may be in use
    kept = made = own;
    mark_entries(made);
    return made;
  }

 private:
  static inline std::shared_mutex m_mutex;
  static inline std::map<const void*, Table> m_all, m_made;
  static inline const Table* m_last = nullptr;
};

template <std::size_t n>
struct name {
  char text[n]{};
  constexpr name(const char (&given)[n]) { std::copy_n(given, n, text); }
};

template <auto entry, auto called, class Table, class Result, class First, class... Rest>
void mark_as(Table& made, Result (*Table::*)(First, Rest...)) {
  if (made.*entry == nullptr) return;
  made.*entry = [](First first, Rest... rest) -> Result {
    const calling now(called.text);
    return (originals<Table>::of(first).*entry)(first, rest...);
  };
}
template <auto entry, name called, class Table>
void mark(Table& made) {
  mark_as<entry, called>(made, entry);
}

void mark_all(tsr_device_table& made) {
  mark<&tsr_device_table::spaces, "spaces">(made);
  mark<&tsr_device_table::link, "link">(made);
  mark<&tsr_device_table::mem_alloc, "mem_alloc">(made);
  mark<&tsr_device_table::mem_free, "mem_free">(made);
  mark<&tsr_device_table::stream_create, "stream_create">(made);
  mark<&tsr_device_table::stream_destroy, "stream_destroy">(made);
  mark<&tsr_device_table::stream_signal, "stream_signal">(made);
  mark<&tsr_device_table::stream_progress, "stream_progress">(made);
  mark<&tsr_device_table::copy, "copy">(made);
  mark<&tsr_device_table::query, "query">(made);
  mark<&tsr_device_table::health, "health">(made);
  mark<&tsr_device_table::thread_attach, "thread_attach">(made);
  mark<&tsr_device_table::thread_detach, "thread_detach">(made);
  mark<&tsr_device_table::host_register, "host_register">(made);
  mark<&tsr_device_table::host_unregister, "host_unregister">(made);
  mark<&tsr_device_table::mem_base, "mem_base">(made);
  mark<&tsr_device_table::mem_map, "mem_map">(made);
  mark<&tsr_device_table::mem_unmap, "mem_unmap">(made);
  mark<&tsr_device_table::stream_wait, "stream_wait">(made);
  mark<&tsr_device_table::stream_host_wait, "stream_host_wait">(made);
  mark<&tsr_device_table::stream_callback, "stream_callback">(made);
  mark<&tsr_device_table::stream_native, "stream_native">(made);
  mark<&tsr_device_table::fill, "fill">(made);
  mark<&tsr_device_table::module_load, "module_load">(made);
  mark<&tsr_device_table::module_unload, "module_unload">(made);
  mark<&tsr_device_table::kernel_get, "kernel_get">(made);
  mark<&tsr_device_table::launch, "launch">(made);
  mark<&tsr_device_table::host_task, "host_task">(made);
  mark<&tsr_device_table::mem_native, "mem_native">(made);
  mark<&tsr_device_table::host_work, "host_work">(made);
}

void mark_all(tsr_blas_table& made) {
  mark<&tsr_blas_table::supports, "BLAS supports">(made);
  mark<&tsr_blas_table::workspace, "BLAS workspace">(made);
  mark<&tsr_blas_table::gemm, "BLAS gemm">(made);
  mark<&tsr_blas_table::gemm_strided, "BLAS gemm_strided">(made);
  mark<&tsr_blas_table::gemm_batched, "BLAS gemm_batched">(made);
  mark<&tsr_blas_table::axpy, "BLAS axpy">(made);
  mark<&tsr_blas_table::scal, "BLAS scal">(made);
  mark<&tsr_blas_table::dot, "BLAS dot">(made);
  mark<&tsr_blas_table::nrm2, "BLAS nrm2">(made);
  mark<&tsr_blas_table::syrk, "BLAS syrk">(made);
  mark<&tsr_blas_table::trsm, "BLAS trsm">(made);
  mark<&tsr_blas_table::potrf, "BLAS potrf">(made);
}

void mark_all(tsr_tensor_table& made) {
  mark<&tsr_tensor_table::supports, "TENSOR supports">(made);
  mark<&tsr_tensor_table::workspace, "TENSOR workspace">(made);
  mark<&tsr_tensor_table::permute, "TENSOR permute">(made);
  mark<&tsr_tensor_table::reduce_add, "TENSOR reduce_add">(made);
  mark<&tsr_tensor_table::fill, "TENSOR fill">(made);
  mark<&tsr_tensor_table::contract, "TENSOR contract">(made);
  mark<&tsr_tensor_table::reduce, "TENSOR reduce">(made);
  mark<&tsr_tensor_table::contract_batched, "TENSOR contract_batched">(made);
}

void mark_all(tsr_sparse_table& made) {
  mark<&tsr_sparse_table::supports, "SPARSE supports">(made);
  mark<&tsr_sparse_table::create_csr, "SPARSE create_csr">(made);
  mark<&tsr_sparse_table::destroy, "SPARSE destroy">(made);
  mark<&tsr_sparse_table::spmm, "SPARSE spmm">(made);
  mark<&tsr_sparse_table::create_bsr, "SPARSE create_bsr">(made);
  mark<&tsr_sparse_table::workspace, "SPARSE workspace">(made);
}

void mark_all(tsr_graph_table& made) {
  mark<&tsr_graph_table::capture_begin, "GRAPH capture_begin">(made);
  mark<&tsr_graph_table::capture_end, "GRAPH capture_end">(made);
  mark<&tsr_graph_table::launch, "GRAPH launch">(made);
  mark<&tsr_graph_table::update, "GRAPH update">(made);
  mark<&tsr_graph_table::destroy, "GRAPH destroy">(made);
}

void mark_all(tsr_jit_table& made) {
  mark<&tsr_jit_table::compile, "JIT compile">(made);
  mark<&tsr_jit_table::release, "JIT release">(made);
  mark<&tsr_jit_table::identity, "JIT identity">(made);
}

void mark_all(tsr_ipc_table& made) {
  mark<&tsr_ipc_table::export_memory, "IPC export_memory">(made);
  mark<&tsr_ipc_table::import_memory, "IPC import_memory">(made);
}

void mark_all(tsr_telemetry_table& made) { mark<&tsr_telemetry_table::read, "TELEMETRY read">(made); }

tsr_status device_open(tsr_plugin*, std::uint32_t, tsr_device**, const tsr_device_table**);
tsr_status extension(tsr_plugin*, tsr_device*, tsr_extension_id, std::uint32_t, const void**);

void mark_all(tsr_plugin_table& made) {
  mark<&tsr_plugin_table::enumerate, "enumerate">(made);
  mark<&tsr_plugin_table::device_close, "device_close">(made);
  mark<&tsr_plugin_table::devices_ready, "devices_ready">(made);
  mark<&tsr_plugin_table::shutdown, "shutdown">(made);
  if (made.device_open != nullptr) made.device_open = device_open;
  if (made.extension != nullptr) made.extension = extension;
}

template <class Table>
const void* marked(const void* handle, const void* given) {
  return &originals<Table>::keep(handle, *static_cast<const Table*>(given), [](Table& made) { mark_all(made); });
}

/// The same for an extension; one that is not known here stays as it is.
const void* marked_extension(tsr_extension_id id, const void* handle, const void* given) {
  switch (id) {
    case TSR_EXTENSION_BLAS:
      return marked<tsr_blas_table>(handle, given);
    case TSR_EXTENSION_TENSOR:
      return marked<tsr_tensor_table>(handle, given);
    case TSR_EXTENSION_SPARSE:
      return marked<tsr_sparse_table>(handle, given);
    case TSR_EXTENSION_GRAPH:
      return marked<tsr_graph_table>(handle, given);
    case TSR_EXTENSION_JIT:
      return marked<tsr_jit_table>(handle, given);
    case TSR_EXTENSION_IPC:
      return marked<tsr_ipc_table>(handle, given);
    case TSR_EXTENSION_TELEMETRY:
      return marked<tsr_telemetry_table>(handle, given);
    default:
      return given;
  }
}

tsr_status device_open(tsr_plugin* plugin, std::uint32_t index, tsr_device** out_device,
                       const tsr_device_table** out_table) {
  const calling now("device_open");
  const tsr_status status = originals<tsr_plugin_table>::of(plugin).device_open(plugin, index, out_device, out_table);
  if (status == TSR_OK && out_device != nullptr && out_table != nullptr && *out_table != nullptr)
    *out_table = static_cast<const tsr_device_table*>(marked<tsr_device_table>(*out_device, *out_table));
  return status;
}

tsr_status extension(tsr_plugin* plugin, tsr_device* device, tsr_extension_id id, std::uint32_t min_version,
                     const void** out_table) {
  const calling now("extension");
  const tsr_status status =
      originals<tsr_plugin_table>::of(plugin).extension(plugin, device, id, min_version, out_table);
  if (status == TSR_OK && out_table != nullptr && *out_table != nullptr)
    *out_table = marked_extension(id, device, *out_table);
  return status;
}

decltype(tsr_plugin_header::open) open_of_the_plugin = nullptr;
bool has_devices = false;

tsr_status open_marked(const tsr_host* host, const tsr_option_value* options, std::uint32_t count,
                       tsr_plugin** out_plugin, const void** out_table) {
  const calling now("open");
  const tsr_status status = open_of_the_plugin(host, options, count, out_plugin, out_table);
  if (status != TSR_OK || !has_devices || out_plugin == nullptr || out_table == nullptr || *out_table == nullptr)
    return status;
  *out_table = marked<tsr_plugin_table>(*out_plugin, *out_table);
  return status;
}

}  // namespace

calling::calling(const char* entry) noexcept {
  slot& own = own_slot();
  m_outer_since = own.since.load(std::memory_order_relaxed);
  own.since.store(now_ns(), std::memory_order_relaxed);
  m_outer = own.entry.exchange(entry, std::memory_order_relaxed);
}

calling::~calling() {
  slot& own = own_slot();
  own.entry.store(m_outer, std::memory_order_relaxed);
  own.since.store(m_outer_since, std::memory_order_relaxed);
}

std::vector<call_under_way> calls_under_way() {
  std::vector<call_under_way> all;
  for (const slot& one : slots)
    if (const char* const entry = one.entry.load(std::memory_order_relaxed))
      all.push_back({entry, static_cast<double>(now_ns() - one.since.load(std::memory_order_relaxed)) * 1e-9});
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return all;
}

void name_calls_under_way(void (*say)(const char* entry)) noexcept {
  for (const slot& one : slots)
    if (const char* const entry = one.entry.load(std::memory_order_relaxed)) say(entry);
}

void mark_calls(plugin::loaded_plugin& of) {
  if (of.header.open == open_marked || of.header.open == nullptr) return;
  open_of_the_plugin = of.header.open;
  has_devices = of.header.kind == TSR_PLUGIN_DEVICE || of.header.kind == TSR_PLUGIN_STORAGE;
  of.header.open = open_marked;
}

}  // namespace tessera::conformance
