#include "languages/sial/job/device_use.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace tessera::sial {

device_use device_use_of(std::string_view word) {
  if (word == "best") return device_use::best;
  if (word == "never") return device_use::never;
  if (word == "always") return device_use::always;
  throw error(error_kind::usage, fmt::format("'{}' is no use of devices", word), "--devices", "best, never or always");
}

}  // namespace tessera::sial
