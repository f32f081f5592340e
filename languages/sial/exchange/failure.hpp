#pragma once
// What ends a program while it runs.
#include <stdexcept>
#include <string>

namespace tessera::sial {

/// A run-time error; the worker adds program and line.
struct run_error : std::runtime_error {
  explicit run_error(const std::string& what, std::string with = {})
      : std::runtime_error(what), hint(std::move(with)) {}
  std::string hint;
};

/// Another worker has failed, or the job is interrupted: this one stops without a message of its own.
struct given_up {};

}  // namespace tessera::sial
