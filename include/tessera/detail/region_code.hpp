#pragma once
// Between the call of a region, which knows types, and the runtime, which does not.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string_view>
#include <utility>

#include "tessera/detail/region_loop.hpp"
#include "tessera/detail/region_result.hpp"
#include "tessera/detail/region_use.hpp"
#include "tessera/detail/rows_task.hpp"
#include "tessera/detail/task.hpp"

namespace tessera {

namespace operation {
struct context;
struct definition;
class kernel_launch;
}  // namespace operation

namespace hierarchy {
class launch_span;
struct leaf_work;
struct region_leaf_times;
}  // namespace hierarchy

namespace detail {

/// A task of a region: iterations [begin, end) of the split loop, counted from 0.
struct region_piece {
  std::uint64_t begin = 0, end = 0;
};
/// The same without types.
struct region_demand {
  hierarchy::array_storage* array = nullptr;  ///< null: a reduction
  hierarchy::reduction_storage* result = nullptr;
  intent how = intent::read;
  access_pattern pattern{};
  reduction_kind join = reduction_kind::none;  ///< of a reduction
};
/// A number for a kernel.
struct kernel_value {
  element_type type;
  alignas(8) std::array<std::byte, 8> bytes;
};
/// What the launch of a kernel needs beside its blocks.
struct region_launch {
  region_piece piece;
  loop_bounds rows;
  std::span<const loop_bounds> inner;
  std::span<const region_operand> operands;
  std::span<const row_extents> extents;  ///< of results: {0, 0, 0}
  std::span<const kernel_value> values;
};
/// The function of the task that runs.
const void* arguments_of(const operation::context& c) noexcept;
/// Fills in the kernel of a region's task on the device of `c`: work items, then a parameter for each use and value.
void launch_region(const operation::context& c, operation::kernel_launch& how, const region_launch& with);

/// What a task names, one entry per use.
struct region_uses {
  std::span<const region_operand> operands;
  std::span<const row_extents> extents;
};
using find_uses = region_uses (*)(const void* arguments);

/// How a task of a body is run where somebody looks at what it uses: while validating.
struct region_form {
  function_form host;        ///< of the task
  find_uses uses = nullptr;  ///< of the task's arguments
};

/// The form of a body for devices.
struct region_kernel {
  std::string_view text;
  std::size_t depth = 1;
  std::uint64_t inside = 1;  ///< work items of an iteration of the split loop
  std::span<const element_type> values;
  function_form host;  ///< of the task
  void (*launch)(const operation::context&, operation::kernel_launch&) = nullptr;
  find_uses uses = nullptr;                                     ///< of the task's arguments
  std::source_location site = std::source_location::current();  ///< of the call of with_kernel
  double rounding = 0;                                          ///< region_body::rounding
  bool doubles = false;                                         ///< kernel_body::doubles
};
/// A task that is not submitted yet, and where the places of its uses among its blocks are to be written, one per use.
struct pending_piece {
  submission task;
  region_operand* operands;
};
/// A task that was planned counts among those under way on its leaf, as long as it exists; and what it takes is noted,
/// where somebody wants to know.
class piece_count {
 public:
  piece_count() noexcept = default;  ///< is counted nowhere
  /// @param times  null: nobody wants to know  @param launch  whose tasks it is of, likewise
  piece_count(std::shared_ptr<hierarchy::leaf_work> on, std::shared_ptr<hierarchy::region_leaf_times> times,
              std::shared_ptr<hierarchy::launch_span> launch) noexcept;
  piece_count(piece_count&&) noexcept = default;
  piece_count& operator=(piece_count&&) = delete;
  ~piece_count() {
    if (m_on != nullptr) end();
  }
  bool counts() const noexcept { return m_on != nullptr; }                        ///< anywhere
  hierarchy::region_leaf_times* times() const noexcept { return m_times.get(); }  ///< null: nobody wants to know
  hierarchy::launch_span* launch() const noexcept { return m_launch.get(); }      ///< likewise

 private:
  void end() noexcept;
  std::shared_ptr<hierarchy::leaf_work> m_on;
  std::shared_ptr<hierarchy::region_leaf_times> m_times;
  std::shared_ptr<hierarchy::launch_span> m_launch;
};

/// Makes one task, with a copy of the body; `call` is the region's call on the caller's stack. Its blocks are named
/// later. `as` is the operation that it is, with a kernel or made of region_code::form; null: the body's function.
using make_piece = pending_piece (*)(void* call, const region_piece& piece, piece_count counted,
                                     const operation::definition* as, const task_options& options);
/// Makes the task that joins the parts of a reduction. Its blocks are named later.
using make_join = submission (*)(runtime& of, std::string_view name, std::source_location site);

/// What a region runs: its tasks, and the tasks that join its reductions, one entry per reduction in their order.
struct region_code {
  make_piece piece = nullptr;
  void* call = nullptr;  ///< for `piece`
  std::span<const make_join> joins{};
  const region_kernel* kernel = nullptr;  ///< null: the host alone runs it
  bool copies = false;                    ///< runs where the array that it writes is, wherever the others are
  region_form form{};                     ///< of tasks that are made as another operation
};

/// Of the array; of a result, and of an array that was moved from, {0, 1, 1}.
row_extents extents_of(const region_demand& use) noexcept;
/// Throws usage where an array was moved from, and where rows cannot be copied to others. @param site  for messages
void check_copy(const std::shared_ptr<hierarchy::array_storage>& from, std::int64_t first, std::int64_t last,
                const std::shared_ptr<hierarchy::array_storage>& to, std::int64_t to_first, std::int64_t to_last,
                std::source_location site);
/// A time of the steady clock in nanoseconds, above 0.
std::int64_t steady_now() noexcept;
/// What a task took, where somebody wants to know: from its begin to now.
void note_piece(const piece_count& of, std::uint64_t iterations, std::int64_t began) noexcept;
/// Of a task that a device has run: from its launch, or from the end of the one before it there, to now.
void note_kernel(const piece_count& of, std::uint64_t iterations, std::int64_t launched) noexcept;

}  // namespace detail

}  // namespace tessera
