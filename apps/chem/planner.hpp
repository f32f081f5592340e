#pragma once
// What a calculation takes of memory with some segments, and whether that fits.
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "apps/chem/memory_plan.hpp"
#include "apps/chem/option_memory.hpp"

namespace tessera::apps {

/// What is tried: how arrays are cut, whether integrals over four virtual orbitals are stored, and how many work.
struct plan_choice {
  sial::orbital_choice orbitals;
  bool direct_ladder = false;
  unsigned workers = 1;
};

/// Plans for one calculation. A walk through its programs is done once for each choice, so that many memories can be
/// tried.
class planner {
 public:
  /// All outlive it.
  planner(const problem& p, const chem_options& o, const chemistry::scf_settings& scf,
          const sial::correlation_settings& how, const memory_room& room);

  /// @param process bytes that it may have, all in all; 0: not said
  memory_plan with(const plan_choice& what, double process) const;

  /// Bytes that the process takes where everything is in memory.
  static double all_in_memory(const memory_plan& plan);

 private:
  struct walked {
    std::vector<stage_needs> stages;  ///< of the programs
    std::vector<sial::program_estimate> programs;
    double statements = 0;  ///< on blocks, of as many iterations as are usual; where they are recorded
  };
  const walked& programs_with(const plan_choice& what) const;
  stage_needs needs_of(const sial::program_estimate& e, unsigned workers) const;
  recording_memory recording_with(const plan_choice& what, const memory_plan& plan, double process) const;
  void place_programs(memory_plan& plan, const plan_choice& what, double left, bool is_limited) const;
  void add_files(memory_plan& plan, const recording_memory& events, double left) const;
  void keep_integrals(memory_plan& plan, double room) const;
  void place(memory_plan& plan, stage_needs& stage, double limit, double pinned) const;

  const problem& m_problem;
  const chem_options& m_options;
  const sial::correlation_settings& m_how;
  const memory_room& m_room;
  const chemistry::scf_memory m_scf;
  fcidump_memory m_fcidump;
  double m_process_now = 0;
  checkpoint_needs m_checkpoints;
  chemistry::scf_result m_field;
  using key = std::tuple<std::size_t, std::size_t, std::size_t, bool, unsigned>;
  mutable std::map<key, walked> m_walked;
};

}  // namespace tessera::apps
