#include "hierarchy/deepcopy/type_name.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace tessera::hierarchy {

std::string type_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                         &std::free);
  std::string text = status == 0 ? name.get() : type.name();
  for (const std::string noise : {"(anonymous namespace)::", "tessera::"})
    for (std::size_t at; (at = text.find(noise)) != std::string::npos;) text.erase(at, noise.size());
  return text;
}

}  // namespace tessera::hierarchy
