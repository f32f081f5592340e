#pragma once
// One contiguous copy through a plugin.
#include <algorithm>
#include <string>

#include "core/transfer/stream.hpp"

namespace tessera::transfer {

/// The place `bytes` behind another.
inline tsr_address at(tsr_address place, std::uint64_t bytes) noexcept { return {place.memory, place.offset + bytes}; }

/// Bytes of one copy by the device, of those that it shall copy: all, or as many as it says that it can, in whole pages
/// where that is more than one.
inline std::uint64_t max_at_once(const plugin::device& by, std::uint64_t bytes) noexcept {
  constexpr std::uint64_t page = 4096;
  const std::uint64_t most = by.description().max_copy;
  if (most == 0 || bytes <= most) return bytes;
  return most < page ? most : most / page * page;
}

/// Enqueues a contiguous copy on a stream whose lock is held; no more than max_at_once. Throws tessera::error
/// (device).
inline void enqueue_copy(stream& on, tsr_space_ref to, tsr_address destination, tsr_space_ref from, tsr_address source,
                         std::uint64_t bytes) {
  tsr_copy made{};
  made.struct_size = sizeof made;
  made.destination_space = to;
  made.source_space = from;
  made.destination = destination;
  made.source = source;
  made.bytes = bytes;
  made.rows[0] = made.rows[1] = 1;
  const plugin::device& device = on.device();
  const tsr_status status =
      plugin::contained("copy", [&] { return device.table().copy(device.handle(), on.handle(), &made); });
  if (status != TSR_OK) device.fail(status, "copy of " + std::to_string(bytes) + " bytes");
}

/// The same for any number of bytes.
inline void enqueue_copies(stream& on, tsr_space_ref to, tsr_address destination, tsr_space_ref from,
                           tsr_address source, std::uint64_t bytes) {
  const std::uint64_t most = max_at_once(on.device(), bytes);
  for (std::uint64_t done = 0; done < bytes; done += most)
    enqueue_copy(on, to, at(destination, done), from, at(source, done), std::min(most, bytes - done));
}

}  // namespace tessera::transfer
