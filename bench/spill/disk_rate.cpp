#include "bench/spill/disk_rate.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <thread>

#include "bench/common/random_graph.hpp"

namespace bench {
namespace {

constexpr std::uint64_t alignment = 4096;

struct aligned_free {
  void operator()(std::uint64_t* p) const { std::free(p); }
};
using buffer = std::unique_ptr<std::uint64_t[], aligned_free>;

buffer make_buffer(std::uint64_t bytes) {
  buffer b(static_cast<std::uint64_t*>(std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)));
  if (b == nullptr) fail("no memory for a block");
  for (std::uint64_t k = 0; k < bytes / sizeof(std::uint64_t); ++k)
    b[k] = mix(k);  // nothing that a disk could compress
  return b;
}

[[noreturn]] void fail_here(const std::string& what) { fail(what + ": " + std::strerror(errno)); }

/// A file that goes with the last descriptor.
class own_file {
 public:
  own_file(const std::string& directory, std::uint64_t bytes, bool direct) {
    std::string path = directory + "/bench-spill-XXXXXX";
    m_descriptor = ::mkostemp(path.data(), O_CLOEXEC | (direct ? O_DIRECT : 0));
    if (m_descriptor < 0) fail_here(path);
    ::unlink(path.c_str());
    if (::fallocate(m_descriptor, 0, 0, static_cast<off_t>(bytes)) != 0 &&
        ::ftruncate(m_descriptor, static_cast<off_t>(bytes)) != 0)
      fail_here(path);
  }
  ~own_file() { ::close(m_descriptor); }
  own_file(const own_file&) = delete;
  own_file& operator=(const own_file&) = delete;
  int descriptor() const { return m_descriptor; }

 private:
  int m_descriptor = -1;
};

/// Calls move(buffer, number) for each block, by so many threads, and then `end`. Bytes per second.
template <class Move, class End>
double rate_of(std::vector<buffer>& memory, std::uint64_t bytes, std::uint64_t blocks, Move move, End end) {
  std::atomic<std::uint64_t> next{0};
  const double began = now();
  {
    std::vector<std::jthread> all;
    for (buffer& own : memory)
      all.emplace_back([&] {
        for (std::uint64_t k = 0; (k = next.fetch_add(1)) < blocks;) move(own.get(), k);
      });
  }
  end();
  return double(bytes * blocks) / (now() - began);
}

}  // namespace

disk_rate plain_rate(const std::string& directory, std::uint64_t bytes, std::uint64_t blocks, int threads,
                     bool direct) {
  const own_file file(directory, bytes * blocks, direct);
  std::vector<buffer> memory;
  for (int k = 0; k < threads; ++k) memory.push_back(make_buffer(bytes));
  const auto whole = [&](auto call, std::uint64_t* data, std::uint64_t k) {
    for (std::uint64_t done = 0; done < bytes;) {
      const ssize_t moved = call(file.descriptor(), reinterpret_cast<char*>(data) + done, bytes - done,
                                 static_cast<off_t>(k * bytes + done));
      if (moved <= 0 && errno != EINTR) fail_here("a request to the disk");
      done += static_cast<std::uint64_t>(std::max<ssize_t>(moved, 0));
    }
  };
  const auto write_all = [&](std::uint64_t shift) {
    return rate_of(
        memory, bytes, blocks,
        [&](std::uint64_t* data, std::uint64_t k) {
          data[0] = k + shift;
          whole(::pwrite, data, k);
        },
        [&] {
          if (!direct && ::fdatasync(file.descriptor()) != 0) fail_here("fdatasync");
        });
  };
  disk_rate r;
  r.first = write_all(1);
  r.write = write_all(2);
  if (!direct) ::posix_fadvise(file.descriptor(), 0, 0, POSIX_FADV_DONTNEED);
  r.read = rate_of(
      memory, bytes, blocks,
      [&](std::uint64_t* data, std::uint64_t k) {
        whole(::pread, data, k);
        if (data[0] != k + 2 || data[bytes / sizeof *data - 1] != mix(bytes / sizeof *data - 1))
          fail("the disk: a block is not what was written");
      },
      [] {});
  return r;
}

disk_rate plugin_rate(const tessera::plugin::device& disk, std::uint64_t bytes, std::uint64_t blocks) {
  const tsr_device_table& call = disk.table();
  tsr_device* const at = disk.handle();
  tsr_memory* memory = nullptr;
  tsr_stream* stream = nullptr;
  disk.check(call.mem_alloc(at, 0, bytes * blocks, &memory), "allocation");
  disk.check(call.stream_create(at, TSR_STREAM_COPY, &stream), "creation of a stream");
  const buffer data = make_buffer(bytes);
  const auto all = [&](bool to_disk) {
    const double began = now();
    for (std::uint64_t k = 0; k < blocks; ++k) {
      tsr_copy one{};
      one.struct_size = sizeof one;
      const tsr_space_ref there{at, 0}, here{nullptr, 0};
      const tsr_address on_disk{memory, k * bytes}, in_memory{nullptr, reinterpret_cast<std::uintptr_t>(data.get())};
      one.source_space = to_disk ? here : there;
      one.source = to_disk ? in_memory : on_disk;
      one.destination_space = to_disk ? there : here;
      one.destination = to_disk ? on_disk : in_memory;
      one.bytes = bytes;
      one.rows[0] = one.rows[1] = 1;
      disk.check(call.copy(at, stream, &one), "copy");
    }
    tsr_ticket end{};
    disk.check(call.stream_signal(at, stream, &end), "signal");
    disk.check(call.stream_host_wait(at, end, ~std::uint64_t{0}), "wait");
    std::uint64_t reached = 0, failed = 0;
    disk.check(call.stream_progress(at, stream, &reached, &failed), "copies of blocks");
    return double(bytes * blocks) / (now() - began);
  };
  disk_rate r;
  r.first = all(true);
  r.write = all(true);
  r.read = all(false);
  disk.check(call.stream_destroy(at, stream), "end of a stream");
  disk.check(call.mem_free(at, memory), "end of an allocation");
  return r;
}

}  // namespace bench
