#pragma once
// While validating: what a region's tasks use, and the two forms of its body beside each other.
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "core/operation/definition.hpp"
#include "hierarchy/region/kernel_text.hpp"
#include "hierarchy/region/undeclared.hpp"
#include "tessera/region.hpp"

namespace tessera::hierarchy {

/// A body that is looked at, and whose forms are compared.
struct two_forms {
  runtime* owner = nullptr;
  operation::host_function function = nullptr;    ///< one form
  const operation::definition* kernel = nullptr;  ///< the other one: an operation that has no function; null: none
  detail::find_uses uses = nullptr;               ///< of a task's arguments
  std::string region = {};                        ///< its name
  std::source_location site = {};                 ///< where it is in the program
  std::vector<declared_use> declared = {};        ///< the arrays and results, one per use
  double rounding = 0;                            ///< a difference that is no finding
};

/// definition::data of a region's kernel.
struct kernel_layout {
  std::vector<kernel_use> uses;                 ///< with as many tiles as the kernel takes
  std::unique_ptr<const two_forms> compared{};  ///< null: nothing is compared
};

/// The function of an operation whose data is a kernel_layout with `compared`: runs the function, and the kernel on
/// copies of what it writes, on this thread. What differs beyond rounding is a finding of validation. Integers differ
/// by anything; floating-point numbers by more than a few thousand units in the last place of both and of the largest
/// one around, in results more. Without a C compiler the function runs alone. What is found of rows that the task has
/// not declared (surroundings) comes first, and is all that is said.
void run_both_forms(const operation::context& c);

/// The same for a body without a kernel.
void run_surrounded(const operation::context& c);

/// Of such an operation, what a device has made: runs the function on the host, and compares in the same way. The
/// device's results stay. Where the function throws, which a text cannot, nothing is compared. See
/// validate::device_check.
void compare_with_device(const operation::context& before, std::span<const operation::operand> after);

}  // namespace tessera::hierarchy
