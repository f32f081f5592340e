#pragma once
// The vendor of this build is the emulator.
#include "plugins/gpu_common/emulator/runtime.hpp"
