#include "plugins/disk/io_context.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "plugins/disk/directory.hpp"

namespace tessera::disk {

int admit(io_context& io, const request& what) noexcept {
  const auto& fault = io.setting.faults;
  if (fault.fail_after_bytes != 0 &&
      io.requested.fetch_add(what.bytes, std::memory_order_relaxed) + what.bytes > fault.fail_after_bytes)
    return EIO;
  if (what.write && fault.full_after_bytes != 0 &&
      io.write_requested.fetch_add(what.bytes, std::memory_order_relaxed) + what.bytes > fault.full_after_bytes)
    return ENOSPC;
  return 0;
}

std::uint64_t next_length(const io_context& io, const request& what) noexcept {
  const auto rest = what.bytes - what.done;
  if (!io.setting.faults.short_io || what.done != 0 || rest < 2 * cell_bytes) return rest;
  return rest / 2 / cell_bytes * cell_bytes;  // whole cells: the next call must suit O_DIRECT too
}

int perform(io_context& io, request& what) noexcept {
  if (const int error = admit(io, what)) return error;
  while (what.done < what.bytes) {
    const auto length = next_length(io, what);
    const auto at = static_cast<off_t>(what.offset + what.done);
    const ssize_t moved = what.write ? ::pwrite(what.in->descriptor(), what.data + what.done, length, at)
                                     : ::pread(what.in->descriptor(), what.data + what.done, length, at);
    if (moved < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (moved < 0) return errno;
    if (moved == 0) return what.write ? ENOSPC : end_of_file;
    what.done += static_cast<std::uint64_t>(moved);
  }
  finished(io, what);
  return 0;
}

void finished(io_context& io, const request& what) noexcept {
  if (what.write) {
    io.count.bytes_written.fetch_add(what.bytes, std::memory_order_relaxed);
    return;
  }
  io.count.bytes_read.fetch_add(what.bytes, std::memory_order_relaxed);
  const auto corrupt = io.setting.faults.corrupt_read;
  if (corrupt != 0 && io.reads.fetch_add(1, std::memory_order_relaxed) + 1 == corrupt)
    what.data[what.bytes / 2] ^= 0x10;
}

outcome failure_of(const request& what, int error) {
  const std::string where = what.in->path() + ": " + (what.write ? "writing " : "reading ") +
                            std::to_string(what.bytes) + " bytes at offset " + std::to_string(what.offset) + ": ";
  if (error == end_of_file)
    return {TSR_DATA_LOSS, where + "the file ends after " + std::to_string(what.done) + " of them; somebody cut it"};
  return {status_of(error), where + std::generic_category().message(error)};
}

}  // namespace tessera::disk
