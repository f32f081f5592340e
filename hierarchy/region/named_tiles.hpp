#pragma once
// (a call, the parts of its tasks, the tiles that its arrays will have) -> how many tiles each task names.
#include <cstddef>
#include <span>
#include <vector>

#include "hierarchy/region/request.hpp"
#include "hierarchy/region/wanted_cuts.hpp"

namespace tessera::hierarchy {

/// How many tiles each task of a region names of each use's array; 1 of a result. With the arrays locked; it is as long
/// true as their tiles are those that they will have after the cuts.
class named_tiles {
 public:
  /// @param parts  the tasks' own rows  @param cuts  what is to be cut before the tasks are submitted
  named_tiles(const region_request& c, std::size_t tasks, std::span<const row_interval> parts,
              std::span<const wanted_cut> cuts);

  /// Of a task, an entry per use.
  std::span<const std::size_t> of(std::size_t task) const noexcept { return {&m_counts[task * m_uses], m_uses}; }

 private:
  std::size_t m_uses;
  std::vector<std::size_t> m_counts;  // of all uses of the first task, then of the next one
};

}  // namespace tessera::hierarchy
