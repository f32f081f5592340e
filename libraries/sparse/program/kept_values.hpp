#pragma once
// What small matrices were behind the last few iterations of a loop.
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "libraries/sparse/program/state.hpp"

namespace tessera::sparse {

/// Copies of some small matrices, made by a task behind an iteration, so that they can be read while later iterations
/// run. Those of the last `iterations` are there.
class kept_values {
 public:
  kept_values(program_state& p, std::span<const small_matrix> watched, std::size_t iterations);
  kept_values(const kept_values&) = delete;
  kept_values& operator=(const kept_values&) = delete;

  /// Submits the copy behind an iteration, which counts from 1.
  void keep(int iteration);
  /// Chooses the iteration whose copies `of` gives.
  void look_at(int iteration) noexcept { m_shown = place_of(iteration); }
  /// The copy of a small matrix; null for one that is not watched.
  const small_data* of(const small_data& watched) const noexcept;

 private:
  std::size_t place_of(int iteration) const noexcept { return static_cast<std::size_t>(iteration) % m_copies.size(); }
  std::vector<std::shared_ptr<small_data>> m_watched;
  std::vector<std::vector<std::shared_ptr<small_data>>> m_copies;  ///< per place, of each watched one
  std::vector<std::unique_ptr<task_graph>> m_graphs;               ///< per place
  std::size_t m_shown = 0;
};

}  // namespace tessera::sparse
