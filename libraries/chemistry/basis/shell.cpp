#include "libraries/chemistry/basis/shell.hpp"

namespace tessera::chemistry {

std::size_t functions(const shell& of) noexcept {
  const auto l = static_cast<std::size_t>(of.momentum);
  return of.spherical ? 2 * l + 1 : (l + 1) * (l + 2) / 2;
}

std::size_t functions(std::span<const shell> of) noexcept {
  std::size_t sum = 0;
  for (const shell& one : of) sum += functions(one);
  return sum;
}

std::vector<std::size_t> first_functions(std::span<const shell> of) {
  std::vector<std::size_t> firsts = {0};
  firsts.reserve(of.size() + 1);
  for (const shell& one : of) firsts.push_back(firsts.back() + functions(one));
  return firsts;
}

}  // namespace tessera::chemistry
