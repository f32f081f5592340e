// Element work that needs absolute numbers of elements.
#include <fmt/format.h>

#include "languages/sial/instructions/builtin/arguments.hpp"
#include "languages/sial/instructions/builtin/builtin.hpp"

namespace tessera::sial {
namespace {

/// X / Y where Y is not 0; X elsewhere.
void divide_where_not_zero(const sial_argument& x, const sial_argument& y) {
  expect_same_extents(x, y);
  for (std::int64_t k = 0; k < x.elements; ++k)
    if (y.data[k] != 0) x.data[k] /= y.data[k];
}

/// ur, ranks 3 and 5.
void invert_diagonal(const instruction_call& c) {
  expect_rank(c.arguments[0], 3, 5);
  divide_where_not_zero(c.arguments[0], c.arguments[1]);
}

/// ur, rank 5 (k, a, i, b, j): also 0 where a = b or i = j.
void invert_diagonal_asym(const instruction_call& c) {
  const sial_argument& x = c.arguments[0];
  expect_rank(x, 5, 5);
  divide_where_not_zero(x, c.arguments[1]);
  for_each_element(x, [&](std::int64_t k, const std::int64_t* n) {
    if (n[1] == n[3] || n[2] == n[4]) x.data[k] = 0;
  });
}

/// u, rank 2 (p, q) or 4 (p, q, r, s): 0 but where p = q and r = s.
void keep_diagonal(const instruction_call& c) {
  const sial_argument& x = c.arguments[0];
  expect_rank(x, 2, 4);
  for_each_element(x, [&](std::int64_t k, const std::int64_t* n) {
    if (n[0] != n[1] || (x.rank == 4 && n[2] != n[3])) x.data[k] = 0;
  });
}

}  // namespace

std::vector<instruction> diagonal_instructions() {
  return {{"invert_diagonal", {"ur"}, {}, invert_diagonal},
          {"invert_diagonal_asym", {"ur"}, {}, invert_diagonal_asym},
          {"return_diagonal_elements", {"u"}, {}, keep_diagonal}};
}

}  // namespace tessera::sial
