#pragma once
// What is wrong with a driver, in a sentence for the user.
#include <string>

namespace tessera::gpu {

/// Why a driver of version `driver` does not do for a runtime of version `runtime`; "" when it does. Versions as CUDA
/// counts them, 1000 major + 10 minor; 0: there is none. Within one major version every driver serves every runtime.
inline std::string complaint_about_driver(const std::string& name, int driver, int runtime) {
  if (driver == 0) return "no driver for " + name + " devices is installed";
  if (driver / 1000 >= runtime / 1000) return {};
  return "the driver serves " + name + " " + std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10) +
         " and older; this plugin needs a driver for " + name + " " + std::to_string(runtime / 1000) + ".0 or newer";
}

}  // namespace tessera::gpu
