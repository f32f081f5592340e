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

#include "apps/sial/instructions/instruction_job.hpp"
#include "apps/sial/interpreter/contiguous_arrays.hpp"
#include "apps/sial/interpreter/elementwise.hpp"
#include "apps/sial/interpreter/ordinal_map.hpp"
#include "apps/sial/interpreter/placement.hpp"
#include "apps/sial/interpreter/private_store.hpp"
#include "apps/sial/interpreter/static_arrays.hpp"
#include "apps/sial/interpreter/worker_state.hpp"

namespace tessera::sial {

class worker final : private instruction_host {
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
  using segments = segment_numbers;

  /// A block's elements in memory, dense.
  struct tile {
    double* data = nullptr;
    const shape* extents = nullptr;
    std::int64_t count = 0;
  };
  /// A tile to be written: what it is a copy of gets its contents by put_back.
  struct target : tile {
    double* whole = nullptr;  ///< a static array
    box part;
  };
  /// A block that was fetched: readable until the next barrier.
  struct alignas(64) fetched {  // what a statement looks at comes first, in one line
    std::int64_t ordinal = -1;
    std::uint64_t bytes = 0;
    const double* data = nullptr;    ///< of the view or the copy
    const shape* extents = nullptr;  ///< likewise
    std::int64_t count = 0;          ///< likewise
    private_block* copy = nullptr;   ///< as it was when this worker wrote to it afterwards
    std::uint64_t used = 0;          ///< the last statement that read it; only where views are let go of
    shared_block* from = nullptr;
    std::optional<host_view<const double>> view;
  };
  struct shared_view {
    std::shared_ptr<array_generation> generation;
    ordinal_map<fetched> here;
    fetched* last = nullptr;  ///< found last: who gets a block mostly reads it next
    fetched* find(std::int64_t ordinal) noexcept {
      if (last != nullptr && last->ordinal == ordinal) return last;
      fetched* const found = here.find(ordinal);
      if (found != nullptr) last = found;
      return found;
    }
    boost::container::deque<fetched, std::allocator<fetched>,
                            boost::container::deque_options_t<boost::container::block_size<64>>>
        all;  ///< those in `here`
    void clear();
    std::map<std::int64_t, private_block*> sums;  ///< deterministic: what this worker has added and not yet handed over
  };
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

  // blocks.cpp
  std::int64_t ordinal_of(const reference& r, segments& at) const { return m_state.values.ordinal_of(r, at); }
  std::string name_of(const reference& r) const { return m_state.values.name_of(r); }
  shape extents_of(const reference& r, const segments& at) const {
    return m_run.sizes.array(r.array).extents_of(at.data());
  }
  tile read(std::uint32_t reference_number, std::size_t slot);
  target write(std::uint32_t reference_number, bool update, std::size_t slot);
  void put_back(const target& t);
  tile fetched_tile(const reference& r, std::int64_t ordinal);
  void view_among_others(const reference& r, fetched& f);
  void let_go_of(fetched& f);
  void let_go_of_views();
  double* scratch(std::size_t slot, std::int64_t count);

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

  // arithmetic.cpp
  target written_by(const block_operation& o);
  void arithmetic(const step& at);
  void block_scalar(const step& at);
  void block_copy(const block_operation& o);
  void block_sum(const block_operation& o);
  void block_scale(const block_operation& o);
  void block_product(const block_operation& o);
  void block_slice(const block_operation& o);
  double inner_product_of(const block_operation& o);
  void permute(const tile& from, const tile& to, const block_operation& o, double alpha, double beta);
  double element(std::uint32_t reference_number);

  // exchange.cpp
  void fetch(const reference& r);
  void store_to(const store& s, double value);
  template <class Function>
  auto waiting(exchange_counters& count, Function&& hold);
  void keep_sum(shared_view& mine, std::int64_t ordinal, const shape& extents, const tile& from, double value);
  void hand_over_sum(shared_view& mine, std::map<std::int64_t, private_block*>::iterator which);
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

  // executions.cpp
  void execute(std::size_t number);
  void execute_in_place(const execution& e);
  void describe(sial_argument& to, std::uint32_t array, const std::int64_t* segments_at, const shape& extents,
                int whole);
  void print(std::string_view text) override;
  void print_on_all_workers(bool on) override;
  std::string list_blocks() override;

  // printing.cpp
  void print(const printing& p);
  void print_elements(const std::string& head, const double* data, std::int64_t count, std::int64_t per_line);
  void say(const std::string& text);

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
  std::vector<shared_view> m_shared;  // by array
  std::vector<std::uint32_t> m_returns;
  struct contraction {
    shape left, right, to;
    ::tessera::operation::in_place_facts facts;  // of blocks with those extents
    double flops = 0;
  };
  std::vector<contraction> m_contractions;  // by block operation: what it was the last time
  std::deque<std::pair<std::uint32_t, fetched*>>
      m_views;                     // by array; those that got a view, oldest first, where there are other memories
  std::uint64_t m_view_bytes = 0;  // of those that still have it
  std::array<std::vector<double>, 10>
      m_scratch;  // by slot: 0 to 3 arithmetic's, then one per argument of a super instruction
  std::array<shape, 10> m_scratch_extents;
  pardo_state m_pardo;
  std::uint64_t m_pardos = 0;  // executed so far
  std::vector<const persistent*> m_to_keep;
  instruction_job m_job;
  std::vector<const instruction*> m_instructions;  // by special, once it was executed
  registers m_ahead;                               // of an iteration that is looked at ahead
  std::uint64_t m_waited = 0;                      // nanoseconds, for shared blocks
  std::vector<statement_profile> m_profile;
};

}  // namespace tessera::sial
