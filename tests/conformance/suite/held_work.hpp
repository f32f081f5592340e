#pragma once
// A stream whose work waits, so that what is enqueued behind it can be looked at before it runs.
#include <atomic>
#include <chrono>
#include <optional>

#include "tests/conformance/suite/rig.hpp"

namespace tessera::conformance {

/// Puts work at the end of a stream that does not end by itself at once: where the device runs host tasks, one that waits for release()
/// (or for a limit, so that a call that waits for the stream comes back and can be named); elsewhere a row of large copies.
/// The end of the scope releases it and waits for the stream.
class held_work {
 public:
  /// `copies`: how long the row is.
  explicit held_work(const queue& stream, int copies = 64);
  ~held_work();
  held_work(const held_work&) = delete;
  held_work& operator=(const held_work&) = delete;

  /// Whether the work still waits: what is enqueued behind it has not begun.
  bool holds() const;
  /// Whether release() decides when it ends, and not the device's speed.
  bool is_gate() const { return m_is_gate; }
  /// Whether the limit ended it, because a call waited for it.
  bool ran_out() const { return m_gate.ran_out; }
  void release() { m_gate.open = true; }

  static constexpr std::chrono::seconds limit{5};

 private:
  struct gate {
    std::atomic<bool> open{false}, ran_out{false};
    static tsr_status wait(void* self, void* const* bases);
  };
  const queue& m_stream;
  gate m_gate;
  bool m_is_gate;
  std::vector<unsigned char> m_bytes;
  std::optional<buffer> m_memory;
  tsr_ticket m_last{};
};

}  // namespace tessera::conformance
