#pragma once
// What the user says about OpenCL's devices beyond what every GPU plugin has.
#include <string>
#include <vector>

#include "plugins/gpu_common/abi/settings.hpp"
#include "plugins/opencl/clblast.hpp"
#include "plugins/opencl/programs.hpp"

namespace tessera::gpu::opencl {

struct choices {
  std::string platform, device;  ///< numbers, or parts of names; "": any
  program_options programs;
  clblast_use clblast = clblast_use::gpus;
};

/// The options of every GPU plugin and ours.
std::vector<tsr_option> all_options();

choices read_choices(const kit::option_reader& option);

/// Whether the user means device `ordinal`; never one that our kernels cannot run on.
bool accepts(const choices& choice, int ordinal);

/// Why accepts() said no to every device, and which there are.
std::string why_none(const choices& choice);

}  // namespace tessera::gpu::opencl
