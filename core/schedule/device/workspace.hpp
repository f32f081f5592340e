#pragma once
// Workspace of the tasks of one device.
#include "core/schedule/device/driver.hpp"

namespace tessera::schedule {

/// Scratch memory of one task in its device's memory: acquired with its blocks, kept until it is complete.
/// Given back by its destructor without waking waiters: only the driver takes memory there, and it knows.
struct device_driver::workspace {
  memory::space* from = nullptr;  ///< null: none
  block::chunk where;
  std::uint64_t bytes = 0;

  workspace() = default;
  workspace(workspace&& other) noexcept
      : from(std::exchange(other.from, nullptr)), where(other.where), bytes(other.bytes) {}
  workspace& operator=(workspace&&) = delete;
  ~workspace() { give_back(); }

  /// Another one, instead of what it was.
  void become(workspace&& other) noexcept {
    give_back();
    from = std::exchange(other.from, nullptr), where = other.where, bytes = other.bytes;
  }
  /// What was acquired with the blocks of a task.
  void adopt(transfer::acquisition& got, memory::space& space) {
    if (!got.scratch) return;
    from = &space, where = std::exchange(got.scratch, {}), bytes = got.scratch_bytes;
  }
  void give_back() {
    if (memory::space* const space = std::exchange(from, nullptr)) space->give_back(where, bytes);
  }
  /// The task is complete: tasks that wait for memory may go on.
  void release() {
    if (memory::space* const space = std::exchange(from, nullptr)) space->release(where, bytes);
  }
  tsr_workspace given() const noexcept {
    return from == nullptr ? tsr_workspace{} : tsr_workspace{from->address_of(where), bytes};
  }
};

}  // namespace tessera::schedule
