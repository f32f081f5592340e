#pragma once
// Moves bytes between the memories: plans copies under the block's lock, has the plugins enqueue them, and follows them
// to their end.
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "core/trace/tracer.hpp"
#include "core/transfer/copy_failures.hpp"
#include "core/transfer/device_losses.hpp"
#include "core/transfer/replicas.hpp"
#include "core/transfer/staging_ring.hpp"

namespace tessera::transfer {

/// Copy streams of one device.
struct copy_streams {
  stream* in = nullptr;   ///< towards the device; for a host device: inline
  stream* out = nullptr;  ///< from the device
};

/// What a copy is made for.
enum class copy_purpose : std::uint8_t {
  use,        ///< a task needs the block
  write_back  ///< the block leaves its memory, or may do so soon
};

/// A copy that was decided while the block's lock was held: both replicas are marked `issuing` and the source is
/// pinned, so that it can be enqueued after the lock is gone.
struct planned_copy {
  block::record* block = nullptr;
  memory::space_number from = 0, to = 0;
  block::version_number version = 0;
  copy_purpose purpose = copy_purpose::use;
  std::uint64_t issued = 0;  ///< while recording
  tsr_address source{}, destination{};
  block::ticket source_ready;  ///< what makes the bytes that it copies, where it was not known to have succeeded
  staged_points points;        ///< once it is issued; of one that is not staged the whole, and pieces that were refused
  std::vector<std::pair<const stream*, block::ticket>> waits;  ///< before the first byte moves
};

/// Is told of the ends of write-backs.
class write_back_listener {
 public:
  /// With the block's lock held, once nothing of the copy is under way. `source` is unpinned; `arrived`: the parent has
  /// the contents.
  virtual void write_back_ended(block::record& block, block::replica& source, bool arrived) = 0;

 protected:
  ~write_back_listener() = default;
};

/// One per runtime. Thread-safe.
class copy_engine {
 public:
  /// Makes two copy streams for each device (one where it has no more), and a staging ring of `staging_bytes` of the
  /// first host memory for each device that is reached through it. Throws tessera::error (device, memory).
  copy_engine(memories& all, replicas& rules, copy_failures& failures, device_losses& losses,
              std::uint64_t staging_bytes);
  copy_engine(const copy_engine&) = delete;
  copy_engine& operator=(const copy_engine&) = delete;

  /// Writes copies down from now on. Before the first one.
  void record_to(trace::tracer& events) noexcept { m_tracer = &events; }
  /// Who is told of write-backs. Before the first one.
  void report_to(write_back_listener& listener) noexcept { m_listener = &listener; }

  /// With the block's lock held: the target counts as valid from now on, and will be when its ticket is reached.
  planned_copy plan(block::record& block, block::replica& target, memory::space_number from, copy_purpose purpose);
  /// Without locks: enqueues it, and adds the point of its end to `waits` unless that is null. Throws tessera::error
  /// (device) when it is refused; then nothing of it is under way, and the target is not valid.
  void issue(planned_copy& what, std::vector<block::ticket>* waits);
  /// issue has thrown: remembers it.
  void note_refused(const planned_copy& what, const error& why);

  /// The stream that a copy between two spaces runs on, where it is not staged.
  stream& stream_between(memory::space_number from, memory::space_number to) const;
  copy_streams& streams_of(std::uint32_t device_index) noexcept { return m_streams_of[device_index]; }
  /// Fires what is due on all copy streams of a device.
  bool poll(std::uint32_t device_index);
  /// Whether any copy is under way.
  bool pending() const noexcept { return m_in_flight.load(std::memory_order_acquire) != 0; }
  /// Write-backs that were refused or have failed so far.
  std::uint64_t failed_write_backs() const noexcept { return m_failed_write_backs.load(std::memory_order_relaxed); }

 private:
  struct copy_in_flight;
  void make_streams();
  void make_rings(std::uint64_t staging_bytes);
  void enqueue(planned_copy& what);
  block::ticket enqueue_direct(planned_copy& what);
  void take_back(planned_copy& what);
  void completed(copy_in_flight& copy, tsr_status own);
  tsr_status status_of(const planned_copy& what, tsr_status own);
  void note_failed(const planned_copy& planned, tsr_status status);
  void trace_copy(const planned_copy& what, block::ticket point) const;

  memories& m_memories;
  replicas& m_replicas;
  copy_failures& m_failures;
  device_losses& m_losses;
  write_back_listener* m_listener = nullptr;
  trace::tracer* m_tracer = nullptr;
  std::vector<copy_streams> m_streams_of;              // by registry index of the device
  std::vector<std::unique_ptr<staging_ring>> m_rings;  // by registry index of the receiving device
  std::atomic<std::uint64_t> m_in_flight{0}, m_failed_write_backs{0};
};

}  // namespace tessera::transfer
