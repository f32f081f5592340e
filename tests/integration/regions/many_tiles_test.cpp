// Regions on devices whose arrays other regions have split in many ways.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"

namespace tessera {
namespace {

constexpr std::int64_t many_rows = 10'000;

class regions_of_many_tiles : public ::testing::Test {
 protected:
  region_array<double> make(const std::string& name) { return model.make_array<double>(name, {many_rows}); }
  /// Elements i + `add`, by parts of other lengths each time.
  void fill(region_array<double>& a, int add) {
    for (int percent = 20; percent < 69; percent += 7)
      model.region("fill", {.policy = "percentage:10," + std::to_string(90 - percent) + "," + std::to_string(percent)},
                   iterate(0, many_rows), out(a),
                   with_kernel([add](auto i, auto a) { a[i] = double(i + add); }, "(i, a, v) { a[i] = i + v; }", add));
  }
  runtime rt{testing::with_sims(1, "64 MiB", false, 1, "placement = \"eager\"\nhistory = \"off\"\n")};
  location_model model{rt};
};

TEST_F(regions_of_many_tiles, are_kernels_with_fewer_tiles_of_each) {
  std::array<region_array<double>, 7> a{make("a"), make("b"), make("c"), make("d"), make("e"), make("f"), make("g")};
  region_array<double> to = make("to");
  for (std::size_t k = 0; k < a.size(); ++k) fill(a[k], static_cast<int>(k));
  model.region("add", {.policy = "percentage:10,20,70"}, iterate(0, many_rows), in(a[0], whole), in(a[1]), in(a[2]),
               in(a[3]), in(a[4]), in(a[5]), in(a[6]), out(to),
               with_kernel([](auto i, auto a, auto b, auto c, auto d, auto e, auto f, auto g,
                              auto t) { t[i] = a[0] + b[i] + c[i] + d[i] + e[i] + f[i] + g[i]; },
                           "(i, a, b, c, d, e, f, g, t) { t[i] = a[0] + b[i] + c[i] + d[i] + e[i] + f[i] + g[i]; }"));
  const auto seen = to.read_host();
  for (std::int64_t i = 0; i < many_rows; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)], double(6 * i + 21)) << i;
}

}  // namespace
}  // namespace tessera
