#pragma once
// What a thread has seen: the memory model as views (Kang et al., "A promising semantics for relaxed-memory
// concurrency", POPL 2017, without promises; Lahav et al., "Repairing sequential consistency in C/C++11", PLDI 2017,
// for what is sequentially consistent).
#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::models {

inline constexpr std::size_t max_threads = 8;
using stamp = std::uint64_t;  ///< place of a store in the order of modifications of its location

/// Per location the oldest store that may still be read.
class bounds {
 public:
  stamp at(std::uint32_t location) const noexcept { return location < m_oldest.size() ? m_oldest[location] : 0; }
  void raise(std::uint32_t location, stamp to) {
    if (location >= m_oldest.size()) m_oldest.resize(location + 1, 0);
    m_oldest[location] = std::max(m_oldest[location], to);
  }
  void join(const bounds& other) {
    if (other.m_oldest.size() > m_oldest.size()) m_oldest.resize(other.m_oldest.size(), 0);
    for (std::size_t k = 0; k < other.m_oldest.size(); ++k) m_oldest[k] = std::max(m_oldest[k], other.m_oldest[k]);
  }

  /// Calls function(location, stamp) for what is not 0.
  template <class Function>
  void for_each(Function&& function) const {
    for (std::uint32_t k = 0; k < m_oldest.size(); ++k)
      if (m_oldest[k] != 0) function(k, m_oldest[k]);
  }

 private:
  boost::container::small_vector<stamp, 6> m_oldest;
};

/// Bounds, and what happened before: per thread the number of its steps.
struct view {
  bounds of;
  std::array<std::uint32_t, max_threads> steps{};
  void join(const view& other) {
    of.join(other.of);
    for (std::size_t k = 0; k < steps.size(); ++k) steps[k] = std::max(steps[k], other.steps[k]);
  }
};

/// One store in the order of modifications.
struct stored {
  stamp at = 0;
  std::uint64_t value = 0;
  std::uint64_t name = 0;    ///< thread, and which of its stores; 0: what it was constructed with
  bool by_exchange = false;  ///< nothing comes between it and the store before it, which it has read
  view released;             ///< what a thread has seen that acquires it
};

/// One location's stores, oldest first.
struct location {
  std::uint64_t name = 0;  ///< the same in all executions
  std::vector<stored> stores;
  stamp notified = 0;  ///< the newest store that a thread had seen when it notified here
};

}  // namespace tessera::models
