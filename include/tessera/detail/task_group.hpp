#pragma once
// Tasks that the program waits for together.
#include <memory>
#include <source_location>

namespace tessera {

class lifetime;
class runtime;
namespace schedule {
class scheduler;
}
namespace task {
class group;
}

/// Some of the tasks of a runtime, which the program waits for without waiting for the others. Any thread may submit to
/// it, and tasks too; tasks that these submit are members only if they say so. Tasks of recordings are not.
/// @code
/// tessera::task_group group(rt);
/// for (std::size_t k = 0; k < x.size(); ++k)
///   rt.submit("scale", {.group = &group}, scale, tessera::update(x.block(k)));
/// group.fence();
/// @endcode
class task_group {
 public:
  /// Without members. Costs no more than an allocation.
  explicit task_group(runtime& of);
  /// Waits for its members, so that what they refer to may end after it. It does not wait where that could have no end:
  /// inside a task or a recording, and while the thread holds views; then they run all the same. Failures that no fence
  /// of the group has thrown are left to the runtime's next fence. When the runtime has ended, it does nothing.
  ~task_group();
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;

  /// Waits for its members. Throws the first failure of one of them since the last fence of the group; the next fence
  /// of this thread does not throw it again. Throws tessera::error (usage) inside a task or a recording, while the
  /// thread holds views, and when the runtime has ended. Adopted memory and findings of validation are left to the
  /// runtime's fence. @param site  for messages
  void fence(std::source_location site = std::source_location::current());

  schedule::scheduler& scheduler() const noexcept { return *m_scheduler; }  ///< for the runtime
  task::group& tasks() const noexcept { return *m_tasks; }                  ///< likewise

 private:
  schedule::scheduler* m_scheduler;
  std::shared_ptr<lifetime> m_alive;  // of the scheduler
  task::group* m_tasks;               // with its members
};

}  // namespace tessera
