#pragma once
// What a runtime is made of.
#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/block/table.hpp"
#include "core/memory/registration_cache.hpp"
#include "core/memory/space.hpp"
#include "core/operation/catalog.hpp"
#include "core/runtime/learnt_times.hpp"
#include "core/runtime/machine.hpp"
#include "core/runtime/named_blocks.hpp"
#include "core/runtime/program_side.hpp"
#include "core/runtime/run_output.hpp"
#include "core/schedule/scheduler.hpp"
#include "core/trace/tracer.hpp"
#include "core/transfer/coherence.hpp"
#include "core/validate/validator.hpp"
#include "tessera/operation.hpp"

namespace tessera {

/// The parts, in the order of their lives: each may use those above it until it ends.
struct runtime_inside {
  /// Makes them on the machine and starts the scheduler's threads. Throws tessera::error.
  explicit runtime_inside(tessera::machine&& found);
  ~runtime_inside();
  runtime_inside(const runtime_inside&) = delete;
  runtime_inside& operator=(const runtime_inside&) = delete;

  /// Waits for everything that was submitted, and tells what nobody has asked for. Before the destructor.
  void close() noexcept;

  tessera::machine machine;
  std::unique_ptr<run_output> output;              ///< null: nothing is told of the run when it ends
  std::unique_ptr<trace::tracer> tracer;           ///< null: nothing is recorded; it outlives all who write
  std::unique_ptr<validate::validator> validator;  ///< null: nothing is validated
  operation::catalog operations;
  builtin_operations builtin{};
  block::table blocks;
  transfer::stream_table streams;
  std::unique_ptr<memory::registration_cache> registrations;
  std::vector<std::unique_ptr<memory::space>> spaces;
  std::unique_ptr<transfer::coherence> coherence;
  std::unique_ptr<schedule::scheduler> scheduler;
  std::optional<program_side> side;                 ///< for models above the core
  std::unique_ptr<history_keeper> history;          ///< null: nothing is learnt, or nothing is kept
  std::uint64_t largest_limit = ~std::uint64_t{0};  ///< bytes of the largest memory where tasks run; ~0: unlimited

  /// Throws usage for blocks that a task may not name (named_blocks.hpp), and memory when they can never be in one
  /// space together.
  void check_blocks(std::string_view name, std::span<const block::access> accesses, std::source_location site) const {
    if (!surely_named_well(accesses, blocks.number())) [[unlikely]]
      check_named_blocks(name, accesses, blocks.number(), site);
    if (largest_limit != ~std::uint64_t{0}) check_working_set_slowly(name, accesses);
  }
  /// It will not end, for this mistake of the program, which the fence of a thread that waits for it throws.
  void stay_for_ever(const std::string& why) noexcept;
  // For validation; nothing where nothing is validated.
  void note_array(std::span<block::record* const> created, bool adopted, std::source_location site);
  void note_kept(std::span<block::record* const> blocks, std::source_location site);

 private:
  void check_working_set_slowly(std::string_view name, std::span<const block::access> accesses) const;
};

}  // namespace tessera
