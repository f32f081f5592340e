#pragma once
// The random task graph: every task reads two of 1000 handles and updates a third, all three distinct.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/common/measure.hpp"

namespace bench {

inline constexpr std::uint32_t graph_handles = 1000;

struct graph_access {
  std::uint32_t r0, r1, w;
};

inline std::uint64_t mix(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Noise in [-0.5, 0.5) that depends on the indices alone: the same matrix in every program.
inline double noise(long i, long j) {
  return double(mix(std::uint64_t(i) * 65537 + std::uint64_t(j)) >> 40) * 0x1p-24 - 0.5;
}

inline graph_access graph_access_of(std::uint64_t task) {
  const std::uint64_t h = mix(task);
  graph_access a{};
  a.r0 = std::uint32_t((h & 0xffff) % graph_handles);
  a.r1 = std::uint32_t(((h >> 16) & 0xffff) % graph_handles);
  if (a.r1 == a.r0) a.r1 = (a.r1 + 1) % graph_handles;
  a.w = std::uint32_t(((h >> 32) & 0xffff) % graph_handles);
  while (a.w == a.r0 || a.w == a.r1) a.w = (a.w + 1) % graph_handles;
  return a;
}

inline std::vector<graph_access> graph_accesses(long n) {
  std::vector<graph_access> v;
  v.reserve(std::size_t(n));
  for (long i = 0; i < n; ++i) v.push_back(graph_access_of(std::uint64_t(i)));
  return v;
}

/// What a task of the graph computes when results are checked (--check 1).
inline std::uint64_t graph_value(std::uint64_t r0, std::uint64_t r1, std::uint64_t task) {
  return mix(r0 + 3 * r1 + task);
}

/// The values after running the graph `times` times one task after the other, all handles starting at 1.
inline std::vector<std::uint64_t> graph_reference(const std::vector<graph_access>& graph, int times) {
  std::vector<std::uint64_t> v(graph_handles, 1);
  for (int k = 0; k < times; ++k)
    for (std::size_t i = 0; i < graph.size(); ++i) v[graph[i].w] = graph_value(v[graph[i].r0], v[graph[i].r1], i);
  return v;
}

/// Shared values of the peers, whose handles stand for them.
inline std::vector<std::uint64_t> graph_values(graph_handles, 1);
inline void graph_body(const graph_access& a, std::uint64_t task) {
  graph_values[a.w] = graph_value(graph_values[a.r0], graph_values[a.r1], task);
}
inline void graph_verify(const std::vector<graph_access>& graph) {
  if (graph_values != graph_reference(graph, 1)) fail("random graph: wrong result");
}

/// Turns accesses into explicit edges for runtimes without data dependencies (read after write, write after read, write
/// after write): the same order that data-driven runtimes derive themselves.
template <class Node>
class edge_finder {
 public:
  explicit edge_finder(std::size_t handles) : m_state(handles) {}
  /// Calls edge(predecessor) for each predecessor (possibly repeated), then records `self`.
  template <class Edge>
  void access(const graph_access& a, const Node& self, Edge&& edge) {
    read(a.r0, self, edge);
    read(a.r1, self, edge);
    write(a.w, self, edge);
  }

 private:
  struct state {
    Node writer{};
    bool written = false;
    std::vector<Node> readers;
  };
  template <class Edge>
  void read(std::uint32_t h, const Node& self, Edge&& edge) {
    state& s = m_state[h];
    if (s.written) edge(s.writer);
    s.readers.push_back(self);
  }
  template <class Edge>
  void write(std::uint32_t h, const Node& self, Edge&& edge) {
    state& s = m_state[h];
    if (s.readers.empty()) {
      if (s.written) edge(s.writer);
    } else {
      for (const Node& r : s.readers) edge(r);
      s.readers.clear();
    }
    s.writer = self;
    s.written = true;
  }
  std::vector<state> m_state;
};

}  // namespace bench
