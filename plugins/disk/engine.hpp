#pragma once
// Who does the requests of transfers.
#include <tessera/plugin.h>

#include <cstdint>
#include <memory>
#include <string>

#include "plugins/disk/transfer.hpp"

namespace tessera::disk {

/// Works off transfers, each within one call. One stream's thread uses one engine; an engine may be shared by streams
/// only when it says so.
class engine {
 public:
  virtual ~engine() = default;
  /// Returns when every piece is done or given up. `own` is the calling thread's.
  virtual void run(transfer& what, scratch& own) = 0;
};

/// Threads that help the streams' own with large transfers. Thread-safe: one for a device.
std::shared_ptr<engine> make_thread_engine(std::uint32_t threads, const tsr_host* host);

/// An io_uring of the calling stream, `depth` requests deep. Null when the build has none or the kernel refuses: then
/// `why` says so. Not thread-safe: one for each stream.
std::shared_ptr<engine> make_ring_engine(io_context& io, std::uint32_t depth, std::string& why);

}  // namespace tessera::disk
