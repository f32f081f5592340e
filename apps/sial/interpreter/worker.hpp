#pragma once
// One worker: registers, private arrays, and the loop over instructions.
#include <array>
#include <boost/container/deque.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/sial/interpreter/block_arithmetic.hpp"
#include "apps/sial/interpreter/instruction_calls.hpp"
#include "apps/sial/interpreter/placement.hpp"
#include "apps/sial/interpreter/printer.hpp"

namespace tessera::sial {

class worker final {
 public:
  worker(program_run& run, unsigned number);
  /// To the end of the program. Throws run_error, tessera::error, given_up.
  void run();
  /// Of the statement that it is in: "file:12".
  std::string where() const { return where_of(m_code, m_site); }
  /// "file:12:3".
  std::string place() const { return place_of(m_code, m_site); }
  const run_counters& counters() const noexcept { return m_counters; }
  const std::vector<statement_profile>& profile() const noexcept { return m_profile; }  ///< by site

 private:
  struct pardo_state {
    std::shared_ptr<loop_scheduler> schedule;
    std::int64_t at = 0, end = 0;  ///< candidates at hand; `at` is the one under way
    std::int64_t seen = 0;         ///< candidates before this one were looked at ahead
  };

  // worker.cpp
  void step_loop();
  void call(const step& now);
  void loop_begin(const step& now);
  void loop_next(const step& now);
  void statement(const step& now);
  void data_step(const step& now);
  void timed_step(const step& now);
  void loop_leave(const loop& l);
  void show_loop(std::uint32_t site, std::int64_t done, std::int64_t total);
  void fail_if_stopped();

  // pardos.cpp
  bool pardo_begin(const step& at);
  bool pardo_next(const step& at);
  void pardo_leave(const pardo& p);
  bool next_chunk(const pardo& p);

  // look_ahead.cpp
  void look_ahead(const pardo& p);
  void look_at(const pardo& p, std::int64_t candidate);
  void ask_for(shared_block& b, array_generation& of);

  // device_statements.cpp
  struct statement_block;
  bool find_block(statement_block& b);
  void placed_arithmetic(const step& at);
  bool on_device(const step& at);
  bool on_device(const execution& e, std::size_t number, const ::tessera::operation::definition& form);
  /// Where that is worth it, as tasks; else in_place() is called. False: it was.
  template <class InPlace>
  bool hand_over(std::span<statement_block> blocks, bool all_in_hand, const statement_tasks& tasks,
                 placement::wish wish, std::size_t statement, const InPlace& in_place);
  void bring_target(std::uint32_t reference_number);
  private_block* result_with_task(const store& s, const shape& extents);
  bool store_from_device(const store& s, private_block& from, shared_block& to);

  // exchange.cpp
  void fetch(const reference& r);
  void store_to(const store& s, double value);
  template <class Function>
  auto waiting(exchange_counters& count, Function&& hold);
  using own_sums = std::map<std::int64_t, private_block*>;
  void keep_sum(own_sums& mine, std::int64_t ordinal, const shape& extents, const tile& from, double value);
  void hand_over_sum(std::uint32_t array, own_sums::iterator which);
  void hand_over_sums();
  void remove(std::uint32_t array);
  void barrier();
  void collective(std::uint32_t to, double value);
  void broadcast(std::int64_t from, std::uint32_t array);
  void assert_same(std::uint32_t scalar);
  void set_persistent(const persistent& p);
  void restore_persistent(const persistent& p);
  void keep_persistents();
  void leave_state();
  void note(shared_block& b, block_use how, const reference& r);
  class barrier_timer;
  template <class Function>
  void wait_for_all(Function&& last);

  // memory.cpp
  void region_fill(const region_operation& o, double value);
  void region_from_block(const region_operation& o);
  void block_from_region(const region_operation& o);

  void execute(std::size_t number);
  void execute_in_place(const execution& e);

  program_run& m_run;
  const code& m_code;
  const unsigned m_number;
  worker_state m_state;
  std::int64_t* const m_i;
  double* const m_s;
  std::uint32_t& m_site;
  std::uint64_t& m_statement;
  run_counters& m_counters;
  std::uint32_t m_at = 0;

  block_pool m_pool;
  std::unique_ptr<placement> m_placement;  // null: everything runs in place
  std::uint32_t m_device_regions = 0;      // of gpu_on, around the statement
  private_store m_private;
  static_arrays m_statics;
  contiguous_arrays m_contiguous;
  array_generations m_generations;
  std::vector<own_sums> m_sums;  // by array; deterministic: what this worker has added and not yet handed over
  shared_cache m_fetched;
  block_operands m_operands;
  block_arithmetic m_arithmetic;
  printer m_printer;
  instruction_calls m_instructions;
  std::vector<std::uint32_t> m_returns;
  pardo_state m_pardo;
  std::uint64_t m_pardos = 0;  // executed so far
  std::vector<const persistent*> m_to_keep;
  registers m_ahead;  // of an iteration that is looked at ahead
  std::vector<statement_profile> m_profile;
};

}  // namespace tessera::sial
