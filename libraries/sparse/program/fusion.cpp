#include "libraries/sparse/program/fusion.hpp"

#include <algorithm>
#include <unordered_map>

namespace tessera::sparse {
namespace {

/// Passes in which a block vector was used so far; -1: in none.
struct vector_history {
  int made = -1, read_here = -1, read_elsewhere = -1;
  int ready = 0;  ///< the first pass whose operations may use it: tasks in front of that have made it
};

/// The same of a small matrix.
struct small_history {
  int ready = -1;         ///< the first pass whose operations may use it
  int made_by_rows = -1;  ///< the pass of the reduction that made it
  int read_by_rows = -1, read_by_small = -1;
};

class planner {
 public:
  int pass_of(const operation& o) {
    const int found = std::max(0, o.kind == operation_kind::small ? of_small(o)
                                  : o.has_whole_blocks()          ? of_whole_blocks(o)
                                                                  : of_rows(o));
    note(o, found);
    return found;
  }

 private:
  int of_small(const operation& o) {
    int at = 0;
    for (const auto& s : o.small_from) at = std::max(at, m_small[s.get()].ready);
    for (const auto& s : o.small_to) {
      const small_history& h = m_small[s.get()];
      at = std::max({at, h.ready, h.read_by_rows + 1, h.read_by_small});
    }
    return at;
  }

  /// In front of a pass: all rows of its source are made in earlier ones, and nobody there uses its destination.
  int of_whole_blocks(const operation& o) {
    int at = 0;
    for (const auto& v : o.from) at = std::max({at, m_vectors[v.get()].made + 1, m_vectors[v.get()].ready});
    for (const auto& v : o.to) {
      const vector_history& h = m_vectors[v.get()];
      at = std::max({at, h.made + 1, h.read_here + 1, h.read_elsewhere + 1, h.ready});
    }
    return at;
  }

  int of_rows(const operation& o) {
    int at = 0;
    for (const auto& v : o.from) {
      const vector_history& h = m_vectors[v.get()];
      at = std::max({at, h.made + static_cast<int>(o.kind == operation_kind::mxm), h.ready});
    }
    for (const auto& v : o.to) {
      const vector_history& h = m_vectors[v.get()];
      at = std::max({at, h.made, h.read_here, h.read_elsewhere + 1, h.ready});
    }
    for (const auto& s : o.small_from) at = std::max(at, m_small[s.get()].ready);
    for (const auto& s : o.small_to) {
      const small_history& h = m_small[s.get()];
      at = std::max({at, h.ready, h.made_by_rows + 1, h.read_by_rows, h.read_by_small});
    }
    return at;
  }

  void note(const operation& o, int at) {
    if (o.has_whole_blocks()) {
      for (const auto& v : o.from)
        m_vectors[v.get()].read_elsewhere = std::max(m_vectors[v.get()].read_elsewhere, at - 1);
      for (const auto& v : o.to) m_vectors[v.get()].ready = at;
      return;
    }
    const bool small = o.kind == operation_kind::small;
    for (const auto& v : o.from) {
      vector_history& h = m_vectors[v.get()];
      int& read = o.kind == operation_kind::mxm ? h.read_elsewhere : h.read_here;
      read = std::max(read, at);
    }
    for (const auto& v : o.to) m_vectors[v.get()].made = at;
    for (const auto& s : o.small_from) {
      small_history& h = m_small[s.get()];
      int& read = small ? h.read_by_small : h.read_by_rows;
      read = std::max(read, at);
    }
    for (const auto& s : o.small_to) {
      small_history& h = m_small[s.get()];
      h.ready = small ? at : at + 1;
      h.made_by_rows = small ? -1 : at;
    }
  }

  std::unordered_map<const vector_data*, vector_history> m_vectors;
  std::unordered_map<const small_data*, small_history> m_small;
};

}  // namespace

std::vector<pass> fuse(std::span<const operation> operations) {
  planner plan;
  std::vector<pass> passes;
  for (std::size_t k = 0; k < operations.size(); ++k) {
    const auto at = static_cast<std::size_t>(plan.pass_of(operations[k]));
    if (at >= passes.size()) passes.resize(at + 1);
    (operations[k].is_between_passes() ? passes[at].small : passes[at].panels).push_back(k);
  }
  return passes;
}

}  // namespace tessera::sparse
