#pragma once
// What directives become: calls of the public interface, as text, in which the parts of the program are marked as such
// (shield.hpp). Pure: no Clang.
#include <functional>
#include <string>
#include <string_view>

#include "languages/directives/text/model.hpp"
#include "languages/directives/text/parse.hpp"

namespace tessera::directive {

/// Whether a name is a variable of the program where the directive stands. `at(LocA)` means the location of that name
/// unless it is.
using is_variable = std::function<bool(std::string_view)>;

/// Statements for a directive that stands for itself (all but regions and pointerchain). Throws syntax_error for
/// arguments that mean nothing.
std::string statement_of(const directive& d, const is_variable& variable);

/// An argument that names a location, a policy or a file, as an expression.
std::string name_expression(const placed_text& argument, const is_variable& variable);

/// The policy of exec_pol, as an expression. Throws syntax_error for a literal that is no policy (hint: the nearest).
std::string policy_expression(const placed_text& argument, const is_variable& variable);

/// Whether such an expression is the policy `any`, written as a literal: the whole loop goes to one leaf.
bool means_any(const std::string& policy);

/// A chain as a call of the library, `tessera::chain(sim, &simulation::atoms, &atoms::x)`, with the ranges behind it
/// where there are any.
std::string chain_expression(const chain_path& path, const std::vector<section::range>& ranges);

/// A region's call up to its body, which follows as a block.
std::string region_head(const region_model& region);
/// What stands behind the block.
std::string region_tail(const region_model& region);

/// A text as a literal of C++.
std::string literal(std::string_view text);

}  // namespace tessera::directive
