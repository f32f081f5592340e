#pragma once
// Operations that the calling thread runs at once, on memory that it has in its hands, or sends to a device because
// that is done sooner.
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/placement/placer.hpp"
#include "core/schedule/host_runner.hpp"
#include "core/schedule/run_mode.hpp"
#include "core/schedule/thread_registry.hpp"

namespace tessera::schedule {

/// Any thread.
class in_place_calls {
 public:
  /// What it works with; all outlive it.
  struct setup {
    thread_registry* registry = nullptr;
    host_runner* host = nullptr;
    placement::placer* placer = nullptr;
    const std::vector<std::unique_ptr<placement::place>>* places = nullptr;
    const run_mode* mode = nullptr;
  };
  explicit in_place_calls(setup with) noexcept : m_setup(with) {}

  /// No task, no dependencies, no placement. The operands have host pointers that nobody else writes meanwhile. Throws
  /// what the operation throws; usage when it has no form for the host.
  void run(const operation::definition& what, const void* arguments, std::size_t argument_bytes,
           std::span<const operation::operand> operands, operation::in_place_facts* facts = nullptr) {
    m_setup.host->run_in_place(m_setup.registry->current(), what, arguments, argument_bytes, operands, facts);
  }
  /// Whether the placement would send such a task to a device at this moment, and to which; nothing: the calling thread
  /// had better run it in place, or no device can. Counts as a decision of the policy.
  std::optional<placement::device_choice> choose_device(const placement::device_question& asked);
  /// How long the calling thread took for it in place: for later choices.
  void learn(const placement::device_question& asked, double nanoseconds);
  /// Between begin and commit: the task goes where choose_device said.
  void send_to(const placement::device_choice& chosen, task::record& t);

 private:
  const setup m_setup;
};

}  // namespace tessera::schedule
