#pragma once
// The walk through a program; for this room.
#include <map>
#include <string>
#include <vector>

#include "languages/sial/estimate/block_account.hpp"
#include "languages/sial/estimate/shared_account.hpp"
#include "languages/sial/estimate/uses.hpp"
#include "languages/sial/estimate/values.hpp"

namespace tessera::sial {

/// Goes through statements as a worker would, with all iterations of a pardo on this one. A body that was walked
/// through with the same values of what it uses is not walked through again. What follows a decision that is not known
/// is counted as if it happened.
class walker {
 public:
  walker(const program& of, const code& lowered, const geometry& sizes, const estimate_settings& how,
         kept_estimates& kept);
  program_estimate run();

 private:
  enum class flow {
    normal,
    exit,
    return_,
    stop
  };
  struct figures {
    place where;
    bool contraction = false, most = false;
    double times = 0, flops = 0;  ///< of super instructions: elements of their first blocks
    const void* pardo = nullptr;  ///< that it is in
    std::string name = {};        ///< of super instructions
  };
  struct entered {
    double times = 0, iterations = 0;
  };
  struct tally {
    std::map<const void*, figures> counted;  ///< by statement
    double iterations = 0, fetches = 0, fetched_bytes = 0, data_statements = 0;
    std::map<const void*, entered> pardos;
    bool most = false;
    void add(const tally& more, double weight, bool is_most);
  };
  /// What a walk through a body has done.
  struct walked {
    tally counts;
    block_growth growth;
    flow ending = flow::normal;
    std::vector<std::pair<symbol, std::optional<std::int64_t>>> ints;
    std::vector<std::pair<symbol, std::optional<double>>> scalars;
  };
  /// A loop or procedure that is open. `unsure`: whether it was left is not known from here on, as often.
  struct frame {
    int branches = 0, unsure = 0;
    std::size_t fork = 0;  ///< of the blocks: it begins where the frame may be left
  };
  void enter(std::vector<frame>& frames, int branches);
  void leave(std::vector<frame>& frames);
  void begin_branch();
  void end_branch();
  /// A block that a statement names.
  struct placed {
    std::vector<std::int64_t> extents;
    double elements = 1;
    std::optional<std::int64_t> ordinal;
    std::int64_t identity = 0;  ///< the ordinal, or what stands for it
    bool fits = true;
  };

  // walk.cpp
  flow walk(const body& all);
  bool sure() const noexcept { return m_unsure + m_outer_unsure == 0; }
  void note(const place& where, const std::string& text);
  void count(const void* what, bool contraction, double flops, const std::string& name = {});
  program_estimate result() const;
  void largest_blocks(program_estimate& to) const;

  // walk_loops.cpp
  template <class Function>
  flow once(int level, const void* loop, const uses& depends, Function&& walk_it);
  void remember(std::vector<std::int64_t> key, walked what);
  std::vector<std::int64_t> key_of(int level, const void* loop, const uses& depends) const;
  template <class Loop>
  flow iteration(const Loop& l, bool tell);
  template <class Loop>
  flow rest(const Loop& l, const std::vector<symbol>& open, double count);
  flow pardo_dimension(const pardo_loop& l, std::size_t left);
  flow look(const do_loop& s);
  flow look(const pardo_loop& s);
  flow look(const if_statement& s);
  flow look(const section_statement& s) { return walk(s.inside); }
  flow look(const gpu_section& s) { return walk(s.inside); }
  flow look(const call_statement& s);
  flow look(const return_statement&);
  flow look(const exit_statement&);
  flow look(const stop_statement&);

  // walk_blocks.cpp
  placed place_of(const block_reference& b);
  void holds(std::uint32_t array, const placed& at);
  void reads(const block_reference& b);
  void writes(const block_reference& b);
  void value(const expression& e);
  flow look(const assign_int& s);
  flow look(const assign_scalar& s);
  flow look(const collective_statement& s);
  flow look(const execute_statement& s);
  flow look(const fetch_statement& s);
  flow look(const store_statement& s);
  flow look(const delete_statement& s);
  flow look(const allocate_statement& s);
  flow look(const allocate_region_statement& s);
  flow look(const persistent_statement& s);
  flow look(const block_scalar& s);
  flow look(const block_copy& s);
  flow look(const block_sum& s);
  flow look(const block_scaled& s);
  flow look(const block_product& s);
  flow look(const block_slice& s);
  flow look(const region_from_block& s);
  flow look(const block_from_region& s);
  template <class Other>
  flow look(const Other&) {
    return flow::normal;
  }

  const program& m_program;
  const code& m_code;
  const geometry& m_sizes;
  const estimate_settings& m_settings;
  kept_estimates& m_kept;
  const use_table m_uses;
  values m_values;
  block_account m_blocks;
  shared_account m_shared;
  std::set<std::uint32_t> m_whole_locals;  ///< of which not known blocks are written
  std::map<std::pair<std::uint32_t, std::vector<std::int64_t>>, double> m_regions;  ///< bytes
  double m_region_bytes = 0, m_region_most = 0;
  bool m_temps_most = false, m_locals_most = false, m_regions_most = false;

  const statement* m_at = nullptr;
  tally m_tally;
  double m_weight = 1;
  bool m_in_pardo = false;
  const void* m_pardo = nullptr;  ///< that is open
  int m_unsure = 0, m_outer_unsure = 0, m_branches = 0;
  std::uint64_t m_steps = 0, m_unsure_returns = 0;
  std::vector<frame> m_loops, m_calls;
  std::map<std::vector<std::int64_t>, walked> m_walked;
  std::size_t m_parts = 0;  // of these
  std::map<const void*, std::int64_t> m_loop_numbers;
  double m_hand = 0,
         m_hand_most = 0;  ///< bytes of shared blocks that the statement names, and of the statement with most
  std::vector<std::pair<std::uint32_t, std::int64_t>> m_in_hand;
  std::map<std::string, std::uint32_t> m_to_keep;
  std::map<std::uint32_t, kept_estimate> m_base;  ///< of restored arrays
  std::vector<std::pair<place, std::string>> m_notes;
};

}  // namespace tessera::sial
