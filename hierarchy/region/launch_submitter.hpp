#pragma once
// From a region's plan to its tasks.
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hierarchy/region/kernels.hpp"
#include "hierarchy/region/launch_plan.hpp"
#include "hierarchy/region/named_tiles.hpp"
#include "hierarchy/region/request.hpp"
#include "hierarchy/region/storage.hpp"
#include "hierarchy/region/sweep.hpp"
#include "hierarchy/region/wanted_cuts.hpp"

namespace tessera::hierarchy {

class rows_in_use;

/// Cuts the arrays of a region, and submits its tasks. Any thread.
class launch_submitter {
 public:
  launch_submitter(runtime& of, live_tree& tree, region_kernels& kernels) noexcept
      : m_runtime(of), m_tree(tree), m_kernels(kernels) {}

  /// With the region's arrays locked. Whatever may be refused, or thrown by the program, comes before the first change.
  void submit(const region_request& c, launch_plan& made);

 private:
  struct tiling {
    std::vector<wanted_cut> cuts;
    std::optional<named_tiles> named;  // after the cuts; where tasks may be kernels
  };

  void cut_arrays(const region_request& c, const launch_plan& made, const tiling& tiles);
  static void enter_rows(const region_request& c, const launch_plan& made, rows_in_use& order);
  void keep_for_replays(const region_request& c, const launch_plan& made);
  void place_by_distance(const region_request& c, const launch_plan& made);
  tiling tiling_of(const region_request& c, const launch_plan& made) const;
  std::vector<const operation::definition*> kernels_of(const region_request& c, const launch_plan& made,
                                                       const tiling& tiles);
  std::vector<detail::pending_piece> make_pieces(const region_request& c, launch_plan& made,
                                                 std::span<const operation::definition* const> kernels,
                                                 const sweep& way);
  void name_blocks(const region_request& c, const launch_plan& made, std::span<detail::pending_piece> pieces,
                   std::span<detail::submission> joins);

  runtime& m_runtime;
  live_tree& m_tree;
  region_kernels& m_kernels;
};

}  // namespace tessera::hierarchy
