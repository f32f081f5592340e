#pragma once
// A region as the analysis understood it: what the emission writes. Plain texts, no Clang.
#include <string>
#include <vector>

namespace tessera::directive {

/// How a region uses an array.
struct array_use {
  /// As of the runtime's intents.
  enum class intent {
    in,
    out,
    inout
  };
  std::string name;          ///< of the variable, and of the body's parameter
  std::string address;       ///< of the first element: an expression
  intent how = intent::in;   ///< read, written whole, or both
  std::string pattern;       ///< "chunk", "halo(1)", "whole"
  std::string row_elements;  ///< expression; empty: one
};

/// A number that the loop reduces to.
struct reduction_use {
  std::string name;       ///< of the variable
  std::string type;       ///< of its elements
  std::string operation;  ///< + * min max && ||
};

/// A number that the kernel's text sees.
struct kernel_value {
  std::string name;   ///< there
  std::string value;  ///< expression of the program, of a type that kernels have
};

/// A loop and what it is called with.
struct region_model {
  std::string name;        ///< for messages: "saxpy.cpp:12"
  std::string at, policy;  ///< expressions; empty: not given
  std::string index_type, index;
  std::string begin, end, step;  ///< expressions; `end` is not reached
  std::vector<array_use> arrays;
  std::vector<reduction_use> reductions;
  std::vector<std::string> captures;  ///< as in a lambda's brackets
  std::string kernel;                 ///< "(i, x, a) { ... }"; empty: the host alone runs it
  std::vector<kernel_value> kernel_values;
};

}  // namespace tessera::directive
