// Ways in which tasks share a block beside reading and writing: values that are combined, updates in any order, a task
// that uses several cores, and a fence over some tasks.
#include <tessera/tessera.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int blocks = 16, rows = 1000;

/// Part of a table of made-up measurements.
void measure(tessera::view<double> v, int block) {
  for (std::int64_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>((block * rows + i) * 7919 % 10007);
}

}  // namespace

int main() {
  tessera::runtime rt;
  auto x = rt.make_array<double>("x", {blocks * rows}, {rows});
  auto most = rt.make_array<double>("most", {1}, {1});
  auto list = rt.make_array<double>("list", {blocks + 1}, {blocks + 1});  // how many there are, and then these
  tessera::fill(rt, list(0), 0);

  // Waited for without the rest of the program.
  tessera::task_group made(rt);
  for (int k = 0; k < blocks; ++k)
    rt.submit(
        "measure", {.priority = 1, .group = &made}, [k](tessera::view<double> v) { measure(v, k); },
        tessera::write(x(k)));

  for (int k = 0; k < blocks; ++k) {
    // Each task has a copy of its own; the largest of all copies is in the block when it is read.
    rt.submit(
        "largest",
        [](tessera::view<const double> v, tessera::view<double> m) {
          for (const double e : v) m[0] = std::max(m[0], e);
        },
        tessera::read(x(k)), tessera::accumulate(most(0), tessera::maximum));
    // One at a time, in any order: whichever is ready first appends first.
    rt.submit(
        "append",
        [](tessera::view<const double> v, tessera::view<double> l) {
          const auto at = static_cast<std::int64_t>(++l[0]);
          l[at] = v[0];
        },
        tessera::read(x(k)), tessera::commute(list(0)));
  }
  made.fence();
  std::printf("measured\n");

  // With threads of its own, on as many cores as there are.
  auto total = rt.make_array<double>("total", {1}, {1});
  std::vector<tessera::block_access> uses{tessera::write(total(0))};
  for (int k = 0; k < blocks; ++k) uses.push_back(tessera::read(x(k)));
  rt.submit(
      "total", {.cores = static_cast<std::uint16_t>(rt.workers())},
      [](tessera::task_context here, tessera::task_blocks b) {
        std::vector<double> parts(here.cores());
        {
          std::vector<std::jthread> threads;
          for (std::uint32_t t = 0; t < here.cores(); ++t)
            threads.emplace_back([&, t] {
              for (std::size_t k = 1 + t; k < b.size(); k += here.cores())
                for (const double e : b.get<const double>(k)) parts[t] += e;
            });
        }
        b.get<double>(0)[0] = 0;
        for (const double p : parts) b.get<double>(0)[0] += p;
      },
      uses);

  double expected = 0, largest = 0;
  for (int k = 0; k < blocks; ++k)
    for (const double e : x(k).read()) expected += e, largest = std::max(largest, e);
  const auto appended = list(0).read();
  std::vector<double> first(appended.begin() + 1, appended.end()), wanted;
  for (int k = 0; k < blocks; ++k) wanted.push_back(x(k).read()[0]);
  std::ranges::sort(first);
  std::ranges::sort(wanted);
  const bool right =
      most(0).read()[0] == largest && total(0).read()[0] == expected && appended[0] == blocks && first == wanted;
  std::printf("largest %.0f, total %.0f: %s\n", largest, expected, right ? "right" : "wrong");
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
