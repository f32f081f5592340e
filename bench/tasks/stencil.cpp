// The smallest efficient task.
#include "bench/common/stencil.hpp"

#include "bench/tasks/cases.hpp"

namespace bench {

namespace {

std::atomic<double> sink{0};

/// Submits one stencil; `cells` has two rows of `width` blocks.
void submit_stencil(tessera::runtime& rt, const tessera::array<double>& cells, long width, long steps,
                    std::uint64_t iterations) {
  using tessera::read;
  using tessera::view;
  using cell = view<const double>;
  const auto work = [](std::uint64_t count) {
    if (busy(count) == 123.0) sink.store(1);
  };
  const auto body3 = [=](cell, cell, cell, view<double>) { work(iterations); };
  const auto body2 = [=](cell, cell, view<double>) { work(iterations); };
  for (long t = 0; t < steps; ++t)
    for (long p = 0; p < width; ++p) {
      const auto in = [&](long q) { return read(cells.block(std::size_t(((t + 1) % 2) * width + q))); };
      const auto out = tessera::write(cells.block(std::size_t((t % 2) * width + p)));
      const bool l = p > 0, r = p + 1 < width;
      if (l && r)
        rt.submit("stencil3", body3, in(p - 1), in(p), in(p + 1), out);
      else if (l)
        rt.submit("stencil_right", body2, in(p - 1), in(p), out);
      else
        rt.submit("stencil_left", body2, in(p), in(p + 1), out);
    }
}

tessera::array<double> make_cells(tessera::runtime& rt, long width) {
  auto cells = rt.make_array<double>("cells", {2 * width}, {1});
  for (std::size_t k = 0; k < cells.size(); ++k) tessera::fill(rt, cells.block(k), 0.0);
  return cells;
}

}  // namespace

void cold_case(const case_options& o) {
  tessera::runtime rt(host_machine(o.workers));
  if (o.bound_by_hand) bind_to_first_cpu();
  const auto cells = make_cells(rt, o.width);
  submit_stencil(rt, cells, o.width, o.steps, std::uint64_t(o.iterations));
  rt.fence();
}

void stencil_case(const case_options& o) {
  tessera::runtime rt(host_machine(o.workers));
  const auto cells = make_cells(rt, o.width);
  rt.fence();
  settle();
  const auto run = [&](long width, long steps, std::uint64_t iterations) {
    const auto submit_all = [&] { submit_stencil(rt, cells, width, steps, iterations); };
    double t0 = now();
    if (o.recorded) {
      tessera::recording all = rt.record(submit_all);
      rt.replay(all);  // warms up: the first replay decides where tasks run
      rt.fence();
      t0 = now();
      rt.replay(all);
      rt.fence();
    } else {
      submit_all();
      rt.fence();
    }
    return now() - t0;
  };
  stencil_sweep(o.recorded ? "Tessera recorded" : "Tessera", o.workers, o.width, o.reps, 256, run);
}

}  // namespace bench
