#pragma once
// Where a task runs: which places could take it, what it would cost there, and what is learnt from what it did cost.
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/placement/device_choice.hpp"
#include "core/placement/history.hpp"
#include "core/placement/place.hpp"
#include "core/placement/policy.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::placement {

/// What a placer works with; all outlive it.
struct placer_setup {
  const location::tree* tree = nullptr;
  transfer::coherence* coherence = nullptr;
  const plugin::registry::policy_plugin* plugin = nullptr;  ///< that decides, with the policy `plugin`
};

/// One per scheduler. Places are given by their numbers. Any thread, once `begin` was called; queues no task.
class placer {
 public:
  /// No place.
  static constexpr std::uint32_t no_place = 0xffff'ffff;

  /// Throws tessera::error (configuration) for an unknown policy.
  placer(placer_setup setup, std::string_view policy);
  placement_policy policy() const noexcept { return m_policy; }
  /// The places are known from now on, and do not change. Before any other call.
  void begin(const std::vector<std::unique_ptr<place>>& places);
  /// Whether a place can run a segment of a replay, given as the task that stands for it.
  using segment_offer = bool (*)(const place& e, const task::record& t);
  /// The operation that stands for a segment of a replay. Before any other call.
  void know_segments(const operation::definition& of, segment_offer can_run) noexcept {
    m_segment = &of;
    m_offers_segment = can_run;
  }

  /// A place for a task of a thread at `from`, or `no_place`; the task is counted there. Throws tessera::error (plugin)
  /// when a policy plugin misbehaves.
  std::uint32_t choose(task::record& t, location::node_id from);
  /// Why there is none.
  block::failure why_no_place(task::record& t) const;
  /// Whether a place has the operation, for the type of the task's blocks.
  bool offers(const place& e, task::record& t) const;

  // The load of places. A task that was placed is counted in its place's queue from charge to discharge, with its
  // estimated time.
  void charge(task::record& t, place& to, double seconds, bool trial = false) noexcept;
  void discharge(task::record& t, place& from) noexcept;
  double expected_seconds(task::record& t, const place& at);
  /// With placement `cost`: whether the task, which is queued at `from`, was placed by estimates that have changed
  /// since. It is not counted there any more then, and has to be placed again.
  bool withdraw(task::record& t, place& from) noexcept;
  void note_moved() noexcept { m_moved.fetch_add(1, std::memory_order_relaxed); }  ///< to another place

  // What tasks took.
  /// What is learnt about places; null unless the policy is cost or a plugin, and there is a choice.
  history* model() const noexcept { return m_history.get(); }
  /// Of the task; only where there is a model.
  task_size look_up(task::record& t, history::profile*& profile) {
    return look_up(*t.operation, t.argument_bytes(), t.all_accesses(), profile);
  }
  void learn(history::profile& profile, const task_size& size, const place& where, double ns, bool exact) noexcept;
  /// A place's thread is about to sleep: if another place has a queue, estimates have erred.
  void note_idle(const place& who) noexcept;
  /// Places have come or gone: what is queued is looked at again.
  void note_change() noexcept { m_epoch.fetch_add(1, std::memory_order_relaxed); }

  // For front ends that would otherwise run an operation in place (device_choice.cpp); `here`: the place of the calling
  // thread, at `from`.
  std::optional<device_choice> choose_device(const device_question& asked, const place& here, location::node_id from);
  void learn_in_place(const device_question& asked, place& here, double nanoseconds);

  /// How often a measurement changed an estimate so much that queued tasks were looked at again, and how many tasks
  /// moved because of that or because a place had nothing to do.
  std::uint64_t estimate_changes() const noexcept { return m_estimate_changes.load(std::memory_order_relaxed); }
  std::uint64_t moved() const noexcept { return m_moved.load(std::memory_order_relaxed); }  ///< likewise

 private:
  struct charged;
  struct candidates;
  void measure_distances();
  void make_history();
  task_size look_up(const operation::definition& what, const void* arguments, std::span<const block::access> accesses,
                    history::profile*& profile);
  void gather(candidates& found, task::record& t, place_state wanted, location::node_id from) const;
  void add_transfer_costs(candidates& found, task::record& t) const;
  std::size_t decide(history::profile& profile, const task_size& size, std::span<const candidate> plan,
                     std::size_t best);
  void estimate_again(task::record& t, place& at) noexcept;  // with the queue's lock held
  bool obeys_hint(const place& e, const task::record& t) const;
  bool must_obey(const task::record& t) const noexcept {
    return m_policy == placement_policy::pinned && t.hint != location::no_node;
  }
  static std::uint64_t workspace_at(const place& e, task::record& t);  // that it wants there beside its blocks
  std::uint64_t allocated_size_in(const place& e, task::record& t, std::uint64_t workspace) const;
  bool fits(const place& e, task::record& t, std::uint64_t bytes) const;  // bytes: of all its blocks
  std::uint32_t distance(location::node_id from, const place& to) const noexcept;

  placer_setup m_setup;
  const placement_policy m_policy;
  std::span<const std::unique_ptr<place>> m_places;
  const operation::definition* m_segment = nullptr;
  segment_offer m_offers_segment = nullptr;
  std::vector<std::uint16_t> m_distances;  // by node of the tree and place: walking the tree takes longer than all else
  std::unique_ptr<history> m_history;
  bool m_real_time = true;                // no place counts a time of its own
  std::atomic<std::uint32_t> m_epoch{0};  // what was placed in an earlier one is looked at again
  std::atomic<std::uint64_t> m_moved{0}, m_estimate_changes{0};
};

}  // namespace tessera::placement
