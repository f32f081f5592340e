#pragma once
// Scalars and arrays that go from one program of a job to the next.
#include <string>
#include <vector>

#include "languages/sial/interpreter/array_exchange.hpp"
#include "languages/sial/interpreter/collectives.hpp"
#include "languages/sial/interpreter/static_arrays.hpp"
#include "languages/sial/interpreter/worker_state.hpp"

namespace tessera::sial {

/// set_persistent and restore_persistent for one worker. Refers to all that it is made from. One thread.
class persistent_values {
 public:
  /// @param arrays the generation that the worker is in, by array
  persistent_values(worker_state& state, const array_generations& arrays, static_arrays& statics,
                    array_exchange& shared_arrays, collectives& group)
      : m_state(state), m_generations(arrays), m_statics(statics), m_exchange(shared_arrays), m_collectives(group) {}

  /// It is kept at the end of the program, under its label.
  void set(const persistent& p);
  /// What a program before has kept under the label. Called by all workers. Throws run_error when there is nothing of
  /// the kind.
  void restore(const persistent& p);
  /// The end of the program; called by all workers. The values of worker 0 are those that count.
  void keep();

 private:
  worker_state& m_state;
  const array_generations& m_generations;
  static_arrays& m_statics;
  array_exchange& m_exchange;
  collectives& m_collectives;
  std::vector<const persistent*> m_to_keep;
};

}  // namespace tessera::sial
