#pragma once
// What a user says about devices for the statements of programs.
#include <string_view>

#include "languages/sial/interpreter/program_run.hpp"

namespace tessera::sial {

/// "best", "never", "always". Throws tessera::error (usage) for other words.
device_use device_use_of(std::string_view word);

}  // namespace tessera::sial
