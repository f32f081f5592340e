#pragma once
// One contiguous copy through a plugin.
#include <string>

#include "core/transfer/stream.hpp"

namespace tessera::transfer {

/// Enqueues a contiguous copy on a stream whose lock is held. Throws tessera::error (device).
inline void enqueue_copy(stream& on, tsr_space_ref to, tsr_address destination, tsr_space_ref from, tsr_address source,
                         std::uint64_t bytes) {
  tsr_copy what{};
  what.struct_size = sizeof what;
  what.destination_space = to;
  what.source_space = from;
  what.destination = destination;
  what.source = source;
  what.bytes = bytes;
  what.rows[0] = what.rows[1] = 1;
  const plugin::device& device = on.device();
  const tsr_status status = device.table().copy(device.handle(), on.handle(), &what);
  if (status != TSR_OK) device.fail(status, "copy of " + std::to_string(bytes) + " bytes");
}

}  // namespace tessera::transfer
