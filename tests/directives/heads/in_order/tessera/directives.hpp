#pragma once
// Stands for the library where only the heads of loops matter: a region runs at once, in order. The iterations are
// those of the library.
#include <source_location>
#include <string_view>

#include "../../../../../include/tessera/detail/loop_head.hpp"

namespace tessera {

struct region_options {
  std::string_view policy = {}, at = {};
};

namespace directives {

class in_order {
 public:
  template <class Body>
  void region(const char*, const region_options&, const iteration_space<1>& over, const Body& body) {
    each(over.rows, [&](std::int64_t i) { body(i); });
  }
  template <class Body>
  void region(const char*, const region_options&, const iteration_space<2>& over, const Body& body) {
    if (over.inner[0].begin == over.inner[0].end) return;  // however many there are outside
    each(over.rows, [&](std::int64_t i) { each(over.inner[0], [&](std::int64_t j) { body(i, j); }); });
  }

 private:
  template <class Function>
  static void each(const loop_bounds& loop, const Function& of) {
    for (std::int64_t i = loop.begin; loop.step > 0 ? i < loop.end : i > loop.end;) {
      of(i);
      if (__builtin_add_overflow(i, loop.step, &i)) break;
    }
  }
};
inline in_order model() { return {}; }

}  // namespace directives
}  // namespace tessera
