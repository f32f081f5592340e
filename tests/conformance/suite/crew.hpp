#pragma once
// Several streams of every device of a plugin, and data whose uses are ordered by tickets alone: what a runtime makes
// of a plugin, in small.
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "tests/conformance/suite/rig.hpp"

namespace tessera::conformance {

/// A piece of data on a device, with the points behind which it may be read or written.
struct cell {
  cell(const device& on, std::uint64_t bytes) : owner(&on), memory(on, compute_space(on), bytes) {}
  const device* owner;
  buffer memory;
  std::optional<tsr_ticket> written;
  std::vector<tsr_ticket> read;
};

/// Host work of a job: gets the host addresses of the cells' contents.
using cell_work = std::function<void(void* const* contents)>;

/// Hands pieces of work to streams at random. Everything that a piece of work needs lives until the crew ends.
class crew {
 public:
  /// Three streams for each device, or as many as it has; where it runs host tasks, some of them dawdle, so that what
  /// is not ordered is seen.
  crew(const opened& all, random_source& random);
  /// Waits for all work.
  ~crew();
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  void upload(cell& to, std::uint64_t offset, std::vector<unsigned char> bytes);
  /// The contents at this point of the program; they are there when finish() has returned.
  const std::vector<unsigned char>& download(cell& from, std::uint64_t bytes);
  /// Bytes of one cell into another one: directly where the device can, through host memory where not.
  void copy(cell& to, std::uint64_t to_offset, cell& from, std::uint64_t from_offset, std::uint64_t bytes);
  /// Whether fill could be used.
  bool fill(cell& to, std::uint64_t offset, const std::vector<unsigned char>& pattern, std::uint64_t count);
  /// Work of the host on whole cells, the first of which it writes: by a host task where they are on one device that
  /// runs them, else by copies out and in.
  void compute(cell& written, std::vector<cell*> read, double flops, cell_work work);
  /// One call that enqueues on the stream that it is given.
  void enqueue(cell& written, std::vector<cell*> read, const std::function<void(const queue&)>& call);

  /// Memory that lives as long as the work: results that nobody reads, workspaces.
  const buffer& scratch(const device& on, std::uint64_t bytes);
  void finish();

 private:
  struct task {
    cell_work work;
    static tsr_status run(void* self, void* const* bases) {
      static_cast<task*>(self)->work(bases);
      return TSR_OK;
    }
  };
  const queue& stream_of(const device& on);
  /// A random stream of the device, made to wait until `written` may be written and `read` be read.
  const queue& begin(const device& on, const std::vector<cell*>& read, cell* written);
  /// What was enqueued on it since then has used these.
  void end(const queue& stream, const std::vector<cell*>& read, cell* written);
  void wait(const queue& stream, const tsr_ticket& ticket);
  void dawdle(const queue& stream);
  std::vector<unsigned char>& relay(std::uint64_t bytes) { return m_relays.emplace_back(bytes); }

  random_source& m_random;
  std::deque<task> m_tasks;  // outlive the streams, like what follows
  std::deque<std::vector<unsigned char>> m_relays;
  std::deque<buffer> m_scratch;
  std::deque<queue> m_streams;
};

}  // namespace tessera::conformance
