#pragma once
// Plugins that are made of gpu_common and can run here.
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

}  // namespace tessera::test
