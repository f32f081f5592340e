#pragma once
// The memory that a calculation will take, planned before it begins.
#include <cstddef>
#include <string>
#include <vector>

#include "apps/chem/checkpoint_needs.hpp"
#include "apps/chem/journal.hpp"
#include "apps/chem/options.hpp"
#include "apps/chem/problem.hpp"
#include "apps/common/report.hpp"

namespace tessera::apps {

inline constexpr double mebi = 1024.0 * 1024.0;

/// What one stage takes, in bytes.
struct stage_needs {
  std::string name;      ///< "SCF", or that of a program
  double beside = 0;     ///< beside blocks: matrices, static arrays, buffers of workers
  double announced = 0;  ///< what is to be fetched, where there is a disk; among `beside` then
  double kept = 0;       ///< integrals that can be computed again
  double own = 0;        ///< blocks of workers, with those that wait for others of their size
  double own_least = 0;  ///< that are alive at once
  double shared = 0;     ///< blocks of distributed and served arrays
  double in_hand = 0;    ///< of them, those that statements use at once
  double flops = 0;      ///< of contractions
  double on_disk = 0;    ///< blocks that go to a disk
  double resident = 0;   ///< what blocks take of the host\'s memory, with what is lost between them
  double blocks() const noexcept { return own + shared; }
  double least() const noexcept { return own_least + in_hand; }  ///< what cannot leave the host's memory
  double in_memory() const noexcept { return beside + kept + resident; }
};

/// Where memory may come from.
struct memory_room {
  double process = 0;  ///< that the process may have, all in all (--memory); 0: not said
  double blocks = 0;   ///< that blocks may take at most, as the machine and its settings say
  double slab = 0;     ///< bytes of a slab of theirs
  bool has_disk = false;
  std::string disk_path;  ///< where a disk would be
  double disk_left = 0;   ///< that it has
};
/// As the options and the machine say.
memory_room room_of(const chem_options& o);

/// The choice of what fits, and what it takes.
struct memory_plan {
  double before = 0;    ///< the process with the runtime, before the first stage; recorded events among it
  double recorded = 0;  ///< bytes of buffers for events at most (runtime.trace_limit); 0: nothing is recorded
  std::vector<stage_needs> stages;
  std::vector<sial::program_estimate> programs;  ///< of the stages behind the first
  double host_limit = 0;                         ///< for blocks; 0: as the machine says
  double slab = 0;                               ///< bytes of the host's slabs (memory.slab_bytes); 0: as usual
  double of_worker = 0;                          ///< bytes of blocks that one may have of its own; 0: any
  double held = 0;                               ///< bytes of shared blocks that one may hold; 0: as the runtime says
  double for_rates = 0;                          ///< bytes by which a recording may measure the speed of memory
  std::size_t kept_integrals = 0;                ///< bytes of them that SCF may keep
  sial::orbital_choice orbitals;
  bool direct_ladder = false;  ///< integrals over four virtual orbitals are not stored
  std::string disk_path;       ///< of a disk beside those of the configuration; "": there is none
  checkpoint_needs checkpoints;
  checkpoint_room checkpoint_folder;
  bool fits = true;
  std::string refusal;                ///< why it does not fit
  std::vector<std::string> remedies;  ///< options that make it fit, each alone
  std::vector<std::string> choices;   ///< what was chosen so that it fits, in words

  const stage_needs& largest() const;
  double bytes() const { return before + largest().in_memory(); }  ///< of the process, at most
  double on_disk() const;
};

/// `how`: of the programs; its segments are chosen here unless the options say them. Throws tessera::error as
/// estimate_correlation.
memory_plan plan_memory(const problem& p, const chem_options& o, const chemistry::scf_settings& scf,
                        const sial::correlation_settings& how, const memory_room& room);

void tell(const memory_plan& plan, const memory_room& room, report& to, const journal& told);

}  // namespace tessera::apps
