#pragma once
// What the depth-first search remembers: decisions on the way, states that it has been in, which steps need no other
// order.
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "tests/models/explorer.hpp"

namespace tessera::models {

/// One place in an execution where it might have gone on in another way.
struct decision {
  boost::container::small_vector<std::uint8_t, 8> options;
  std::size_t taken = 0;
  std::uint32_t asleep =
      0;  // a bit per thread: whatever it does next was explored before, and nothing since has met it
};

/// States from which everything was explored already, each with the threads that slept then. A state is known by what
/// each thread has done and read, by the order of modifications of each location, and by what is sequentially
/// consistent.
class known_states {
 public:
  /// Whether the rest is covered; else it is from now on.
  bool covers(std::uint64_t state, std::uint32_t asleep) {
    auto& masks = m_known[state];
    for (const std::uint32_t m : masks)
      if ((m & ~asleep) == 0) return true;
    masks.push_back(asleep);
    return false;
  }

 private:
  std::unordered_map<std::uint64_t, boost::container::small_vector<std::uint32_t, 2>> m_known;
};

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {  // the finalizer of splitmix64
  std::uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

struct step_kind {
  action what = action::load;
  std::uint32_t location = 0;
  bool sequential = false;
};

/// Whether two operations lead to the same state in either order.
inline bool independent(const step_kind& a, const step_kind& b) {
  if (a.sequential && b.sequential) return false;
  if (a.what == action::fence || b.what == action::fence || a.location != b.location) return true;
  return a.what == action::load && b.what == action::load;
}

}  // namespace tessera::models
