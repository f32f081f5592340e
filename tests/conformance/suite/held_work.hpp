#pragma once
// A stream whose work waits, so that what is enqueued behind it can be looked at before it runs.
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "tests/conformance/suite/blocking_task.hpp"
#include "tests/conformance/suite/rig.hpp"

namespace tessera::conformance {

/// What can hold a device's work back.
enum class hold : std::uint8_t {
  gate,    ///< a host task that waits: host tasks run beside the calls that enqueue them
  copies,  ///< a row of large copies, which takes a while
  nothing  ///< the work is done inside the calls: none of it can come late
};

/// Finds out by some work on the stream, which has ended when this returns. Takes milliseconds, but for a plugin that
/// has another thread do the work inside the call (a second).
hold hold_of(const queue& stream);

/// What one copy of a row moves: a few MiB, or what the device's memory and limits leave.
std::uint64_t bytes_of_row(const device& on);

/// A copy that takes the device a while, and the memory it is of. The stream has no work while this is made.
class row_copy {
 public:
  explicit row_copy(const queue& stream);
  const tsr_copy& call() const { return m_call; }

 private:
  std::vector<unsigned char> m_host;
  std::optional<buffer> m_from, m_to;
  tsr_copy m_call{};
};

/// Puts work at the end of a stream that does not end by itself at once: a host task that waits for release() (or for a
/// limit, so that a call that waits for the stream comes back and can be named), or a row of copies. The end of the
/// scope releases it and waits for the stream.
class held_work {
 public:
  /// `how`: gate or copies, as hold_of says. `copies`: how long the row is.
  held_work(const queue& stream, hold how, int copies = 64);
  ~held_work();
  held_work(const held_work&) = delete;
  held_work& operator=(const held_work&) = delete;

  /// Whether the work still waits: what is enqueued behind it has not begun.
  bool holds() const;
  /// Whether release() decides when it ends, and not the device's speed.
  bool is_gate() const { return m_is_gate; }
  /// Whether a call waited for it: the limit ended it, or the call would have run it itself.
  bool ran_out() const { return m_gate.ran_out(); }
  void release() { m_gate.release(); }

  static constexpr std::chrono::seconds limit{5};

 private:
  const queue& m_stream;
  blocking_task m_gate{limit};
  const bool m_is_gate;
  std::optional<row_copy> m_copy;
  tsr_ticket m_last{};
};

}  // namespace tessera::conformance
