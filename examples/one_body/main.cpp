// Bodies that are written once, for the host and for devices (docs/kernels.md#one-body-for-host-and-device).
//
// Heat flows through a plate: a loop over its elements as a region, which the cores and an emulated GPU share, with the
// sum of what changed as its result. Then a task on the GPU squares a block.
#include <tessera/region.hpp>
#include <tessera/tessera.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>

namespace {

constexpr const char* machine_text = R"(
[runtime]
plugins = ["host", "cuda_emulated"]
)";

}  // namespace

int main() try {
  tessera::runtime rt({.text = machine_text});
  tessera::location_model model(rt);
  const std::int64_t rows = 200, columns = 100;
  auto now = model.make_array<double>("now", {rows, columns}), next = model.make_array<double>("next", {rows, columns});
  tessera::region_result<double> change(rt, "change");

  model.region("start", tessera::iterate({0, rows}, {0, columns}), write(now), write(next),
               TESSERA_BODY((), (auto i, auto j, auto old, auto to), {
                 old(i, j) = i == 0 ? 100 : 0;  // a hot edge
                 to(i, j) = old(i, j);
               }));
  const double rate = 0.2;
  for (int step = 0; step < 50; ++step) {
    model.region("heat", tessera::iterate({1, rows - 1}, {1, columns - 1}), read(now, tessera::halo(1)), update(next),
                 sum(change), TESSERA_BODY((rate), (auto i, auto j, auto old, auto to, auto& sum), {
                   const auto here = old(i, j);
                   const auto around = old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1);
                   to(i, j) = here + rate * (around - 4 * here);
                   sum += std::abs(to(i, j) - here);
                 }));
    std::swap(now, next);
  }
  for (const tessera::region_row& region : model.regions())
    for (const tessera::region_share& share : region.shares)
      std::printf("%-5s on %-14s %lld rows\n", region.name.c_str(), share.leaf.c_str(),
                  static_cast<long long>(share.iterations));
  std::printf("changed by %.6f in the last step\n", change.get());

  // A task: the loop is inside of it, and its blocks are seen as views.
  auto x = rt.make_array<double>("x", {1000}, {1000});
  for (const char* place : {"numa0", "cuda_emulated0"}) {
    tessera::fill(rt, x(0), 3);
    rt.submit("square", {.at = rt.at(place)},
              tessera::loop(tessera::iterate(0, 1000), TESSERA_BODY((rate), (auto i, auto v),
                                                                    {
                                                                      if (i % 2 == 1) return;  // the iteration ends
                                                                      v[i] = v[i] * v[i] + rate;
                                                                    })),
              tessera::update(x(0)));
    const auto seen = x(0).read();
    std::printf("%-14s %.1f %.1f\n", place, seen[0], seen[1]);
    if (std::abs(seen[998] - 9.2) > 1e-12 || seen[999] != 3) return 1;
  }

  // The same loop by hand.
  double here[200][100] = {}, there[200][100] = {}, changed = 0;
  for (std::int64_t j = 0; j < columns; ++j) here[0][j] = there[0][j] = 100;
  for (int step = 0; step < 50; ++step) {
    changed = 0;
    auto& from = step % 2 == 0 ? here : there;
    auto& to = step % 2 == 0 ? there : here;
    for (std::int64_t i = 1; i < rows - 1; ++i)
      for (std::int64_t j = 1; j < columns - 1; ++j) {
        to[i][j] =
            from[i][j] + rate * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1] - 4 * from[i][j]);
        changed += std::abs(to[i][j] - from[i][j]);
      }
  }
  return std::abs(change.get() - changed) < 1e-9 * changed ? 0 : 1;
} catch (const tessera::error& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return tessera::exit_code_of(e.kind());
}
