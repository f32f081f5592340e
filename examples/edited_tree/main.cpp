// The tree of locations is edited while loops run over it.
//
// Two groups of one core each share a loop; one leaves, comes back below the other, and the last rows of the result are
// copied to a second array. The answer does not depend on any of it.
#include <tessera/region.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

namespace {

constexpr const char* machine_text = R"(
[runtime]
plugins = ["host"]
[topology]
synthetic = "core:2 pu:1"
[[loctype]]
name = "memory"
kind = "unified"
[[loctype]]
name = "one"
kind = "cpu"
cores = 1
[[location]]
name = "All"
type = "memory"
[[location]]
name = ["Left", "Right"]
type = "one"
[[hierarchy]]
parent = "All"
children = ["Left", "Right"]
)";

}  // namespace

int main() try {
  tessera::runtime rt({.text = machine_text});
  tessera::location_model model(rt);
  constexpr std::int64_t n = 1000;
  auto x = model.make_array<double>("x", {n}), tail = model.make_array<double>("tail", {10});
  const auto loop = [&](const char* when) {
    for (int k = 0; k < 100; ++k)
      model.region("add", {.policy = tessera::policy::flatten}, tessera::iterate(0, n), update(x),
                   [](auto i, auto v) { v[i] += i; });
    std::printf("%s:", when);
    const std::vector<tessera::region_row> rows = model.regions();
    for (const tessera::region_share& s : rows.front().shares)
      std::printf("  %s %d", s.leaf.c_str(), static_cast<int>(s.iterations));
    std::printf("\n");
  };
  loop("both groups");
  model.detach("Right");  // returns when the loops under way there are done
  loop("Left alone");
  model.attach("Right", "Left");
  loop("Right below Left");
  model.fence({.at = "Left"});
  model.copy(x.rows(n - 10, n), tail.rows(0, 10));
  const double last = tail.read()[9];
  std::printf("last element: %.0f\n", last);
  return last == 300.0 * (n - 1) ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return 1;
}
