#pragma once
// Takes the place of core/base/fence.hpp where headers of the core are compiled for the explorer.
#include <source_location>

#include "tests/models/explorer.hpp"

namespace tessera {

inline void full_fence(std::source_location at = std::source_location::current()) noexcept {
  models::perform_fence(std::memory_order_seq_cst, at);
}

}  // namespace tessera
