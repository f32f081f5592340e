#pragma once
// A super instruction: what `execute NAME` calls.
#include <tessera/sial.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::sial {

class instruction_job;

/// One call. The arguments are as many as the signature has letters.
struct instruction_call {
  instruction_job& job;
  std::span<const sial_argument> arguments;
};

/// The form for devices; see sial_kernel.
struct instruction_kernel {
  std::string name, text;
  std::size_t over = 0;  ///< one thread for each element of this argument
};

/// A name, what it takes, and what it does.
struct instruction {
  std::string name;                     ///< lower case
  std::vector<std::string> signatures;  ///< forms that it is declared with: "rw", "ru"; letters r, w, u
  std::string library;                  ///< the file that it is from; "" for built-in ones
  /// Runs on the calling thread. A failure is an exception; what is not a tessera::error is its text alone.
  std::function<void(const instruction_call&)> run;
  std::optional<instruction_kernel> kernel = {};
};

/// Calls an instruction, then takes back its scratch memory. Safe for several threads at once when their jobs differ.
/// Throws tessera::error (kind task) with the instruction's name and its words when it fails.
void execute(const instruction& what, instruction_job& job, std::span<const sial_argument> arguments);

}  // namespace tessera::sial
