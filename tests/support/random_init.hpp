#pragma once
// Initialization data of random contents.
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "languages/sial/data/init_data.hpp"

namespace tessera::test_support {

/// Names are lower case and differ; tables of segments may be empty, extents may be 0, numbers reach the ends of their
/// types.
inline sial::init_data random_init(std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const auto name = [&](const char* stem, std::size_t k) {
    std::string made = stem + std::to_string(k);
    for (std::size_t letters = below(12); letters > 0; --letters) made += static_cast<char>('a' + below(26));
    return made;
  };
  const auto integer = [&]() -> std::int64_t {
    switch (below(8)) {
      case 0:
        return std::numeric_limits<std::int32_t>::min();
      case 1:
        return std::numeric_limits<std::int32_t>::max();
      default:
        return static_cast<std::int32_t>(random());
    }
  };
  const auto number = [&]() -> double {
    switch (below(10)) {
      case 0:
        return 0.0;
      case 1:
        return -0.0;
      case 2:
        return std::numeric_limits<double>::denorm_min();
      case 3:
        return -std::numeric_limits<double>::max();
      case 4:
        return std::numeric_limits<double>::infinity();
      case 5:
        return static_cast<double>(below(1000));
      default:
        return std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                          static_cast<int>(below(1200)) - 600);
    }
  };
  const auto extents = [&] {
    std::vector<std::int64_t> dims(1 + below(4));
    for (auto& dim : dims) dim = static_cast<std::int64_t>(below(5));
    return dims;
  };
  const auto product = [](const std::vector<std::int64_t>& dims) {
    std::size_t n = 1;
    for (const auto dim : dims) n *= static_cast<std::size_t>(dim);
    return n;
  };

  sial::init_data data;
  for (std::size_t k = below(4); k > 0; --k) data.programs.push_back(name("Program ", k) + ".siox");
  for (std::size_t k = below(9); k > 0; --k) data.ints[name("i", k)] = integer();
  for (std::size_t k = below(9); k > 0; --k) data.scalars[name("s", k)] = number();
  for (int kind = 0; kind < 7; ++kind) {
    if (below(2) == 0) continue;
    auto& lengths = data.segments[static_cast<sial::index_kind>(kind)];
    lengths.resize(below(6));
    for (auto& length : lengths) length = 1 + static_cast<std::int64_t>(below(50));
  }
  for (std::size_t k = below(4); k > 0; --k) {
    auto& array = data.float_arrays[name("f", k)];
    array.dims = extents();
    array.values.resize(product(array.dims));
    for (auto& value : array.values) value = number();
  }
  for (std::size_t k = below(4); k > 0; --k) {
    auto& array = data.int_arrays[name("n", k)];
    array.dims = extents();
    array.values.resize(product(array.dims));
    for (auto& value : array.values) value = integer();
  }
  for (std::size_t k = below(3); k > 0; --k) {
    auto& options = data.options[name("P", k) + ".siox"];
    for (std::size_t j = below(3); j > 0; --j) options[name("o", j)] = below(2) == 0 ? "" : "a \"quoted\"\t\\ value";
  }
  return data;
}

}  // namespace tessera::test_support
