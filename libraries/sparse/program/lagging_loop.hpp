#pragma once
// A loop whose condition is asked about an iteration while later ones run.
#include <functional>
#include <memory>
#include <vector>

#include "libraries/sparse/program/kept_values.hpp"
#include "libraries/sparse/program/state.hpp"

namespace tessera::sparse {

/// Throws tessera::error (usage) for a negative lag, and for small matrices to watch that are of another program.
void require_lag(const program_state& p, const loop_options& options);

/// Iterations begin before the condition is asked about those before: nothing waits at their ends.
class lagging_loop {
 public:
  lagging_loop(program_state& p, recording& iteration, const loop_options& options);
  ~lagging_loop();  ///< waits: what is under way uses the graphs
  lagging_loop(const lagging_loop&) = delete;
  lagging_loop& operator=(const lagging_loop&) = delete;

  /// What program::while_not does. Throws what the iterations throw.
  void run(const std::function<bool()>& converged, loop_outcome& done);

 private:
  void begin(int iteration);

  program_state& m_program;
  recording& m_iteration;
  const loop_options& m_options;
  std::int64_t m_lag;  ///< no longer than the loop
  kept_values m_kept;
  std::vector<std::unique_ptr<operation_sequence>> m_between;  ///< recorded by the condition, or behind an iteration
};

}  // namespace tessera::sparse
