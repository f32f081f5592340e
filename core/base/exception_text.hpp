#pragma once
// The words of exceptions that are not ours.
#include <exception>

namespace tessera {

/// what() of an exception of any origin, which may be a null pointer.
inline const char* text_of(const std::exception& thrown) noexcept {
  const char* const words = thrown.what();
  return words != nullptr ? words : "an exception without a text (its what() is a null pointer)";
}

}  // namespace tessera
