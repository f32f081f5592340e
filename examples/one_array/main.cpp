// One array for tasks, loops, operations and the program: heat in a plate, whose rows nobody cuts by hand.
#include <tessera/region.hpp>
#include <tessera/tessera.hpp>

#include <cstdint>
#include <cstdio>
#include <utility>

namespace {

constexpr std::int64_t rows = 600, columns = 400, steps = 50, part = 150;

/// The body of a loop, and of tasks: both name elements by their indices in the whole array.
constexpr auto heat_row = [](std::int64_t i, tessera::rows_view<const double, 2> now,
                             tessera::rows_view<double, 2> next) {
  for (std::int64_t j = 0; j < columns; ++j) {
    const double above = i > 0 ? now(i - 1, j) : 0, below = i + 1 < rows ? now(i + 1, j) : 0;
    next(i, j) = now(i, j) + 0.25 * (above - 2 * now(i, j) + below);
  }
};

}  // namespace

int main() {
  tessera::runtime rt;
  tessera::location_model model(rt);
  auto now = rt.make_array<double>("now", {rows, columns}), next = rt.make_array<double>("next", {rows, columns});
  auto heat = rt.make_array<double>("heat", {2}, {1});  // two blocks of one number

  tessera::fill(rt, now, 0);  // an operation, over whatever the array is cut into
  rt.submit(
      "a hot stripe",
      [](auto stripe) {
        for (double& v : stripe) v = 8;
      },
      write(now.rows(rows / 2 - 4, rows / 2 + 4)));
  rt.submit(
      "before",
      [](auto all, auto to) {
        to[0] = 0;
        for (const double v : all) to[0] += v;
      },
      read(now), write(heat(0)));

  for (std::int64_t s = 0; s < steps; ++s) {
    if (s % 2 == 0)  // a loop, which the runtime splits ...
      model.region("step", tessera::iterate(0, rows), read(now, tessera::halo(1)), write(next), heat_row);
    else  // ... and tasks, which name the rows that they read and write
      for (std::int64_t first = 0; first < rows; first += part) {
        const std::int64_t last = first + part;
        rt.submit(
            "step",
            [](auto from, auto to) {
              for (std::int64_t i = to.first(); i < to.last(); ++i) heat_row(i, from, to);
            },
            read(now.rows(first == 0 ? 0 : first - 1, last == rows ? rows : last + 1)), write(next.rows(first, last)));
      }
    std::swap(now, next);
  }

  for (std::int64_t first = 0; first < rows; first += part)  // at the same time, each into a copy of its own
    rt.submit(
        "behind",
        [](auto some, auto to) {
          for (const double v : some) to[1] += v;
        },
        read(now.rows(first, first + part)), tessera::accumulate(heat.rows(1, 2)));
  const double before = heat(0).read()[0], behind = heat(1).read()[0];
  const double middle = now.rows(rows / 2, rows / 2 + 1).read()(rows / 2, 0);
  std::printf("heat %.3f before, %.3f behind %lld steps; %.3f in the middle\n", before, behind,
              static_cast<long long>(steps), middle);
  const double lost = before - behind;
  return lost < 1e-6 && lost > -1e-6 && middle > 4 && middle < 8 ? 0 : 1;
}
