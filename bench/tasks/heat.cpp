// Small tasks with many blocks.
#include "bench/common/heat.hpp"

#include <vector>

#include "bench/tasks/cases.hpp"

namespace bench {
namespace {

using tessera::read;
using tessera::view;
using tessera::write;

/// The cells and the edges of all blocks, before and after a step.
struct torus {
  std::vector<tessera::array<double>> cells, edges;
  explicit torus(tessera::runtime& rt) {
    for (int k = 0; k < 2; ++k) {
      cells.push_back(rt.make_array<double>("cells", {long(heat_blocks * heat_cells)}, {long(heat_cells)}));
      edges.push_back(rt.make_array<double>("edges", {long(4 * heat_blocks * heat_side)}, {long(heat_side)}));
    }
  }
  void start() {
    for (std::size_t b = 0; b < heat_blocks; ++b) {
      auto c = cells[0].block(b).write();
      for (std::size_t k = 0; k < heat_cells; ++k) c[k] = heat_start(b, k);
      for (const heat_edge edge : {north, south, west, east}) {
        auto e = edges[0].block(4 * b + edge).write();
        for (std::size_t k = 0; k < heat_side; ++k) e[k] = heat_start(b, heat_edge_cell(edge, k));
      }
    }
  }
};

void submit_steps(tessera::runtime& rt, torus& u, long steps) {
  using in = view<const double>;
  using out = view<double>;
  for (long t = 0; t < steps; ++t) {
    const std::size_t before = std::size_t(t) % 2, after = 1 - before;
    const auto &from = u.cells[before], &to = u.cells[after];
    const auto &beside = u.edges[before], &own = u.edges[after];
    for (std::size_t b = 0; b < heat_blocks; ++b) {
      const auto touching = [&](heat_edge across, heat_edge edge) {
        return read(beside.block(4 * heat_neighbour(b, across) + edge));
      };
      rt.submit(
          "heat",
          [](in c, in n, in s, in w, in e, out o, out on, out os, out ow, out oe) {
            double* const edges[4] = {on.data(), os.data(), ow.data(), oe.data()};
            heat_step(c.data(), n.data(), s.data(), w.data(), e.data(), o.data(), edges);
          },
          read(from.block(b)), touching(north, south), touching(south, north), touching(west, east),
          touching(east, west), write(to.block(b)), write(own.block(4 * b + north)), write(own.block(4 * b + south)),
          write(own.block(4 * b + west)), write(own.block(4 * b + east)));
    }
  }
}

}  // namespace

void heat_case(const case_options& o) {
  const long steps = std::max(o.n / long(heat_blocks) / 2 * 2, 2L);
  case_options counted = o;
  counted.n = steps * long(heat_blocks);
  tessera::runtime rt(host_machine(o.workers));
  torus u(rt);
  settle();
  double total = 0, cpu = 0, submitted = 0;
  for (int rep = 0; rep < 2; ++rep) {  // the first warms up
    u.start();
    const double c0 = cpu_seconds(), t0 = now();
    submit_steps(rt, u, steps);
    submitted = now() - t0;
    rt.fence();
    total = now() - t0, cpu = cpu_seconds() - c0;
  }
  overhead_rows("Tessera", "heat_16", o.workers, counted.n, submitted, total, cpu);
  if (!o.check) return;
  const std::vector<double> expected = heat_reference(std::size_t(steps));
  for (std::size_t b = 0; b < heat_blocks; ++b) {
    const auto c = u.cells[0].block(b).read();
    for (std::size_t k = 0; k < heat_cells; ++k)
      if (std::abs(c[k] - expected[b * heat_cells + k]) > 1e-9) fail("heat: wrong result");
  }
}

}  // namespace bench
