#pragma once
// What all requests of one device share: settings, locks, faults, counters; and one request.
#include <tessera/plugin.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "plugins/disk/cell_locks.hpp"
#include "plugins/disk/settings.hpp"
#include "plugins/disk/store.hpp"

namespace tessera::disk {

/// How a piece of work ended.
struct outcome {
  tsr_status status = TSR_OK;
  std::string message;
  bool good() const noexcept { return status == TSR_OK; }
};

struct counters {
  std::atomic<std::uint64_t> bytes_read{0}, bytes_written{0}, cells_checked{0}, cells_lost{0};
};

struct io_context {
  explicit io_context(const settings& s) : setting(s) {}
  const settings& setting;
  cell_locks locks;
  counters count;
  std::atomic<std::uint64_t> requested{0}, write_requested{0}, reads{0};  // for faults
};

/// One read or write of a range of a file.
struct request {
  const file* in = nullptr;
  bool write = false;
  std::uint64_t offset = 0;  ///< in the file
  unsigned char* data = nullptr;
  std::uint64_t bytes = 0, done = 0;
};

/// What ends a request that met the end of its file, beside the numbers of errno.
inline constexpr int end_of_file = -1;

/// Counts a request before it starts. 0, or the errno of a fault.
int admit(io_context& io, const request& what) noexcept;

/// How many bytes to ask for next: the rest, or less as a fault.
std::uint64_t next_length(const io_context& io, const request& what) noexcept;

/// Does the request, blocking, however many calls that takes. 0, an errno, or end_of_file.
int perform(io_context& io, request& what) noexcept;

/// Counts what was moved, and plays the fault that falsifies a read.
void finished(io_context& io, const request& what) noexcept;

/// The outcome of a failed request, in words.
outcome failure_of(const request& what, int error);

/// Memory for requests, aligned to the cell; grows, never shrinks.
class aligned_buffer {
 public:
  unsigned char* at_least(std::uint64_t bytes) {
    if (bytes > m_bytes) {
      m_memory.reset(static_cast<unsigned char*>(std::aligned_alloc(cell_bytes, bytes)));
      m_bytes = m_memory != nullptr ? bytes : 0;
      if (m_memory == nullptr) throw std::bad_alloc();
    }
    return m_memory.get();
  }

 private:
  struct freer {
    void operator()(unsigned char* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<unsigned char, freer> m_memory;
  std::uint64_t m_bytes = 0;
};

/// What one thread needs for pieces.
struct scratch {
  aligned_buffer memory;               // cells that are merged
  std::vector<std::uint32_t> sums;     // of the cells of a piece
  std::vector<std::uint32_t> covered;  // bytes of each cell that a piece touches
};

}  // namespace tessera::disk
