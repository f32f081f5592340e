#pragma once
// A transfer on its way from decision to completion.
#include <boost/container/small_vector.hpp>
#include <utility>

#include "core/transfer/coherence.hpp"

namespace tessera::transfer {

/// Decided while the block's lock was held; both replicas are marked `issuing` and the source is pinned, so that the
/// copy can be enqueued after the locks are gone.
struct planned {
  block::record* block = nullptr;
  memory::space_number from = 0, to = 0;
  block::version_number version = 0;
  bool write_back = false;
  std::uint64_t issued = 0;  ///< while recording
  tsr_address source{}, destination{};
  block::ticket source_ready;  ///< what makes the bytes that it copies, where it was not known to have succeeded
  block::ticket arrived;       ///< once it is issued
  std::vector<block::ticket> pieces;  ///< of one that goes in pieces: points, any of which may fail
  boost::container::small_vector<std::pair<const stream*, block::ticket>, 4> waits;  ///< before the first byte moves
};

/// Enqueued. Frees itself when it is done.
struct transfer {
  completion done;
  coherence* owner = nullptr;
  planned what;
};

}  // namespace tessera::transfer
