#pragma once
// For languages and libraries built on top of the runtime: operations with the arguments of the built-in ones, blocks
// that come and go one by one, and operations that are too short to be tasks.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>

#include "core/block/space_set.hpp"
#include "core/operation/blas.hpp"
#include "core/operation/tensor.hpp"
#include "core/placement/device_choice.hpp"
#include "core/task/source.hpp"
#include "tessera/detail/block_group.hpp"
#include "tessera/detail/runtime.hpp"
#include "tessera/detail/tiled_memory.hpp"
#include "tessera/operation.hpp"

namespace tessera {

namespace trace {
class buffer;
class tracer;
}  // namespace trace

/// What a front end asks of a runtime beside tasks: it runs short operations itself, on the thread that interprets the
/// program, and has placement say when a device would be the better place. Any thread. When the runtime has ended,
/// using it is an error (usage).
class front_end {
 public:
  /// Of a running runtime; costs nothing.
  explicit front_end(runtime& of) noexcept;

  /// Runs a named operation at once on the calling thread, on host memory that the program has in its hands (views, or
  /// its own): no task, no order with other tasks. `facts` are kept for the next call with the same arguments on blocks
  /// of the same types, intents and extents. Throws what the operation throws, and tessera::error (usage) when it has
  /// no form for the host.
  void run_in_place(const operation::definition& what, const void* arguments, std::size_t argument_bytes,
                    std::span<const operation::operand> operands, operation::in_place_facts* facts = nullptr);
  /// Whether the placement would send such an operation to a device at this moment, and to which. Nothing: the calling
  /// thread had better run it in place, or no device can. submit_operation takes the answer in task_options::to.
  std::optional<placement::device_choice> choose_device(const placement::device_question& asked);
  /// What the calling thread took for such an operation in place; what is learnt from it counts in later choices.
  void learn_in_place(const placement::device_question& asked, double nanoseconds);

  /// Whether blocks stay where they are from their first use to their end, since there is one memory and nothing is
  /// validated on copies. Then what a view has shown may be looked at after its end, as long as no task writes to the
  /// block.
  bool blocks_stay() const;
  /// The memories of devices, a bit per space in the order of statistics::spaces.
  block::space_set device_spaces() const;

  /// Where more tasks are unfinished than the window allows, runs tasks on the calling thread until half of it is left,
  /// as a submission does: after submissions under runtime::no_waiting, when the lock is given back.
  void wait_for_window();
  /// As runtime::fence, also while threads hold views: waits for everything else, and leaves adopted memory as it is.
  /// For points at which no task waits for a view, such as the barriers of a front end.
  void fence(std::source_location site = std::source_location::current());
  /// Memory in which no block is any more goes back to where it came from, such as the system: before something else
  /// needs it. The next blocks cost more.
  void give_memory_back();

 private:
  schedule::scheduler& there(std::source_location site = {}) const;
  schedule::scheduler* m_scheduler;
  runtime* m_runtime;
  std::shared_ptr<lifetime> m_alive;  // of the scheduler
};

/// What one thread of a front end does in place, for reports: a row of its own, with a bar for each step and a band for
/// each wait. Nothing, at the cost of a test, where no recording is made (runtime.trace), or no more: its runtime has
/// ended. One thread at a time.
class step_recorder {
 public:
  /// @param row  its name; one that was used before goes on
  step_recorder(runtime& of, const std::string& row);

  /// Whether a recording is made.
  bool records() const noexcept { return m_to != nullptr && !m_alive->ended(); }
  /// A number for a name, the same for the same; 0 where it does not record.
  std::uint64_t name(std::string_view text);
  /// The time, for `began`; 0 where it does not record.
  std::uint64_t now() const noexcept;
  /// A step from `began` until now, and the line that it is of; names by their numbers.
  /// @param flops  floating-point operations in it; below 0: not known
  void step(std::uint64_t what, std::uint64_t file, std::uint32_t line, std::uint64_t began,
            double flops = -1) noexcept;
  /// The thread waited for the others of its program from `began` until now.
  void waited(std::uint64_t began) noexcept;

 private:
  trace::tracer* m_tracer;
  trace::buffer* m_to = nullptr;
  std::shared_ptr<lifetime> m_alive;  // of the scheduler; set where a recording is made
};

}  // namespace tessera
