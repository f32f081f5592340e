#pragma once
// One opened device, as the core sees it: the plugin's C tables, completed to the current version of the ABI.
#include <tessera/plugin.h>

#include <cxxabi.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/plugin/attachments.hpp"

namespace tessera::plugin {

/// A memory space of a device. The description's strings live as long as the registry.
struct space {
  tsr_space_desc description{};
  std::string name;  ///< unique in the process: "host:numa0", "sim0:memory"
};

/// The word for a status ("RESOURCE_EXHAUSTED").
std::string_view name_of(tsr_status status) noexcept;

/// The record that the plugin left with host->error on this thread since the last call of this function; "" if none.
std::string take_error_details();

/// Leaves the record of an exception that came out of a plugin's entry, and answers TSR_INTERNAL.
tsr_status note_escaped(const char* entry, const char* words) noexcept;

/// Calls an entry of a device's table. An exception that comes out of it, against rule R4 of the ABI, becomes
/// TSR_INTERNAL with a record that names the entry. The end of a thread (pthread_exit) passes; GCC's sanitizer takes
/// the reference to it for one to nothing.
template <class F>
#ifdef __SANITIZE_ADDRESS__
[[gnu::no_sanitize("null"), gnu::noinline]]
#endif
tsr_status
contained(const char* entry, F&& call) {
  try {
    return call();
#ifdef __GLIBCXX__
  } catch (const abi::__forced_unwind&) {
    throw;
#endif
  } catch (const std::exception& escaped) {
    return note_escaped(entry, escaped.what());
  } catch (...) {
    return note_escaped(entry, "of an unknown type");
  }
}

/// The same where a failure changes nothing for the caller: false, and the record is dropped, so that the next failure
/// does not tell it.
template <class F>
bool succeeded(const char* entry, F&& call) {
  const bool done = contained(entry, std::forward<F>(call)) == TSR_OK;
  if (!done) take_error_details();
  return done;
}

/// The same for an entry that answers yes or no; no where it throws.
template <class F>
bool affirmed(const char* entry, F&& ask) {
  bool yes = false;
  succeeded(entry, [&]() -> tsr_status {
    yes = ask();
    return TSR_OK;
  });
  return yes;
}

/// One opened device. Made by the registry and valid as long as it. Holds *copies* of the plugin's tables with the size
/// of this build's ABI: entries that the plugin does not know are null, so the core tests pointers and never sizes.
/// Thread safety is that of the ABI (rule R5). Non-copyable; addresses are stable.
class device {
 public:
  device(std::string name, std::string plugin_name, std::uint32_t index, tsr_device* handle,
         const tsr_device_desc& description, const tsr_device_table& table, std::vector<space> spaces,
         const tsr_blas_table* blas, const tsr_tensor_table* tensor, const tsr_graph_table* graph = nullptr,
         const tsr_sparse_table* sparse = nullptr, const tsr_jit_table* jit = nullptr,
         std::shared_ptr<attachments> attached = nullptr);
  device(const device&) = delete;
  device& operator=(const device&) = delete;

  const std::string& name() const noexcept { return m_name; }                ///< unique: "host", "sim0", "cuda1"
  const std::string& plugin_name() const noexcept { return m_plugin_name; }  ///< "sim"
  std::uint32_t index() const noexcept { return m_index; }                   ///< position in registry::devices()
  tsr_device* handle() const noexcept { return m_handle; }
  const tsr_device_desc& description() const noexcept { return m_description; }
  const tsr_device_table& table() const noexcept { return m_table; }
  std::span<const space> spaces() const noexcept { return m_spaces; }
  bool has(std::uint32_t capability) const noexcept { return (m_description.capabilities & capability) != 0; }

  /// Sub-tables, or null where the device has none. All entries of `sparse` are there.
  const tsr_blas_table* blas() const noexcept { return m_has_blas ? &m_blas : nullptr; }
  const tsr_tensor_table* tensor() const noexcept { return m_has_tensor ? &m_tensor : nullptr; }
  const tsr_sparse_table* sparse() const noexcept { return m_has_sparse ? &m_sparse : nullptr; }
  /// With all entries but `update`, which was given up.
  const tsr_graph_table* graph() const noexcept { return m_has_graph ? &m_graph : nullptr; }
  /// With `languages`, `compile` and `release`; only where the device also loads modules and launches their kernels.
  const tsr_jit_table* jit() const noexcept { return m_has_jit ? &m_jit : nullptr; }
  /// Whether images can be loaded and their kernels be launched.
  bool launches() const noexcept {
    return m_table.module_load != nullptr && m_table.kernel_get != nullptr && m_table.launch != nullptr;
  }

  /// Before a thread's first use of the device (rule of thread_attach); later calls cost a look. Any thread.
  void attach_this_thread() const {
    if (m_table.thread_attach != nullptr && m_attached) m_attached->attach_this_thread();
  }

  /// It hangs: threads that end do not detach from it.
  void give_up_threads() const noexcept {
    if (m_attached) m_attached->give_up();
  }

  /// Throws tessera::error (kind device; kind memory for RESOURCE_EXHAUSTED) unless status is TSR_OK. `what` names the
  /// call: "copy of 8192 bytes". The plugin's details are part of the message.
  void check(tsr_status status, std::string_view what) const {
    if (status != TSR_OK) fail(status, what);
  }
  /// What check throws. `what` may be empty where others name the call.
  [[noreturn]] void fail(tsr_status status, std::string_view what) const;

  /// Whether a call has answered DEVICE_LOST. For ever; by rule R10 of the ABI nothing of the device runs any more
  /// then.
  bool lost() const noexcept { return m_lost.load(std::memory_order_acquire); }
  /// What it said when it was lost.
  std::string loss_details() const;
  /// A call of the plugin has answered so, with these details. Watchers are told once. Any thread, whatever it holds.
  void note_lost(std::string details) const;
  /// Called with `context` when the device is lost, by the thread that noticed, with unknown locks held: it takes none
  /// but leaves. At once if it is lost already.
  void watch_loss(void (*call)(void* context), void* context) const;
  void unwatch_loss(const void* context) const;  ///< after that it is not called any more

 private:
  std::string m_name, m_plugin_name;
  std::uint32_t m_index;
  tsr_device* m_handle;
  tsr_device_desc m_description;
  tsr_device_table m_table;
  std::vector<space> m_spaces;
  tsr_blas_table m_blas{};
  tsr_tensor_table m_tensor{};
  tsr_graph_table m_graph{};
  tsr_sparse_table m_sparse{};
  tsr_jit_table m_jit{};
  bool m_has_blas = false, m_has_tensor = false, m_has_graph = false, m_has_sparse = false, m_has_jit = false;
  std::shared_ptr<attachments> m_attached;
  mutable std::atomic<bool> m_lost{false};
  mutable std::mutex m_loss_mutex;
  mutable std::string m_loss_details;
  mutable std::vector<std::pair<void (*)(void*), void*>> m_loss_watchers;
};

}  // namespace tessera::plugin
