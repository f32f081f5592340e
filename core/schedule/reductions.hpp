#pragma once
// Sums of accumulates: the private copies that tasks add to, and the reduction that sums the copies.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/block/accumulation.hpp"
#include "core/block/table.hpp"
#include "core/placement/placer.hpp"
#include "core/task/record.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::schedule {

/// Where a sum may be computed.
struct reduction_place {
  bool is_host = false;
  std::uint64_t room = 0;  ///< how many blocks of the sum's size its memory holds; 0: it does not run the reduction
};
/// A part of a sum that is computed before the rest.
struct reduction_stage {
  std::uint32_t place = 0;  ///< by number
  std::size_t copies = 0;   ///< how many of them become one
};
/// The next part of a sum over `copies` private copies; nothing: all that is left is summed at once, since some place
/// has room for it or since parts would not help. Parts are computed in host memory, where most of them fit. Pure.
/// @param places  by place number
std::optional<reduction_stage> plan_stage(std::size_t copies, std::span<const reduction_place> places);

/// Gives tasks their private copies and takes them back. A task that accumulates is an adder; the task that ends its
/// group is the reduction. Any thread.
class reductions {
 public:
  /// What it works with; all outlive it.
  struct setup {
    transfer::coherence* coherence = nullptr;
    block::table* blocks = nullptr;  ///< for the private copies
    const placement::placer* placer = nullptr;
    const std::vector<std::unique_ptr<placement::place>>* places = nullptr;  ///< may be filled later
    bool deterministic = false;  ///< copies are dealt out when tasks are submitted, see task::reduction_source
  };
  explicit reductions(setup with) noexcept : m_setup(with) {}

  /// Makes a fresh record the reduction of a group, which it owns from now on.
  static void make(task::record& t, block::record& sum, block::accumulation& group);
  /// See task::reduction_source.
  block::record* make_private(const block::record& base);

  /// Before a task runs: an adder gets copies in a memory, a reduction all that there are, or those of its next stage.
  void give_copies(task::record& t, memory::space_number space);
  /// After it has run. Nothing to do for tasks that have none. Adders that wait for memory look again.
  void give_back(task::record& adder);
  /// A task that found no memory, where there is one, is going to wait: it has no copy meanwhile that has no memory
  /// either, and a sum has none. True: its copies are others now, which are there: it tries again. Calls destroy(block)
  /// for what it had.
  template <class Destroy>
  bool exchange_copies(task::record& t, memory::space_number space, Destroy&& destroy) {
    constexpr int uses_copies = task::flag_accumulates | task::flag_reduction;
    if ((t.flags & uses_copies) == 0 || (t.flags & task::flag_prepared) == 0) return false;
    if ((t.flags & task::flag_reduction) != 0) return let_copies_go(t), false;
    if (!has_fresh_copies(t)) return false;
    m_short.store(true, std::memory_order_relaxed);  // who gives a copy back wakes this task from now on
    const std::vector<block::record*> unused = take_unused_copies(t);
    for (block::record* const copy : unused) destroy(*copy);
    if (!has_idle_copies(t, space)) return false;
    give_copies(t, space);
    return true;
  }
  /// Two idle copies in a memory become one: calls join(accesses, combination), which updates the first block with the
  /// second one, now, and returns whether it could; then destroy(block) for the second. False: there are none.
  template <class Join, class Destroy>
  bool join_copies(memory::space_number space, Join&& join, Destroy&& destroy) {
    block::record* second = nullptr;
    {
      const std::lock_guard guard(m_mutex);
      for (auto group = m_several.begin(); group != m_several.end() && second == nullptr; ++group) {
        const std::lock_guard in_group((*group)->lock);  // threads that want its copies wait
        std::array<block::access, 2> two;
        if (!find_two(**group, space, two) || !join(std::span<block::access>(two), **group)) continue;
        second = two[1].block;
        std::erase_if((*group)->copies, [&](const auto& copy) { return copy.block == second; });
      }
    }
    if (second != nullptr) destroy(*second);
    return second != nullptr;
  }
  /// Whether adders that wait for memory are to look again, since one of them has set a copy free that others may want:
  /// a few times, then not before an adder has run.
  bool may_look_again() noexcept {
    constexpr unsigned max_fruitless = 16;  // two that look at once may be in each other's way
    return m_set_free.exchange(false) && m_fruitless.fetch_add(1) < max_fruitless;
  }
  /// An adder is given up before it had its copies: so the sum will fail.
  static void note_missing(task::record& adder, const std::shared_ptr<const block::failure>& why);
  /// Why a reduction has no sum; null: no adder is missing.
  static std::shared_ptr<const block::failure> why_missing(task::record& reduction);
  /// A reduction has run: whether it was a stage only, and has to be run again. Calls destroy(block) for each copy that
  /// is summed.
  template <class Destroy>
  static bool next_stage(task::record& reduction, Destroy&& destroy) {
    if ((reduction.flags & task::flag_many_accesses) == 0) return false;
    block::accumulation& group = *reduction.more->sums[0];
    const auto& accesses = reduction.more->accesses;
    if (accesses.empty() || accesses.front().block == group.base) return false;
    for (std::size_t k = 1; k < accesses.size(); ++k) destroy(*accesses[k].block);
    group.copies.erase(group.copies.begin() + 1, group.copies.begin() + static_cast<std::ptrdiff_t>(accesses.size()));
    reduction.flags &= static_cast<std::uint8_t>(~(task::flag_prepared | task::flag_acquired));
    reduction.place = task::no_place;
    return true;
  }
  /// A reduction is through, and its group ends: calls destroy(block) for each copy.
  template <class Destroy>
  void end_group(task::record& reduction, Destroy&& destroy) {
    const std::unique_ptr<block::accumulation> group(reduction.more->sums[0]);
    forget(*group);
    for (const auto& copy : group->copies) destroy(*copy.block);
  }

 private:
  bool prepare_stage(task::record& reduction);  ///< whether only a part is to be summed now
  void prepare_sum(task::record& reduction);
  static void keep_copies(block::accumulation& group);
  void give_adder_copies(task::record& adder, memory::space_number space);
  static void let_copies_go(task::record& reduction);
  std::vector<block::record*> take_unused_copies(task::record& adder);
  static bool has_fresh_copies(task::record& adder) {
    return std::ranges::any_of(adder.all_accesses(), [](auto& a) { return (a.flags & task::access_fresh) != 0; });
  }
  static bool has_idle_copies(const task::record& adder, memory::space_number space);
  static bool find_two(block::accumulation& group, memory::space_number space, std::array<block::access, 2>& two);
  void forget(const block::accumulation& group) noexcept;

  const setup m_setup;
  std::mutex m_mutex;
  std::vector<block::accumulation*> m_several;  // under m_mutex
  std::atomic<bool> m_short{false};             // an adder has found no memory for a copy
  std::atomic<bool> m_set_free{false};          // one that waits has set a copy free
  std::atomic<unsigned> m_fruitless{0};         // times that others looked again, since an adder ran
};

}  // namespace tessera::schedule
