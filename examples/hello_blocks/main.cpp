// Blocks and tasks.
//
// An array is cut into blocks; a task is a piece of code and the blocks that it uses, each with an intent. Tasks are
// submitted in the order of the program. The runtime lets them run at the same time wherever the intents allow it.
#include <tessera/tessera.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>

int main() try {
  tessera::runtime rt;  // the machine that this program runs on

  // 1000 numbers in 10 blocks of 100, and one number. Nothing is allocated before a task writes.
  auto squares = rt.make_array<double>("squares", {1000}, {100});
  auto sum = rt.make_array<double>("sum", {1}, {1});

  // write: the task sets every element, so nothing has to be fetched. A task gets one view per block that it names.
  tessera::fill(rt, sum(0), 0.0);
  for (std::int64_t k = 0; k < squares.counts()[0]; ++k)
    rt.submit(
        "square",
        [first = 100 * k](tessera::view<double> x) {
          for (std::int64_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>((first + i) * (first + i));
        },
        tessera::write(squares(k)));

  // update: reads and changes. Each of these waits for the task above that wrote its block, and for no other.
  for (std::int64_t k = 0; k < squares.counts()[0]; ++k)
    rt.submit(
        "root",
        [](tessera::view<double> x) {
          for (double& v : x) v = std::sqrt(v);
        },
        tessera::update(squares(k)));

  // accumulate: adds to a private copy. These tasks commute, so that they need not wait for each other; whoever reads
  // the sum next sees all of them.
  for (std::int64_t k = 0; k < squares.counts()[0]; ++k)
    rt.submit(
        "add up",
        [](tessera::view<const double> x, tessera::view<double> total) {
          for (const double v : x) total[0] += v;
        },
        tessera::read(squares(k)), tessera::accumulate(sum(0)));

  const double result = sum(0).read()[0];  // waits for what makes this block, then shows it
  rt.fence();                              // waits for everything; throws what went wrong in a task
  const double expected = 999.0 * 1000.0 / 2;
  std::printf("%s: the sum of 0 .. 999 is %.0f\n", rt.topology_line().c_str(), result);
  return result == expected ? 0 : 1;
} catch (const tessera::error& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return tessera::exit_code_of(e.kind());
}
