#pragma once
// What follows when a device is lost: by rule R10 of the plugin ABI nothing of it touches memory any more.
#include <vector>

#include "core/transfer/replicas.hpp"

namespace tessera::transfer {

/// Watches the devices of all memories but the host's, without which nothing goes on. Thread-safe.
class device_losses {
 public:
  device_losses(memories& all, replicas& rules, lost_blocks& lost);
  ~device_losses();
  device_losses(const device_losses&) = delete;
  device_losses& operator=(const device_losses&) = delete;

  /// Something failed in a memory: asks its plugin whether the device is lost.
  void ask_health(memory::space_number space) const;
  /// Drops the replicas of a lost space that no task uses, and gives up what had no other copy. Returns how many are
  /// left: call it again when they are no longer used.
  std::size_t drop_lost_replicas(memory::space_number space);
  /// Whether none are left there.
  bool emptied(memory::space_number space) const noexcept { return m_emptied.has(space); }
  /// Whether that is so for all lost spaces, so that report knows everything.
  bool all_known() const noexcept { return m_memories.lost_spaces().within(m_emptied); }
  /// A block's contents cannot be had because of a loss.
  void note(block::record& block, const std::shared_ptr<const block::failure>& why);
  /// What was lost since the last call and has not been written again.
  loss_report report();
  loss_statistics statistics() const;

 private:
  struct watch {
    tessera::transfer::memories* memories;
    memory::space_number space;
  };
  memories& m_memories;
  replicas& m_replicas;
  lost_blocks& m_lost_blocks;
  block::atomic_space_set m_emptied;
  std::vector<watch> m_watches;  // not moved once devices know them
};

}  // namespace tessera::transfer
