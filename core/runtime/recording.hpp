#pragma once
// An iteration recorded once and replayed many times.
#include <array>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/runtime/use.hpp"
#include "core/schedule/replays.hpp"
#include "core/schedule/scheduler.hpp"

namespace tessera {

/// A block as it was recorded, and the one to use in its place. Both of one element type.
struct block_exchange {
  /// `{recorded, other}`.
  template <class T>
  block_exchange(block_of<T> recorded_block, block_of<T> other)
      : recorded(&recorded_block.record()), now(&other.record()) {}
  block::record* recorded;  ///< as it was named when the recording was made
  block::record* now;       ///< of the same type and extents
};

/// Tasks taken down by runtime::record, to be replayed. Move-only. The arrays that it uses must outlive it, and it must
/// not outlive the runtime. One thread at a time. Captures of a recorded lambda are shared by all replays, two of which
/// may be under way: treat them as constant.
class recording {
 public:
  /// The old one may only be destroyed.
  recording(recording&&) noexcept = default;
  recording& operator=(recording&&) = delete;
  /// Waits until its replays are through.
  ~recording();

  std::size_t size() const noexcept { return m_is->size(); }  ///< tasks of one replay, sums of accumulates included
  std::size_t submitted() const noexcept { return m_is->submitted.size(); }  ///< tasks that the program submitted

  /// New arguments for the k-th submitted task, from the next replay on; for operations whose arguments are plain
  /// bytes, and lambdas whose captures are. Throws tessera::error (usage) when there is no such task or the sizes
  /// differ.
  template <class Arguments>
  void set_arguments(std::size_t k, const Arguments& arguments) {
    static_assert(std::is_trivially_copyable_v<Arguments>);
    set_argument_bytes(k, {reinterpret_cast<const std::byte*>(&arguments), sizeof arguments});
  }
  /// Other blocks from the next replay on, all exchanged at once: `{{x(0), y(0)}, {y(0), x(0)}}` swaps two. Each pair
  /// names the block that was recorded, whatever took its place since. Throws tessera::error (usage) when type or
  /// extents differ, or a block would have two places.
  void substitute(std::initializer_list<block_exchange> pairs) { substitute(std::span(pairs.begin(), pairs.size())); }
  void substitute(std::span<const block_exchange> pairs);  ///< the same
  /// The next replay asks the placement policy again for every task.
  void place_again() noexcept {
    m_is->forget_places();
    m_planning->again();
  }

 private:
  friend class runtime;
  recording(schedule::scheduler& scheduler, std::unique_ptr<task::recording> is);
  void set_argument_bytes(std::size_t k, std::span<const std::byte> bytes);
  void play(std::source_location site);

  schedule::scheduler* m_scheduler;
  std::shared_ptr<lifetime> m_alive;  // of the scheduler
  std::unique_ptr<task::recording> m_is;
  std::unique_ptr<schedule::replay_planning> m_planning = std::make_unique<schedule::replay_planning>();
  std::array<std::unique_ptr<schedule::running_replay>, 2> m_runs;  // one may start while the other is under way
  std::size_t m_next = 0;
  decltype(task::replay::patches) m_patches;
};

}  // namespace tessera
