#pragma once
// Super instructions that have a form for devices, as operations of the runtime.
#include <array>
#include <cstddef>
#include <vector>

#include "languages/sial/code/code.hpp"
#include "languages/sial/instructions/registry.hpp"
#include "tessera/front_end.hpp"
#include "tessera/tessera.hpp"

namespace tessera::sial {

/// The numbers among the arguments of one `execute`, by argument.
struct instruction_numbers {
  std::array<double, SIAL_MAX_RANK> values{};
};

/// What each `execute` of the program can be on devices, by its number in code::executions. Null for those of an
/// instruction that is not known, or has no kernel, or is given more than blocks and numbers that it reads.
std::vector<const ::tessera::operation::definition*> instruction_operations(runtime& rt, const code& program,
                                                                            const instruction_registry& known);

}  // namespace tessera::sial
