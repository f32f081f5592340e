// Fill, swap, single elements.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "languages/sial/instructions/builtin/arguments.hpp"
#include "languages/sial/instructions/builtin/builtin.hpp"

namespace tessera::sial {
namespace {

/// wr: v, v + 1, ... in the order of storage.
void fill_sequential(const instruction_call& c) {
  double value = scalar(c.arguments[1]);
  for (double& element : elements(c.arguments[0])) element = value++;
}

/// wr: v, v + 1, ... and 1 after 20.
void fill_cyclic(const instruction_call& c) {
  double value = scalar(c.arguments[1]);
  for (double& element : elements(c.arguments[0])) {
    element = value++;
    if (value > 20) value = 1;
  }
}

void swap(const instruction_call& c) {
  expect_same_extents(c.arguments[0], c.arguments[1]);
  std::ranges::swap_ranges(elements(c.arguments[0]), elements(c.arguments[1]));
}

void first_element(const instruction_call& c) { *c.arguments[1].data = *c.arguments[0].data; }

void single_element(const instruction_call& c) { *c.arguments[1].data = scalar(c.arguments[0]); }

/// rw: the largest magnitude; no number where an element is none.
void largest_magnitude(const instruction_call& c) {
  double largest = 0;
  for (const double element : elements(c.arguments[0])) {
    const double magnitude = std::abs(element);
    if (!(magnitude <= largest)) largest = magnitude;
    if (std::isnan(magnitude)) break;
  }
  scalar(c.arguments[1]) = largest;
}

}  // namespace

std::vector<instruction> element_instructions() {
  return {{"fill_block_sequential", {"wr", "ur"}, {}, fill_sequential},
          {"fill_block_cyclic", {"wr", "ur"}, {}, fill_cyclic},
          {"swap_blocks", {"uu"}, {}, swap},
          {"get_first_block_element", {"rw", "ru"}, {}, first_element},
          {"return_sval", {"rw", "ru"}, {}, single_element},
          {"check_dconf", {"rw", "ru"}, {}, largest_magnitude}};
}

}  // namespace tessera::sial
