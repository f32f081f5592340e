#pragma once
// What the interposer knows of the plugins, devices and streams that it stands before. Handles pass through unchanged;
// their state is found by their address.
#include <tessera/plugin.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugins/fault/rules.hpp"

namespace tessera::fault {

/// Holds work back until it is opened, once for all; or for a time.
class gate {
 public:
  void open() noexcept;
  bool is_open() const noexcept { return m_open.load(std::memory_order_acquire); }
  void wait() noexcept;
  void wait_for(std::uint64_t ns) noexcept;

 private:
  std::mutex m_mutex;
  std::condition_variable m_opened;
  std::atomic<bool> m_open{false};
};

struct plugin_state;

/// One stream. The producer sets what is pending; progress is asked by any thread.
struct stream_state {
  bool is_inline = false;
  std::atomic<bool> capturing{false};  ///< its work is being recorded: faults strike when the graph runs
  std::atomic<std::uint64_t> signalled{0}, reached{0}, lost_from{0};

  struct failure {
    std::uint64_t value;
    tsr_status status;
    std::string message;
  };
  std::mutex mutex;
  tsr_status pending = TSR_OK;  ///< work failed since the last signal; under mutex, like what follows
  std::string pending_message;
  std::deque<failure> failures;  ///< by value; told once each

  void fail(tsr_status status, std::string message);
};

/// A table as the plugin gave it, and as it is given on.
template <class Table>
struct table_pair {
  Table inner{}, outer{};
};

/// One open device.
struct device_state {
  plugin_state* plugin = nullptr;
  tsr_device* handle = nullptr;
  std::string name;                   ///< its own
  device_name called;                 ///< both
  tsr_device_table inner{}, outer{};  ///< completed to this build's size
  std::uint32_t table_bytes = 0;      ///< what the inner side knows of its table
  table_pair<tsr_blas_table> blas;
  table_pair<tsr_tensor_table> tensor;
  table_pair<tsr_graph_table> graph;
  table_pair<tsr_sparse_table> sparse;
  std::atomic<bool> lost{false};

  std::shared_ptr<stream_state> find(tsr_stream* stream) const;
  void add(tsr_stream* stream, std::uint32_t flags);
  void remove(tsr_stream* stream);
  /// Returns when nothing that was enqueued runs any more, and every call answers that the device is lost: all that was
  /// signalled counts as reached. The caller is inside no passage of its own.
  void lose();

 private:
  friend class passage;
  void drain();
  std::atomic<bool> m_dying{false};
  std::atomic<unsigned> m_inside{0};
  mutable std::shared_mutex m_mutex;
  std::unordered_map<tsr_stream*, std::shared_ptr<stream_state>> m_streams;
};

/// A call that may enqueue something. While a device is being lost nobody enters, and it is lost when all have left and
/// what they have enqueued is over.
class passage {
 public:
  explicit passage(device_state& device);
  ~passage() { leave(); }
  passage(const passage&) = delete;
  passage& operator=(const passage&) = delete;
  void leave() noexcept {
    if (m_device != nullptr) m_device->m_inside.fetch_sub(1);
    m_device = nullptr;
  }

 private:
  device_state* m_device;
};

/// One opened plugin. Lives until its shutdown has returned.
struct plugin_state {
  plugin_state(const kit::reporter& r, settings s, std::string plugin)
      : report(r), rules(std::move(s)), name(std::move(plugin)) {}
  const kit::reporter report;
  judge rules;
  const std::string name;  ///< the plugin's
  tsr_plugin* handle = nullptr;
  tsr_plugin_table inner{};
  gate held;  ///< what hangs and what is slow waits here; open: nothing is held back any more
  std::mutex mutex;
  std::vector<std::shared_ptr<device_state>> devices;  ///< all ever opened: their tables live until shutdown
};

/// The state of an open device or plugin, or null.
std::shared_ptr<device_state> find(const tsr_device* device);
std::shared_ptr<plugin_state> find(const tsr_plugin* plugin);
/// All that are open behind this library.
std::vector<std::shared_ptr<plugin_state>> all_plugins();
void keep(std::shared_ptr<device_state> device);
void keep(std::shared_ptr<plugin_state> plugin);
void forget(const tsr_device* device);
void forget(const tsr_plugin* plugin);

/// The record and the status of a device that is lost, or OK.
tsr_status alive(const device_state& device);

/// Asks the rules about a call and does what they say short of the work itself: TSR_OK and `work` true: do it; TSR_OK
/// and `work` false: leave it out, its failure is on the timeline; else answer the status. `stream` is null for
/// allocations. `in`: the call's passage.
tsr_status before(passage& in, device_state& device, tsr_stream* stream, call which, std::uint64_t bytes,
                  const char* what, bool& work);

// The parts of the tables (streams.cpp, enqueue.cpp, extensions.cpp).
void put_streams_into(device_state& device);
void put_work_into(device_state& device);
/// Our table in place of the plugin's own, or null for an extension that passes through.
const void* wrap_extension(device_state& device, tsr_extension_id id, const void* inner);

/// What the plugin's side knows of a table, in a table of this build.
template <class T>
T completed(const T* from) {
  T to{};
  if (from == nullptr) return to;
  const std::size_t bytes = from->struct_size < sizeof(T) ? from->struct_size : sizeof(T);
  __builtin_memcpy(&to, from, bytes);
  to.struct_size = static_cast<std::uint32_t>(bytes);
  return to;
}

}  // namespace tessera::fault
