#pragma once
// Super instructions that have a form for devices, as operations of the runtime.
#include <array>
#include <cstddef>
#include <vector>

#include "apps/sial/code/code.hpp"
#include "apps/sial/instructions/registry.hpp"
#include "tessera/tessera.hpp"

namespace tessera::sial {

/// The numbers among the arguments of one `execute`, by argument.
struct instruction_numbers {
  std::array<double, SIAL_MAX_RANK> values{};
};

/// What one `execute` of the program can be on devices. `what` null: nothing.
struct instruction_operation {
  const ::tessera::operation::definition* what = nullptr;
};

/// For all of them, by their numbers in code::executions. Those of an instruction that is not known, or has no kernel, or is given more than
/// blocks and numbers that it reads, have none.
std::vector<instruction_operation> instruction_operations(runtime& rt, const code& program, const instruction_registry& known);

}  // namespace tessera::sial
