#pragma once
// How long tasks take where: medians of what was measured, per operation, element type, size and kind of place.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/spin_lock.hpp"
#include "core/block/element_type.hpp"
#include "core/operation/catalog.hpp"
#include "core/placement/crossover.hpp"

namespace tessera::placement {

/// Places that are expected to be equally fast share what is learnt: all CPUs of the host, devices of one plugin with
/// one name.
struct place_kind {
  std::string name;  ///< "cpu", or "sim: fast": names of plugin and device
  bool is_host = false;
  bool learns = true;                ///< false: its clock is not the real one, so that nothing can be measured
  double ns_per_operation = 0.25;    ///< of one worker or stream, before anything was measured
  double ns_per_byte = 0.1;          ///< likewise, for operations that do not say how much they compute
  double overhead_ns = 1000;         ///< of one task, likewise
  double link_seconds = 0;           ///< latency of a copy from host memory, for reports
  double link_bytes_per_second = 0;  ///< 0: data need not be moved
};

/// What the model looks at in a task.
struct task_size {
  double amount = 1;      ///< floating-point operations; bytes of its blocks for an operation without a work function
  float block_bytes = 0;  ///< of its largest block; this and the next two are for reports
  float input_bytes = 0;  ///< of the blocks whose contents it needs
  float inputs = 0;       ///< how many those are
};

/// What is kept of one size, as it is written to a file and printed.
struct history_cell {
  std::string operation;
  element_type type = element_type::none;
  std::string place;              ///< place_kind::name
  bool counts_operations = true;  ///< unit of `amount`: operations, else bytes
  std::uint32_t bucket = 0;       ///< amounts from 2^bucket to 2^(bucket + 1)
  double amount = 0;              ///< of the last task measured
  double block_bytes = 0, input_bytes = 0, inputs = 0;
  std::vector<float> samples;  ///< nanoseconds per unit, the oldest first; at most history::kept
  bool fresh = false;          ///< some of them were measured in this run

  double ns_per_unit() const;  ///< their median; 0 without samples
  double seconds() const { return ns_per_unit() * amount * 1e-9; }
};

/// Median of the values: the lower one of the two in the middle. 0 for none.
float median_of(std::span<const float> values);

/// Crossovers of cells that belong together. Pure; ordered by operation, type, device.
std::vector<crossover> crossovers_of(std::span<const history_cell> cells, std::span<const place_kind> kinds);

/// The model. Reading takes no lock: an estimate is a handful of relaxed loads. A measurement takes a short lock of its
/// row, and is dropped when another thread holds it. Memory is bounded: at most `max_profiles` pairs of operation and
/// element type, each of about 1.5 KiB plus 3.9 KiB per kind of place; further ones are estimated from their work.
class history {
 public:
  static constexpr std::uint32_t buckets = 48;      ///< powers of two of the amount; the last takes what is larger
  static constexpr std::size_t kept = 15;           ///< measurements per bucket and kind; the median is theirs
  static constexpr std::uint32_t minimum = 3;       ///< measurements that every kind gets in every bucket
  static constexpr std::uint32_t retry_after = 16;  ///< decisions between two trials of a kind that has fewer
  static constexpr std::uint32_t resample_after =
      256;                              ///< decisions after which a kind that was not chosen is tried again
  static constexpr double outlier = 4;  ///< times the median, or a fourth of it: not taken in
  static constexpr std::uint32_t outliers_believed = 3;  ///< so many in a row mean that the place has changed
  static constexpr double surprise = 1.5;      ///< change of an estimate that is worth looking at earlier choices again
  static constexpr double trial_share = 0.05;  ///< of the time placed in a bucket may be lost to trials in it ...
  static constexpr double trial_allowance = 0.010;  ///< ... after the first 10 ms
  static constexpr std::size_t max_profiles = 256;

  /// At most 64 kinds.
  explicit history(std::vector<place_kind> kinds);
  ~history();
  history(const history&) = delete;
  history& operator=(const history&) = delete;

  std::span<const place_kind> kinds() const noexcept { return m_kinds; }

  /// One operation with one element type; null: the table is full.
  struct profile;
  /// Finds it, or makes it. Wait-free when it exists. `number` is the operation's in its catalog.
  profile* profile_of(const operation::definition& what, element_type type) {
    const std::uint16_t at =
        m_index[what.number * types + static_cast<std::size_t>(type)].load(std::memory_order_acquire);
    return at != 0 ? m_profiles[at - 1].get() : make_profile(what, type);
  }

  /// Seconds that a task of this amount takes there: the bucket's median; between measured buckets a straight line
  /// through the nearest ones, beyond them its continuation (of the described speed's slope when there is only one);
  /// without any measurement the work over the speed, corrected by what that guess was wrong for the same operation at
  /// other devices.
  double seconds(const profile* p, std::uint32_t kind, double amount) const noexcept;
  /// Same, for an operation that never was measured. `counts_operations` as in profile.
  double prior_seconds(std::uint32_t kind, double amount, bool counts_operations) const noexcept;

  /// Takes a measurement in. `exact` is false when the time may contain waiting: such a one counts only as long as
  /// there is no other. True when the estimate has changed by more than `surprise`.
  bool observe(profile& p, std::uint32_t kind, const task_size& size, double ns, bool exact = true) noexcept;

  /// A place that may be tried instead of the best one.
  struct option {
    std::uint32_t kind = 0;
    double finish_seconds = 0;   ///< when the task would be done there
    double execute_seconds = 0;  ///< of that, its own time
  };
  /// Notes that a task of this size goes to options[best], or to another one, which is returned, to learn how fast that
  /// is. Each kind is tried until it has `minimum` measurements, and again when it was left out for `resample_after`
  /// decisions; the one left out longest comes first, and waits until its loss (against the best) fits into the budget.
  /// So all of them are tried in the end, and in each bucket no more than trial_allowance + trial_share of the time
  /// placed is lost, as estimated at each choice. Deterministic for one thread.
  std::size_t decide(profile& p, double amount, std::span<const option> options, std::size_t best) noexcept;

  std::uint64_t trials() const noexcept { return m_trials.load(std::memory_order_relaxed); }
  double trial_seconds() const noexcept {
    return static_cast<double>(m_trial_ns.load(std::memory_order_relaxed)) * 1e-9;
  }

  /// Everything that was measured, ordered by operation, type, place, bucket. `persistent_only`: without operations
  /// that run on the host alone, whose names may differ from run to run; with what was restored and not used.
  std::vector<history_cell> cells(bool persistent_only = false) const;
  /// What an earlier run measured; before any task runs. Cells of unknown places are dropped, impossible values too.
  void restore(std::vector<history_cell> cells);
  static std::uint32_t bucket_of(double amount) noexcept;

 private:
  static constexpr std::size_t types = 16;
  double guesses_err_by(const profile& p, std::uint32_t kind, double amount) const noexcept;
  profile* make_profile(const operation::definition& what, element_type type);

  const std::vector<place_kind> m_kinds;
  std::unique_ptr<std::atomic<std::uint16_t>[]> m_index;  ///< by operation and type: 1 + position; 0: none yet
  std::array<std::unique_ptr<profile>, max_profiles> m_profiles;
  mutable std::mutex m_mutex;  ///< for making profiles and for what follows
  std::size_t m_count = 0;
  std::vector<history_cell> m_restored;  ///< not yet asked for
  std::atomic<std::uint64_t> m_trials{0};
  std::atomic<std::int64_t> m_trial_ns{0};
};

}  // namespace tessera::placement
