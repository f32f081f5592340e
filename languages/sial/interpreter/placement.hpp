#pragma once
// Which block statements run on devices: the operations that a statement consists of, the question where they had
// better run, their submission. One for each worker, on machines with devices.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "languages/sial/interpreter/program_run.hpp"
#include "tessera/front_end.hpp"
#include "tessera/tessera.hpp"

namespace tessera::sial {

constexpr std::size_t max_blocks = SIAL_MAX_RANK;  ///< of one statement: an `execute` has the most

/// How a statement's operation uses one of the statement's blocks.
struct block_use_of {
  std::uint8_t operand;  ///< number among the statement's blocks
  tessera::intent intent;
};

/// One operation of a block statement.
struct block_task {
  const ::tessera::operation::definition* operation = nullptr;
  std::variant<::tessera::operation::contract_arguments, ::tessera::operation::permute_arguments,
               ::tessera::operation::axpy_arguments, ::tessera::operation::scal_arguments,
               ::tessera::operation::fill_arguments, instruction_numbers>
      arguments;
  std::array<block_use_of, max_blocks> uses{};
  std::size_t blocks = 0;
};

/// A block statement as one operation, or as two of which the second follows the first. None: it has no such form.
struct statement_tasks {
  std::array<block_task, 2> tasks;
  std::size_t count = 0;
};

/// Of left (0), right (1) and target (2). `value`: the scalar that the statement has. Pure.
statement_tasks tasks_of(opcode what, const block_operation& o, double value, bool same_rank,
                         const builtin_operations& known);
/// `to` (1) gets `from` (0), or the sum of the two. Pure.
statement_tasks tasks_of_store(bool add, const builtin_operations& known);

/// One block of a statement, as placement sees it.
struct placed_block {
  block::record* record = nullptr;
  block::space_set spaces;  ///< where its contents are when the tasks before are done; empty: as the runtime knows
};

class placement {
 public:
  enum class wish : std::uint8_t {
    host,
    best,
    devices
  };

  placement(program_run& run, unsigned worker);

  /// In so many regions of gpu_on.
  wish wish_in(std::uint32_t regions) const noexcept {
    if (m_always || regions > 0) return wish::devices;
    return m_run.program.has_device_regions ? wish::host : wish::best;
  }
  /// Whether a statement whose blocks are all in the host's memory is so short that no device could repay handing it
  /// over, or has been refused so often that it is asked about now and then only. @param statement its number among the
  /// block operations, or theirs and its number among the executions
  bool too_short(double work, bool contracts, std::size_t statement);

  /// Where to send the operations; nothing: in place.
  std::optional<::tessera::placement::device_choice> ask(const statement_tasks& s, std::span<const placed_block> blocks,
                                                         wish w, std::size_t statement);
  void submit(const block_task& t, std::span<const placed_block> blocks, const ::tessera::placement::device_choice& to,
              std::uint32_t site);
  /// A statement that was asked about took so long in place.
  void learn(const statement_tasks& s, std::span<const placed_block> blocks, double nanoseconds);

  /// For questions about a block that is not there yet, or is a part of a static array: extents must live until then.
  block::record& stand_in(std::size_t number, const shape& extents);
  bool fixed() const noexcept { return m_fixed; }
  const block::space_set& host() const noexcept { return m_host; }  ///< the host's memory

 private:
  program_run& m_run;
  const bool m_always, m_fixed;
  const block::space_set m_host;
  const std::uint32_t m_turn;
  std::array<::tessera::placement::stand_in_block, max_blocks> m_stand_ins;
  std::vector<std::uint16_t> m_refusals;  // by block operation, then by execution: in a row
};

}  // namespace tessera::sial
