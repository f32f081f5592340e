#pragma once
// Devices, streams and links of an imagined machine: work without bytes that takes time on a virtual clock.
#include <tessera/plugin.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/schedule/virtual_clock.hpp"
#include "hierarchy/simulation/duration.hpp"

namespace tessera::hierarchy {

class device_model;
struct model_stream;

/// Something that only so many can use at the same time: a device's kernels, one direction of a connection.
struct model_resource {
  std::uint32_t capacity = 1, in_use = 0;
  bool free() const noexcept { return capacity == 0 || in_use < capacity; }  ///< capacity 0: no limit
};

/// What has passed from one memory to another.
struct link_use {
  std::uint32_t from = 0, to = 0;  ///< devices; 0: the host
  std::uint64_t copies = 0, bytes = 0;
  std::uint64_t busy_ns = 0;  ///< time in which bytes moved; copies at the same time count each
};

/// A place that computes, behind a tsr_device handle. Number 0 is the host.
struct model_device {
  device_model* world = nullptr;
  std::uint32_t number = 0;
  std::string name;
  const duration_model* speed = nullptr;
  double host_bandwidth = 0;            ///< host: of a copy between its memories
  std::vector<std::uint64_t> capacity;  ///< bytes, by space; 0: no limit
  std::vector<std::uint64_t> allocated;
  model_resource kernels;
  std::deque<model_stream*> waiting;  ///< for `kernels`, in order
  std::uint64_t busy_ns = 0;          ///< kernels, added up
  std::uint64_t tasks = 0;
};

/// One step of a stream.
struct model_step {
  enum class kind : std::uint8_t {
    kernel,
    copy,
    signal,
    wait,
    callback
  } kind = kind::signal;
  bool begun = false;                    ///< its latency is over
  std::uint32_t link = 0;                ///< copy: index into world::links
  std::uint64_t latency_ns = 0, ns = 0;  ///< until it asks for what it needs, and how long it needs that
  std::uint64_t value = 0;               ///< signal, wait
  model_stream* other = nullptr;         ///< wait
  void (*call)(void*) = nullptr;         ///< callback
  void* argument = nullptr;
};

/// One in-order queue, behind a tsr_stream handle.
struct model_stream {
  model_device* device = nullptr;
  bool is_inline = false;
  bool busy = false, asleep = false;  ///< its first step is under way, or waits for another stream
  std::deque<model_step> steps;
  std::uint64_t signalled = 0, completed = 0;
  struct waiter {
    model_stream* stream;
    std::uint64_t value;
  };
  std::vector<waiter> waiters;  ///< that wait for this one
};

/// All of it. For one thread. Streams keep their order; what is ready takes what it needs in the order of becoming
/// ready, and a copy that cannot begin holds up no work that needs something else.
class device_model : public schedule::simulation {
 public:
  explicit device_model(const machine_description& description, std::vector<placement::history_cell> learnt = {});

  const machine_description& description() const noexcept { return m_description; }
  std::vector<std::unique_ptr<model_device>>& devices() noexcept { return m_devices; }
  const duration_model& host_speed() const noexcept { return *m_speeds.front(); }
  const duration_model& speed_of(std::size_t described_device) const noexcept {
    return *m_speeds[described_device + 1];
  }
  /// Between two devices (0: the host); null when there is no direct path.
  const described_link* link_between(std::uint32_t from, std::uint32_t to) const noexcept;
  const std::vector<link_use>& links() const noexcept { return m_uses; }  ///< those that were asked for
  /// Forgets what was used so far: times and bytes.
  void forget_use() noexcept;

  // What the device tables do.
  void push(model_stream& to, model_step step);
  void push_kernel(model_stream& to, std::uint64_t ns, std::uint64_t overhead_ns);
  /// False when there is no direct path.
  bool push_copy(model_stream& to, std::uint32_t from_device, std::uint32_t to_device, std::uint64_t bytes);
  /// Addresses that must not be touched, for memory of the host.
  std::uint64_t make_addresses(std::uint64_t bytes) noexcept;

 private:
  struct path {  // the resources of a copy in one direction
    std::uint32_t needs[3] = {};
    std::uint32_t count = 0;
    const described_link* link = nullptr;
  };
  std::uint32_t device_kind(
      std::uint32_t device) const noexcept;  ///< index into the description's devices + 1; 0: host
  std::uint32_t way_index(std::uint32_t from, std::uint32_t to);
  /// Lets the stream and all that it wakes go on; inside of that, when that is done.
  void wake(model_stream& s);
  void proceed(model_stream& s);
  void begin(model_stream& s);
  void take(model_stream& s);
  void end(model_stream& s);
  void start_copies();
  void at(std::uint64_t ns, void (*run)(void*, std::uint64_t), model_stream& s) { clock.at(clock.now() + ns, run, &s); }

  machine_description m_description;
  std::vector<std::unique_ptr<duration_model>> m_speeds;  // the host's, then those of the description's devices
  std::vector<std::unique_ptr<model_device>> m_devices;
  std::vector<model_resource> m_ports;
  std::vector<std::uint32_t> m_path_of;  // from * devices + to: index into m_paths + 1; 0: not asked for yet
  std::vector<path> m_paths;
  std::vector<link_use> m_uses;         // as m_paths
  std::vector<model_stream*> m_copies;  // that wait for their ports, in order
  std::vector<model_stream*> m_awake;   // to proceed
  bool m_proceeding = false;
  std::uint64_t m_next_address = std::uint64_t{1} << 44;
};

/// The ABI's tables over world_device and world_stream handles.
const tsr_device_table& world_device_table() noexcept;
const tsr_blas_table& world_blas_table() noexcept;      ///< gemm, syrk, trsm, potrf, axpy, scal of real types
const tsr_tensor_table& world_tensor_table() noexcept;  ///< permute, reduce_add, fill

}  // namespace tessera::hierarchy
