#pragma once
// The least time of a main part after the roofline model (S. Williams, A. Waterman and D. Patterson, Communications of
// the ACM 52 (2009) 65): its memory traffic, its arithmetic and its transfers at measured rates, and nothing else.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "apps/common/workload.hpp"
#include "tessera/region.hpp"

namespace tessera::apps {

/// What a place does in a second; 0: not known, or not asked for.
struct place_rates {
  double bytes = 0, flops = 0, functions = 0;
};

/// What the machine does in a second.
struct machine_rates {
  place_rates host = {};                            ///< all cores of the run together
  std::map<std::string, place_rates> devices = {};  ///< by the name of the leaf
};

/// What crossed a link in the main part.
struct link_traffic {
  std::string link;      ///< "numa0 -> gpu0"
  double bytes = 0;      ///< of all transfers
  double bandwidth = 0;  ///< bytes per second as the tree has it; 0: not known
};

/// One reason why a main part cannot be faster.
struct bound {
  std::string what = {};  ///< "memory of the host", "arithmetic of gpu0", "link numa0 -> gpu0"
  double seconds = 0;     ///< that it takes for the following
  double bytes = 0;       ///< moved; of memories and links
  double flops = 0;       ///< of arithmetic, as the next one
  double functions = 0;   ///< in the sense of region_work
};

/// The least time.
struct least_time {
  double seconds = 0;
  std::vector<bound> bounds;          ///< of all that is known, longest first
  std::vector<std::string> left_out;  ///< what has no known rate
};

/// A region takes as long as the slowest of its places, and there as long as its memory traffic or its arithmetic,
/// whichever takes longer. Regions follow each other; transfers go beside them. Leaves that are no devices are the
/// host.
/// @param shares  how the regions were split; of several rows with a name, the one launched most often
least_time least_time_of(const workload& of, std::span<const region_row> shares, const machine_rates& rates,
                         std::span<const link_traffic> links);

}  // namespace tessera::apps
