// Heat in a rod: a stencil on blocks.
//
// The rod has n points in blocks. A step computes each block from three: itself and its neighbours. No barrier
// separates the steps; a block's next step starts as soon as its own neighbours are done with this one.
#include <tessera/tessera.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>

namespace {

constexpr std::int64_t points = 4000, block = 250, steps = 200;
constexpr double r = 0.4;  // diffusivity * time step / spacing^2; stable up to 0.5

using rod = tessera::view<const double>;

// The ends of the rod are kept at 0. `left` and `right` are the neighbouring values of the block.
void step(rod now, double left, double right, tessera::view<double> next) {
  const std::int64_t n = now.size();
  for (std::int64_t i = 0; i < n; ++i) {
    const double before = i > 0 ? now[i - 1] : left, after = i + 1 < n ? now[i + 1] : right;
    next[i] = now[i] + r * (before - 2 * now[i] + after);
  }
}

}  // namespace

int main() try {
  tessera::runtime rt;
  auto now = rt.make_array<double>("now", {points}, {block});
  auto next = rt.make_array<double>("next", {points}, {block});
  auto heat = rt.make_array<double>("heat", {1}, {1});
  const std::int64_t blocks = now.counts()[0];
  const double angle = std::numbers::pi / static_cast<double>(points + 1);

  // Half a sine wave keeps its form: every step multiplies it by the same factor, which gives us the exact answer.
  const double factor = 1 - 4 * r * std::pow(std::sin(angle / 2), 2);
  for (std::int64_t k = 0; k < blocks; ++k)
    rt.submit(
        "start",
        [angle, first = k * block](tessera::view<double> x) {
          for (std::int64_t i = 0; i < x.size(); ++i) x[i] = std::sin(angle * static_cast<double>(first + i + 1));
        },
        tessera::write(now(k)));

  for (std::int64_t s = 0; s < steps; ++s) {
    for (std::int64_t k = 0; k < blocks; ++k) {
      const auto self = tessera::read(now(k));
      const auto to = tessera::write(next(k));  // all elements: the old ones are not fetched
      if (k == 0)
        rt.submit(
            "first", [](rod x, rod right, tessera::view<double> y) { step(x, 0, right[0], y); }, self,
            tessera::read(now(k + 1)), to);
      else if (k + 1 == blocks)
        rt.submit(
            "last", [](rod x, rod left, tessera::view<double> y) { step(x, left[left.size() - 1], 0, y); }, self,
            tessera::read(now(k - 1)), to);
      else
        rt.submit(
            "inner",
            [](rod x, rod left, rod right, tessera::view<double> y) { step(x, left[left.size() - 1], right[0], y); },
            self, tessera::read(now(k - 1)), tessera::read(now(k + 1)), to);
    }
    std::swap(now, next);  // names of arrays change place; the tasks that were submitted keep their blocks
  }

  tessera::fill(rt, heat(0), 0.0);
  for (std::int64_t k = 0; k < blocks; ++k)
    rt.submit(
        "sum",
        [](rod x, tessera::view<double> total) {
          for (const double v : x) total[0] += v;
        },
        tessera::read(now(k)), tessera::accumulate(heat(0)));

  double worst = 0;
  const double shrunk = std::pow(factor, static_cast<double>(steps));
  for (std::int64_t k = 0; k < blocks; ++k) {
    const auto x = now(k).read();
    for (std::int64_t i = 0; i < x.size(); ++i)
      worst = std::max(worst, std::abs(x[i] - shrunk * std::sin(angle * static_cast<double>(k * block + i + 1))));
  }
  const double left = heat(0).read()[0];
  rt.fence();
  const double exact = shrunk / std::tan(angle / 2);  // sum of sin(angle i), i = 1 .. points
  std::printf("%lld steps of %lld points: heat %.6f, exact %.6f, largest error of a point %.1e\n",
              static_cast<long long>(steps), static_cast<long long>(points), left, exact, worst);
  return worst < 1e-12 && std::abs(left - exact) < 1e-9 * exact ? 0 : 1;
} catch (const tessera::error& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return tessera::exit_code_of(e.kind());
}
