#pragma once
// A resource that several streams share in modelled time: one direction of a link, the compute units of a device.
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace tessera::sim {

/// Keeps which spans of modelled time are taken, on one or more lanes. Requests arrive in the order in which the
/// streams' threads happen to run, which is not the order of their modelled times; so a request takes the *first gap*
/// that is not before its own time, and the result hardly depends on the threads. Thread-safe.
class channel {
 public:
  explicit channel(std::uint32_t lanes = 1) : m_lanes(lanes == 0 ? 1 : lanes) {}

  /// Takes `duration` nanoseconds on the lane that is free first, not before `earliest`; returns when they begin.
  std::uint64_t reserve(std::uint64_t earliest, std::uint64_t duration);

 private:
  struct lane {
    std::map<std::uint64_t, std::uint64_t> taken;  // begin -> end, disjoint, adjacent ones joined
    std::uint64_t floor = 0;                       // before this nothing is given out any more
    std::uint64_t first_gap(std::uint64_t earliest, std::uint64_t duration) const;
    void take(std::uint64_t begin, std::uint64_t duration);
  };
  std::mutex m_mutex;
  std::vector<lane> m_lanes;
};

}  // namespace tessera::sim
