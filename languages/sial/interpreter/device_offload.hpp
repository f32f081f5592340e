#pragma once
// Block statements as tasks, where a device does them sooner than the worker would.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "languages/sial/interpreter/placement.hpp"
#include "languages/sial/interpreter/private_store.hpp"
#include "languages/sial/interpreter/shared_cache.hpp"
#include "languages/sial/interpreter/static_arrays.hpp"
#include "languages/sial/interpreter/worker_state.hpp"

namespace tessera::sial {

/// Submits statements of one worker as tasks. A task's blocks leave the worker's hands; a statement that needs one in
/// place afterwards waits for it, since views and tasks of a block are in the order of the program. Only on machines
/// with devices. Refers to all that it is made from. One thread.
class device_offload {
 public:
  /// What became of a statement that was offered.
  enum class outcome : std::uint8_t {
    submitted,
    in_place,          ///< the worker is to execute it
    in_place_measured  ///< likewise, and placement learns how long that takes
  };

  /// @param arrays the generation that the worker is in, by array
  device_offload(worker_state& state, const array_generations& arrays, block_pool& pool, private_store& blocks,
                 static_arrays& statics, shared_cache& cache);

  // Regions of gpu_on around the statement.
  void enter_region() noexcept { ++m_regions; }
  void leave_regions(std::uint32_t count) noexcept { m_regions -= count; }

  /// A statement of block arithmetic.
  outcome submit(const step& at);
  /// An `execute`, by its number, that has a form for devices.
  outcome submit_execution(std::size_t number);
  bool has_form(std::size_t execution_number) const {
    return m_state.run.instruction_forms[execution_number] != nullptr;
  }
  /// Calls function(), which executes the statement that was offered last. @param how what submit has said
  template <class Function>
  void execute_in_place(outcome how, Function&& function) {
    if (how == outcome::in_place) {
      function();
      return;
    }
    const auto began = std::chrono::steady_clock::now();
    function();
    learn(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - began).count());
  }
  /// Before a statement in place reads its operands: what a target's view shows may be elsewhere than what an operand's
  /// showed.
  void bring_target(std::uint32_t reference_number);

  /// The block that a store takes, if a task has it; null: it is here, or does not fit.
  private_block* result_with_task(const store& s, const shape& extents);
  /// Such a block to a block of a shared array, whose lock is held. False: the worker is to do it.
  bool submit_store(const store& s, private_block& from, shared_block& to);

 private:
  /// A block of a statement, before it is clear where that runs.
  struct statement_block {
    std::uint32_t reference_number = nothing;
    bool is_target = false, is_new = false, is_static = false;  ///< new: a target that the statement makes
    bool is_set = false;  ///< a target that gets all of its elements, whatever they were
    segment_numbers at{};
    std::int64_t ordinal = 0;
    private_block* mine = nullptr;
    shared_block* shared = nullptr;
    shape extents;
    bool in_hand = true;  ///< its contents are in the host's memory, and no task need wait for them
  };
  /// A statement that placement is asked about.
  struct offer {
    std::array<statement_block, max_blocks> blocks;  ///< the first `count`; some may have no reference
    std::array<placed_block, max_blocks> placed;     ///< likewise, when placement is asked
    std::size_t count = 0;
    bool all_in_hand = true;
    statement_tasks tasks;
    placement::wish wish = placement::wish::best;
    std::size_t statement = 0;  ///< its number, as placement counts them
  };

  void begin_offer(placement::wish wish, std::size_t statement);
  // Each false where the statement is to be executed in place.
  bool find_block(statement_block& b);
  bool find_shared(statement_block& b);
  bool find_operands(const step& at);
  bool find_arguments(const execution& e, const ::tessera::operation::definition& form, double& work);
  outcome decide();
  void place_blocks();
  void hand_over(const ::tessera::placement::device_choice& to);
  void take_back_static(statement_block& b);
  void learn(double nanoseconds) { m_placement.learn(m_offer.tasks, m_offer.placed, nanoseconds); }

  worker_state& m_state;
  const code& m_code;
  const array_generations& m_generations;
  block_pool& m_pool;
  private_store& m_private;
  static_arrays& m_statics;
  shared_cache& m_cache;
  placement m_placement;
  std::uint32_t m_regions = 0;
  offer m_offer;  // the last one
};

}  // namespace tessera::sial
