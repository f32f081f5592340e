#pragma once
// The body of a loop as a kernel's text in tessera-c, where it is plain arithmetic on arrays and numbers.
#include <string>
#include <vector>

#include "languages/directives/clang/body.hpp"
#include "languages/directives/text/model.hpp"

namespace tessera::directive {

/// A kernel's text, or why there is none.
struct kernel_text {
  std::string text;                  ///< "(i_, x_, a_) { ... }"; empty: there is none
  std::vector<kernel_value> values;  ///< behind the uses
  std::string why_not;
  clang::SourceLocation where;  ///< of what cannot be in a kernel
};
kernel_text write_kernel(const loop_nest& nest, const body_facts& facts, const std::vector<body_reduction>& reductions,
                         const chain_names& chains, clang::ASTContext& context);

}  // namespace tessera::directive
