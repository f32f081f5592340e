#pragma once
// An iteration recorded once and replayed many times.
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>

#include "tessera/detail/runtime.hpp"
#include "tessera/detail/use.hpp"

namespace tessera {

/// A block as it was recorded, and the one to use in its place. Both of one element type.
struct block_exchange {
  /// `{recorded, other}`.
  template <class T, std::size_t Rank, index_order Order, std::size_t OtherRank, index_order Other>
  block_exchange(block_of<T, Rank, Order> recorded_block, block_of<T, OtherRank, Other> other)
      : recorded(&recorded_block.record()), now(&other.record()) {}
  block::record* recorded;  ///< as it was named when the recording was made
  block::record* now;       ///< of the same type and extents
};

/// Tasks taken down by runtime::record, to be replayed. Move-only. The arrays that it uses must outlive it. When the
/// runtime is gone, using it is an error (usage), and destroying it does nothing. One thread at a time. Captures of a
/// recorded lambda are shared by all replays, several of which may be under way: treat them as constant.
class recording {
 public:
  /// The old one may only be destroyed.
  recording(recording&&) noexcept;
  recording& operator=(recording&&) = delete;
  /// Waits until its replays are through. Where they wait for a view that the calling thread holds, or for the task
  /// that it is called in, it does not: what they need goes with the last of them, and what captured references lead to
  /// has to live as long.
  ~recording();

  std::size_t size() const noexcept;       ///< tasks of one replay, sums of accumulates included
  std::size_t submitted() const noexcept;  ///< tasks that the program submitted

  /// New arguments for the k-th submitted task, from the next replay on; for operations whose arguments are plain
  /// bytes, and lambdas whose captures are. Throws tessera::error (usage) when there is no such task or the sizes
  /// differ.
  template <class Arguments>
  void set_arguments(std::size_t k, const Arguments& arguments,
                     std::source_location site = std::source_location::current()) {
    static_assert(std::is_trivially_copyable_v<Arguments>,
                  "arguments are copied as bytes: no std::string, no std::vector; keep what changes in a block");
    set_argument_bytes(k, {reinterpret_cast<const std::byte*>(&arguments), sizeof arguments}, site);
  }
  /// Other blocks from the next replay on, all exchanged at once: `{{x(0), y(0)}, {y(0), x(0)}}` swaps two. Each pair
  /// names the block that was recorded, whatever took its place since. Throws tessera::error (usage) when type or
  /// extents differ, a block would have two places, or is one of another runtime.
  void substitute(std::initializer_list<block_exchange> pairs,
                  std::source_location site = std::source_location::current()) {
    substitute(std::span(pairs.begin(), pairs.size()), site);
  }
  void substitute(std::span<const block_exchange> pairs,
                  std::source_location site = std::source_location::current());  ///< the same
  /// The next replay places every task again.
  void place_again() noexcept;

  struct inside;                                               ///< for the runtime
  explicit recording(std::unique_ptr<inside> tasks) noexcept;  ///< likewise; made by runtime::record

 private:
  friend class runtime;
  void set_argument_bytes(std::size_t k, std::span<const std::byte> bytes, std::source_location site);
  inside& there(std::source_location site) const;
  std::unique_ptr<inside> m_inside;
};

namespace detail {

/// While it exists, tasks of the calling thread are taken down.
class recording_session {
 public:
  recording_session(runtime_inside& of, const record_options& options, std::source_location site);
  /// Without finish, what was taken down is dropped.
  ~recording_session();
  recording_session(const recording_session&) = delete;
  recording_session& operator=(const recording_session&) = delete;
  recording finish();

 private:
  struct state;
  std::unique_ptr<state> m_state;
};

}  // namespace detail

template <class Function>
recording runtime::record(Function&& function, const record_options& options, std::source_location site) {
  detail::recording_session session(*m_inside, options, site);
  std::forward<Function>(function)();
  return session.finish();
}

}  // namespace tessera
