#pragma once
// Workspace of the tasks of one device.
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "core/memory/space.hpp"
#include "core/task/record.hpp"
#include "core/transfer/acquirer.hpp"

namespace tessera::schedule {

/// Scratch memory of one task in its device's memory: acquired with its blocks, kept until it is complete.
/// Given back by its destructor without waking waiters: only the driver takes memory there, and it knows.
struct task_workspace {
  memory::space* from = nullptr;  ///< null: none
  block::chunk where;
  std::uint64_t bytes = 0;

  task_workspace() = default;
  task_workspace(task_workspace&& other) noexcept
      : from(std::exchange(other.from, nullptr)), where(other.where), bytes(other.bytes) {}
  task_workspace& operator=(task_workspace&&) = delete;
  ~task_workspace() { give_back(); }

  /// Another one, instead of what it was.
  void become(task_workspace&& other) noexcept {
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
  tsr_workspace for_call() const noexcept {
    return from == nullptr ? tsr_workspace{} : tsr_workspace{from->address_of(where), bytes};
  }
};

/// What the tasks of a device want, and have while they wait for copies, with which they would otherwise have to begin
/// again. By the driver.
class workspaces {
 public:
  workspaces(const plugin::device& device, memory::space& space) noexcept : m_device(device), m_space(space) {}

  std::uint64_t bytes_of(task::record& t) const;
  /// For a task that has its blocks. False: not now; nothing is taken.
  bool take(task::record& t, task_workspace& out) { return take(bytes_of(t), out); }
  bool take(std::uint64_t bytes, task_workspace& out);
  /// Until kept(t).
  void keep(const task::record& t, task_workspace&& scratch);
  /// Null: none was kept.
  std::unique_ptr<task_workspace> kept(const task::record& t);
  /// Whether the task's blocks and so much beside them can ever be in the memory together.
  bool fits(const task::record& t, std::uint64_t bytes) const;
  /// Why they never fit.
  block::failure why_never(task::record& t, std::uint64_t bytes) const;

 private:
  const plugin::device& m_device;
  memory::space& m_space;
  std::unordered_map<const task::record*, std::unique_ptr<task_workspace>> m_kept;
};

}  // namespace tessera::schedule
