// The program of docs/regions.md: a loop over arrays, split over whatever executes.
#include <tessera/region.hpp>

#include <cstdio>

int main() {
  tessera::runtime rt;  // this machine, or the one that TESSERA_CONFIG names
  tessera::location_model model(rt);
  const std::int64_t n = 1'000'000;
  auto x = model.make_array<double>("x", {n});
  auto y = model.make_array<double>("y", {n});
  tessera::region_result<double> total(rt, "total");
  model.region("count", tessera::iterate(0, n), write(x), [](auto i, auto v) { v[i] = double(i); });
  model.region("mean", tessera::iterate(1, n - 1), read(x, tessera::halo(1)), write(y),
               [](auto i, auto from, auto to) { to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3; });
  model.region("sum", tessera::iterate(0, n), read(y), sum(total), [](auto i, auto v, double& s) { s += v[i]; });
  std::printf("%.0f\n", total.get());  // waits for the loops that make it
  return total.get() == 499'998'500'001.0 ? 0 : 1;
}
