#pragma once
// One worker: its parts, and the loop over instructions.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "languages/sial/interpreter/array_exchange.hpp"
#include "languages/sial/interpreter/block_arithmetic.hpp"
#include "languages/sial/interpreter/block_operands.hpp"
#include "languages/sial/interpreter/collectives.hpp"
#include "languages/sial/interpreter/contiguous_arrays.hpp"
#include "languages/sial/interpreter/device_offload.hpp"
#include "languages/sial/interpreter/instruction_calls.hpp"
#include "languages/sial/interpreter/pardo_iterations.hpp"
#include "languages/sial/interpreter/persistent_values.hpp"
#include "languages/sial/interpreter/prefetcher.hpp"
#include "languages/sial/interpreter/printer.hpp"
#include "languages/sial/interpreter/private_store.hpp"
#include "languages/sial/interpreter/shared_cache.hpp"
#include "languages/sial/interpreter/static_arrays.hpp"
#include "languages/sial/interpreter/step_names.hpp"
#include "languages/sial/interpreter/worker_state.hpp"

namespace tessera::sial {

/// Executes the instructions of a program one after another, each by the part that knows how. One thread.
class worker {
 public:
  worker(program_run& run, unsigned number);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  /// To the end of the program. Throws run_error, tessera::error, given_up.
  void run();
  /// Of the statement that it is in: "file:12".
  std::string where() const { return where_of(m_code, m_state.site); }
  /// "file:12:3".
  std::string place() const { return place_of(m_code, m_state.site); }
  const run_counters& counters() const noexcept { return m_state.counters; }
  const std::vector<statement_profile>& profile() const noexcept { return m_profile; }  ///< by site

 private:
  void step_loop();
  void call(const step& now);
  void loop_begin(const step& now);
  void loop_next(const step& now);
  void loop_leave(const step& now);
  void show_loop(std::uint32_t site, std::int64_t done, std::int64_t total);
  void pardo_begin(const step& now);
  void pardo_next(const step& now);
  void pardo_leave();
  bool next_chunk();

  // Statements.
  void statement(const step& now);
  void timed_step(const step& now);
  void data_step(const step& now);
  bool local_step(const step& now);   ///< false: it is none on local arrays
  bool shared_step(const step& now);  ///< false: it is none that concerns other workers
  void block_statement(const step& now);
  void execute(std::size_t number);
  void execute_in_place(const execution& e);
  void region_fill(const region_operation& o, double value);
  void region_from_block(const region_operation& o);
  void block_from_region(const region_operation& o);
  void barrier();
  void leave_state();

  program_run& m_run;
  const code& m_code;
  worker_state m_state;
  std::uint32_t m_at = 0;  // the next instruction
  std::vector<std::uint32_t> m_returns;
  std::vector<statement_profile> m_profile;
  step_names m_names;

  block_pool m_pool;
  private_store m_private;
  static_arrays m_statics;
  contiguous_arrays m_regions;
  array_generations m_generations;  // that this worker is in, by array
  shared_cache m_cache;
  block_operands m_operands;
  block_arithmetic m_arithmetic;
  std::unique_ptr<device_offload> m_offload;  // null: everything runs in place
  pardo_iterations m_pardo;
  prefetcher m_prefetcher;
  collectives m_collectives;
  array_exchange m_exchange;
  persistent_values m_persistent;
  printer m_printer;
  instruction_calls m_instructions;
};

}  // namespace tessera::sial
