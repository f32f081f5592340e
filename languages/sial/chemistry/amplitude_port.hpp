#pragma once
// Amplitudes on their way between the blocks of programs and what keeps them.
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "languages/sial/chemistry/instructions.hpp"
#include "languages/sial/data/init_data.hpp"
#include "libraries/chemistry/checkpoint/amplitude_history.hpp"
#include "libraries/chemistry/checkpoint/amplitudes.hpp"

namespace tessera::sial {

using chemistry::amplitude_state;

/// What a program begins with, where it is not the first order.
struct amplitude_start {
  /// Over the same orbitals; else what makes them from those of first order.
  std::optional<chemistry::amplitudes> same;
  std::function<chemistry::amplitudes(chemistry::amplitudes)> from_first_order;
  amplitude_state state;  ///< of `same`; converged: no iteration is left. With a history: it can be loaded
};

/// Who keeps amplitudes, and where they come from. Each may be empty.
struct amplitude_keeping {
  /// Given zeros over the orbitals of the programs. Nothing: the first order.
  std::function<std::optional<amplitude_start>(const chemistry::amplitudes&)> begin;
  /// Whether the amplitudes of this iteration are to be kept; asked by the first worker. The last ones always are.
  std::function<bool(int iteration)> is_due;
  /// Given them; by the first worker.
  std::function<void(const chemistry::amplitudes&, const amplitude_state&)> keep;
  /// The same of an iteration of the extrapolation, before the amplitudes that go on from it. False: it is not kept.
  std::function<bool(int step, const chemistry::history_step&)> keep_history;
  /// Over as many orbitals as those that are given. What it throws ends the program.
  std::function<chemistry::history_step(int step, const chemistry::amplitudes&)> load_history;
};

/// The amplitudes of one job, dense, whatever its segments are. Blocks come and go by instructions, on any worker.
class amplitude_port {
 public:
  /// Tells the programs by `data` what there is: the ints "amplitudes_are_kept" and "restored_amplitudes" (0: none, 1:
  /// a start, 2: converged), "restored_iteration", "history_is_kept" and "restored_steps" (iterations of the
  /// extrapolation whose history is there), and the scalar "restored_residual".
  amplitude_port(init_data& data, amplitude_keeping keeping);
  amplitude_port(const amplitude_port&) = delete;
  amplitude_port& operator=(const amplitude_port&) = delete;

  /// What a job without checkpoints tells its programs.
  static void tell_none(init_data& data);
  const amplitude_state& restored() const noexcept { return m_start.state; }

  void collect(const instruction_call& c);
  void restore(const instruction_call& c);
  void keep(const instruction_call& c);
  void ask_whether_due(const instruction_call& c);
  void collect_history(const instruction_call& c);
  void restore_history(const instruction_call& c);
  void keep_history(const instruction_call& c);
  void load_history(const instruction_call& c);

 private:
  /// Where an orbital of the programs' list is: its spin, and its number among the occupied or empty ones of it.
  struct place {
    std::size_t spin = 0, number = 0;
  };
  double* element(chemistry::amplitudes& of, const std::int64_t* number, bool singles, double& sign) const;
  chemistry::amplitudes& history(const instruction_call& c);
  void require_collected() const;

  const amplitude_keeping m_keeping;
  std::vector<place> m_places;
  chemistry::amplitudes m_now;  // of the blocks that were collected, or are to be restored
  amplitude_start m_start;
  std::once_flag m_is_ready, m_history_is_ready;
  chemistry::history_step m_history;  // of one iteration, on its way
  int m_kept_steps = 0;
  bool m_history_is_lost = false;
};

/// The instructions collect_amplitudes, restore_amplitudes, keep_amplitudes, checkpoint_is_due, and those for the
/// history of an extrapolation; docs/chemistry.md.
/// Of no port they are errors.
std::vector<instruction> amplitude_instructions(std::shared_ptr<amplitude_port> port);

}  // namespace tessera::sial
