// A program outside the tree: tasks over blocks on the machine that is found, with the installed plugins.
#include <tessera/tessera.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>

int main() {
  try {
    constexpr std::int64_t elements = 1000, block = 96;
    tessera::runtime rt;
    std::puts(rt.plugin_line().c_str());
    auto x = rt.make_array<double>("x", {elements}, {block});
    auto y = rt.make_array<double>("y", {elements}, {block});
    for (std::size_t k = 0; k < x.size(); ++k) {
      const double first = static_cast<double>(k) * block;
      rt.submit(
          "count",
          [first](tessera::view<double> v) {
            for (std::int64_t i = 0; i < v.size(); ++i) v[i] = first + static_cast<double>(i);
          },
          tessera::write(x.block(k)));
      tessera::fill(rt, y.block(k), 1.0);
      tessera::axpy(rt, 2.0, x.block(k), y.block(k));  // by the host plugin
    }
    rt.fence();
    double sum = 0;
    for (std::size_t k = 0; k < y.size(); ++k)
      for (const double v : y.block(k).read()) sum += v;
    const double expected = elements + 2.0 * (elements * (elements - 1) / 2);
    std::printf("sum %.0f, expected %.0f\n", sum, expected);
    return sum == expected ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
