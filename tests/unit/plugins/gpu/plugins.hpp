#pragma once
// Plugins that are made of gpu_common and can run here.
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::test {

inline std::vector<std::string> gpu_plugins() {
  std::vector<std::string> names{"cuda_emulated"};
#if defined(TESSERA_TEST_OPENCL)
  names.emplace_back("opencl");
#endif
  return names;
}

/// How many blocks a grid of a plugin's kernels has at most; what is beyond goes round it. The emulator's are small, so
/// that tests of this are.
inline std::int64_t largest_grid(const std::string& plugin) { return plugin.ends_with("_emulated") ? 64 : 4096; }

}  // namespace tessera::test
