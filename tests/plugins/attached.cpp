// A LAYER plugin that holds the host to thread_attach: every call on a device by a thread that is not attached to it is
// refused, and so are a second thread_attach, and a thread_detach by a thread that is none of them. `tsr_test_attached`
// counts attached threads, `tsr_test_attached_of` the devices of one, `tsr_test_attached_here` the devices that the
// calling thread is attached to, `tsr_test_detached` calls of thread_detach, `tsr_test_asked` calls of stream_progress.
#include <tessera/plugin.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <type_traits>

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

namespace {

const tsr_host* host = nullptr;
const tsr_plugin_header* inner_header = nullptr;
tsr_plugin_header outer_header;
tsr_plugin_table inner, outer;
tsr_device_table inner_device, outer_device;  // all devices of a plugin that this is tested with have the same
tsr_blas_table inner_blas, outer_blas;
tsr_tensor_table inner_tensor, outer_tensor;

std::mutex mutex;
std::map<tsr_device*, std::set<std::thread::id>> attached;
std::atomic<std::uint64_t> asked{0};
std::atomic<std::uint32_t> detached{0};

template <class Table>
Table copy_of(const void* given) {
  Table made{};
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, given, sizeof bytes);
  std::memcpy(&made, given, bytes < sizeof made ? bytes : sizeof made);
  made.struct_size = sizeof made;
  return made;
}

tsr_status refuse(const char* what) {
  host->error(host->context, TSR_FAILED_PRECONDITION, what);
  return TSR_FAILED_PRECONDITION;
}

/// One entry of a table that lies in `From`.
template <auto& From, auto Member, class Entry>
struct checked;
template <auto& From, auto Member, class... Arguments>
struct checked<From, Member, tsr_status (*)(tsr_device*, Arguments...)> {
  static tsr_status run(tsr_device* device, Arguments... arguments) {
    {
      const std::lock_guard guard(mutex);
      if (attached[device].count(std::this_thread::get_id()) == 0)
        return refuse("a call by a thread that is not attached");
    }
    if constexpr (std::is_same_v<decltype(Member), tsr_status (*tsr_device_table::*)(tsr_device*, tsr_stream*,
                                                                                     std::uint64_t*, std::uint64_t*)>)
      asked.fetch_add(1);
    return (From.*Member)(device, arguments...);
  }
};

template <auto& From, auto& To, auto... Members>
void check_entries() {
  const auto one = [](auto member, auto run) {
    if (To.*member != nullptr) To.*member = run;
  };
  (one(Members, checked<From, Members, std::remove_reference_t<decltype(From.*Members)>>::run), ...);
}

tsr_status thread_attach(tsr_device* device) {
  const std::lock_guard guard(mutex);
  return attached[device].insert(std::this_thread::get_id()).second ? TSR_OK : refuse("a thread is attached twice");
}

tsr_status thread_detach(tsr_device* device) {
  detached.fetch_add(1);
  const std::lock_guard guard(mutex);
  return attached[device].erase(std::this_thread::get_id()) == 1 ? TSR_OK
                                                                 : refuse("a thread is detached that is not attached");
}

tsr_status device_open(tsr_plugin* plugin, std::uint32_t index, tsr_device** out_device,
                       const tsr_device_table** out_table) {
  using t = tsr_device_table;
  const tsr_device_table* given = nullptr;
  if (const tsr_status status = inner.device_open(plugin, index, out_device, &given)) return status;
  inner_device = outer_device = copy_of<tsr_device_table>(given);
  check_entries<inner_device, outer_device, &t::spaces, &t::link, &t::mem_alloc, &t::mem_free, &t::stream_create,
                &t::stream_destroy, &t::stream_signal, &t::stream_progress, &t::copy, &t::query, &t::health,
                &t::host_register, &t::host_unregister, &t::mem_base, &t::mem_map, &t::mem_unmap, &t::stream_wait,
                &t::stream_host_wait, &t::stream_callback, &t::stream_native, &t::fill, &t::module_load,
                &t::module_unload, &t::kernel_get, &t::launch, &t::host_task, &t::mem_native, &t::host_work>();
  outer_device.thread_attach = thread_attach;
  outer_device.thread_detach = thread_detach;
  *out_table = &outer_device;
  return TSR_OK;
}

tsr_status device_close(tsr_plugin* plugin, tsr_device* device) {
  {
    const std::lock_guard guard(mutex);
    attached.erase(device);
  }
  return inner.device_close(plugin, device);
}

tsr_status extension(tsr_plugin* plugin, tsr_device* device, tsr_extension_id id, std::uint32_t version,
                     const void** out_table) {
  if (const tsr_status status = inner.extension(plugin, device, id, version, out_table)) return status;
  if (id == TSR_EXTENSION_BLAS) {
    using t = tsr_blas_table;
    inner_blas = outer_blas = copy_of<tsr_blas_table>(*out_table);
    check_entries<inner_blas, outer_blas, &t::workspace, &t::gemm, &t::gemm_strided, &t::gemm_batched, &t::axpy,
                  &t::scal, &t::dot, &t::nrm2, &t::syrk, &t::trsm, &t::potrf>();
    *out_table = &outer_blas;
  } else if (id == TSR_EXTENSION_TENSOR) {
    using t = tsr_tensor_table;
    inner_tensor = outer_tensor = copy_of<tsr_tensor_table>(*out_table);
    check_entries<inner_tensor, outer_tensor, &t::workspace, &t::permute, &t::reduce_add, &t::fill, &t::contract,
                  &t::reduce, &t::contract_batched>();
    *out_table = &outer_tensor;
  }
  return TSR_OK;
}

tsr_status open_wrapped(const tsr_host* given_host, const tsr_option_value* values, std::uint32_t count,
                        tsr_plugin** out_plugin, const void** out_table) {
  host = given_host;
  const void* table = nullptr;
  if (const tsr_status status = inner_header->open(host, values, count, out_plugin, &table)) return status;
  inner = outer = copy_of<tsr_plugin_table>(table);
  outer.device_open = device_open;
  outer.device_close = device_close;
  outer.extension = inner.extension != nullptr ? extension : nullptr;
  *out_table = &outer;
  return TSR_OK;
}

const tsr_plugin_header* wrap(const tsr_plugin_header* given) {
  if (given->kind != TSR_PLUGIN_DEVICE && given->kind != TSR_PLUGIN_STORAGE) return nullptr;
  inner_header = given;
  outer_header = copy_of<tsr_plugin_header>(given);
  outer_header.open = open_wrapped;
  return &outer_header;
}

constexpr tsr_layer_table table = {sizeof(tsr_layer_table), wrap};

tsr_status open_layer(const tsr_host*, const tsr_option_value*, std::uint32_t, tsr_plugin** out_plugin,
                      const void** out_table) {
  static int token;
  *out_plugin = reinterpret_cast<tsr_plugin*>(&token);
  *out_table = &table;
  return TSR_OK;
}

}  // namespace

extern "C" TSR_EXPORT std::uint64_t tsr_test_asked() { return asked.load(); }

extern "C" TSR_EXPORT std::uint32_t tsr_test_detached() { return detached.load(); }

/// Devices to which a thread is attached; `thread`: its std::thread::id.
extern "C" TSR_EXPORT std::uint32_t tsr_test_attached_of(const void* thread) {
  const std::lock_guard guard(mutex);
  std::uint32_t devices = 0;
  for (const auto& [device, threads] : attached)
    devices += static_cast<std::uint32_t>(threads.count(*static_cast<const std::thread::id*>(thread)));
  return devices;
}

extern "C" TSR_EXPORT std::uint32_t tsr_test_attached() {
  const std::lock_guard guard(mutex);
  std::uint32_t all = 0;
  for (const auto& [device, threads] : attached) all += static_cast<std::uint32_t>(threads.size());
  return all;
}

extern "C" TSR_EXPORT std::uint32_t tsr_test_attached_here() {
  const std::lock_guard guard(mutex);
  std::uint32_t all = 0;
  for (const auto& [device, threads] : attached)
    all += static_cast<std::uint32_t>(threads.count(std::this_thread::get_id()));
  return all;
}

extern "C" TSR_EXPORT const tsr_plugin_header* tsr_plugin_query(std::uint32_t, std::uint32_t) {
  static const tsr_plugin_header header = [] {
    tsr_plugin_header made{};
    made.struct_size = sizeof made;
    made.abi_major = TSR_ABI_MAJOR;
    made.abi_minor = TSR_ABI_MINOR;
    made.kind = TSR_PLUGIN_LAYER;
    made.sanitizer = TSR_BUILD_SANITIZER;
    made.name = "attached";
    made.open = open_layer;
    return made;
  }();
  return &header;
}
