#pragma once
// What the disk itself does with blocks of the same size: by plain system calls, and by the disk plugin called
// directly.
#include <cstdint>
#include <string>

#include "tessera/machine.hpp"
#include "tessera/tessera.hpp"

namespace bench {

/// Bytes per second, of a file that is written for the first time, written again, and read.
struct disk_rate {
  double first = 0, write = 0, read = 0;
};

/// `blocks` blocks of `bytes` in one file in `directory`, by `threads` threads with pwrite and pread, one block each at
/// a time. `direct`: with O_DIRECT; otherwise written behind the page cache and, in the same time, made durable
/// (fdatasync), and read when they have left the cache as far as the system lets them. Fails the program when the disk
/// does, or when what is read is not what was written.
disk_rate plain_rate(const std::string& directory, std::uint64_t bytes, std::uint64_t blocks, int threads, bool direct);

/// The same through the ABI of the machine's disk device: one allocation, all copies enqueued on one stream, as the
/// runtime does it, but with nothing between.
disk_rate plugin_rate(const tessera::plugin::device& disk, std::uint64_t bytes, std::uint64_t blocks);

}  // namespace bench
