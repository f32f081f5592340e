#pragma once
// A region as the analysis understood it: what the emission writes. Plain texts, no Clang.
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::directive {

/// How a region uses an array.
struct array_use {
  /// As of the runtime's intents.
  enum class intent {
    read,
    write,
    update
  };
  std::string name;           ///< of the variable, and of the body's parameter
  std::string address;        ///< of the first element: an expression
  std::string elements;       ///< of a chain with a range: the variable that has them; empty: an array of the program
  intent how = intent::read;  ///< read, written whole, or both
  std::string pattern;        ///< "chunk", "halo(1)", "whole"
  std::string row_elements;   ///< expression; empty: one
  std::int64_t surely_from = 0, surely_to = 0;  ///< as of tessera::access_pattern
  std::size_t subscripts = 1;                   ///< by which the body names an element
};

/// A number that the loop reduces to.
struct reduction_use {
  std::string name;       ///< of the variable
  std::string type;       ///< of its elements
  std::string operation;  ///< + * min max && ||
  std::string result;     ///< a name that the program does not have
  std::string part = {};  ///< another one, for the number behind a truth value
  bool bits = false;      ///< its steps are &= or |=

  bool is_truth() const { return operation == "&&" || operation == "||"; }
};

/// A number that the kernel's text sees.
struct kernel_value {
  std::string name;   ///< there
  std::string value;  ///< expression of the program, of a type that kernels have
};

/// One loop, its parts as expressions.
struct loop_model {
  std::string index_type, index;
  std::string begin, bound, step;
  std::string test;               ///< the condition: an enumerator of tessera::directives::loop_test
  bool down = false;              ///< the step is taken away
  unsigned line = 0, column = 0;  ///< of the condition
};

/// Loops and what they are called with.
struct region_model {
  std::string name;               ///< for messages: "saxpy.cpp:12"
  std::string at, policy;         ///< expressions; empty: not given
  std::vector<loop_model> loops;  ///< one, or as many as `collapse` says; the first is split
  std::vector<array_use> arrays;
  std::vector<reduction_use> reductions;
  std::vector<std::string> captures;  ///< as in a lambda's brackets
  std::string kernel;                 ///< "(i_, x_, a_) { ... }"; empty: the host alone runs it
  std::vector<kernel_value> kernel_values;
};

/// A chain of pointers, as the library follows it.
struct chain_path {
  /// A step from what was reached.
  struct link {
    bool is_element = false;  ///< one of several objects; else a member
    std::string text;         ///< an index, or a pointer to a member: "&atoms::x"
  };
  std::string root;  ///< an expression: an object, or a pointer to one
  std::vector<link> links;
};

}  // namespace tessera::directive
