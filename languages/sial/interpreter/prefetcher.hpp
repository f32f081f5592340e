#pragma once
// Blocks that iterations to come will fetch, asked for before they begin.
#include <cstdint>
#include <vector>

#include "languages/sial/exchange/array_generation.hpp"
#include "languages/sial/interpreter/pardo_iterations.hpp"
#include "languages/sial/interpreter/registers.hpp"
#include "languages/sial/interpreter/worker_state.hpp"

namespace tessera::sial {

/// What an iteration fetches follows from its indices: the next iterations of a pardo are walked through without any
/// arithmetic on blocks, each up to a decision that depends on the contents of one, and the blocks that they fetch are
/// asked for. On machines with one memory it does nothing. Refers to all that it is made from. One thread.
class prefetcher {
 public:
  /// @param arrays the generation that the worker is in, by array
  prefetcher(worker_state& state, const array_generations& arrays)
      : m_state(state), m_code(state.run.program), m_generations(arrays), m_values(state.run.sizes) {}

  /// A block that is in neither the host's nor a device's memory starts to come, unless too much is under way.
  void ask_for(shared_block& b, array_generation& of);
  /// Looks at the iterations behind the one under way, as many as the settings say. @param is_new a chunk was begun
  void look_ahead(const pardo_iterations& loop, bool is_new);

 private:
  void walk(const pardo& p, std::int64_t candidate);
  // Each false where the walk ends.
  bool pass(const step& now);
  bool pass_number(const step& now);
  bool pass_loop(const step& now);
  bool pass_fetch(const reference& r);

  worker_state& m_state;
  const code& m_code;
  const array_generations& m_generations;
  std::int64_t m_seen = 0;  // candidates up to this one were looked at

  // Of the walk.
  registers m_values;
  std::vector<std::uint32_t> m_returns;
  std::uint32_t m_at = 0;
  bool m_data_is_known = true;  // scalars have the values that they will have
};

}  // namespace tessera::sial
