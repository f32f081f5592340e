#pragma once
// Structures for tests of deep copies.
#include <cstdint>

#include "tessera/deep_copy.hpp"

namespace deepcopy_test {

/// A list, or a ring.
struct link {
  double* values = nullptr;
  link* next = nullptr;
  link* first = nullptr;  ///< of the list
  std::int32_t count = 0;
  std::int32_t number = 0;
};
inline void describe(link& l, tessera::description& to) {
  to.array("values", l.values, l.count);
  to.pointer("next", l.next);
  to.pointer("first", l.first);
  to.scalar("count", l.count);
  to.scalar("number", l.number);
}

/// Characters in place, or elsewhere.
struct buffer {
  char inl[16] = {};
  char* p = nullptr;
  std::int64_t n = 0;
};
inline void describe(buffer& b, tessera::description& to) {
  to.array("p", b.p, b.n);
  to.scalar("inl", b.inl);
  to.scalar("n", b.n);
}
/// One that is described as a number, and its pointer as well.
struct buffer_holder {
  buffer b;
};
inline void describe(buffer_holder& h, tessera::description& to) {
  to.scalar("b", h.b);
  to.array("p", h.b.p, h.b.n);
}
/// A tree of arrays of nodes.
struct branch {
  branch* children = nullptr;
  branch* parent = nullptr;
  float* weights = nullptr;
  std::int64_t child_count = 0;
  std::int64_t weight_count = 0;
};
inline void describe(branch& b, tessera::description& to) {
  to.array("children", b.children, b.child_count);
  to.pointer("parent", b.parent);
  to.array("weights", b.weights, b.weight_count);
  to.scalar("child_count", b.child_count);
  to.scalar("weight_count", b.weight_count);
}

/// A table that several objects use, and that nobody changes.
struct table_user {
  const double* table = nullptr;
  double* own = nullptr;
  std::int64_t table_count = 0;
  std::int64_t own_count = 0;
  std::int64_t undescribed = 0;
};
inline void describe(table_user& u, tessera::description& to) {
  to.array("table", u.table, u.table_count);
  to.array("own", u.own, u.own_count);
  to.scalar("table_count", u.table_count);
  to.scalar("own_count", u.own_count);
}
struct table_users {
  table_user* left = nullptr;
  table_user* right = nullptr;
};
inline void describe(table_users& u, tessera::description& to) {
  to.pointer("left", u.left);
  to.pointer("right", u.right);
}

}  // namespace deepcopy_test
