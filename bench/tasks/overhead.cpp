// Submission alone, and submission, execution and retirement together.
#include <atomic>

#include "bench/common/random_graph.hpp"
#include "bench/tasks/cases.hpp"

namespace bench {
namespace {

using tessera::read;
using tessera::update;
using tessera::view;

constexpr int repetitions = 2;  // the first warms up threads and memory, the second counts: as in the peers' programs

tessera::array<std::int64_t> graph_blocks(tessera::runtime& rt) {
  auto a = rt.make_array<std::int64_t>("a", {graph_handles}, {1});
  for (std::size_t k = 0; k < a.size(); ++k) tessera::fill(rt, a.block(k), std::int64_t{1});
  rt.fence();
  return a;
}

template <class Submit>
void measure(tessera::runtime& rt, const std::string& name, const case_options& o, Submit&& submit_all) {
  double submit_s = 0, total_s = 0, cpu_s = 0;
  for (int rep = 0; rep < repetitions; ++rep) {
    const double c0 = cpu_seconds(), t0 = now();
    submit_all();
    const double t1 = now();
    rt.fence();
    const double total = now() - t0;
    submit_s = t1 - t0, total_s = total, cpu_s = cpu_seconds() - c0;
  }
  overhead_rows("Tessera", name, o.workers, o.n, submit_s, total_s, cpu_s);
}

/// The same tasks recorded once and replayed: the first replay warms up, the others count.
template <class Submit>
void measure_replay(tessera::runtime& rt, const std::string& name, const case_options& o, Submit&& submit_all) {
  const double t0 = now();
  tessera::recording all = rt.record(submit_all);
  row("tasks", "Tessera", name, o.workers, "record_ns_per_task", (now() - t0) / double(o.n) * 1e9);
  std::vector<double> reruns;
  for (long rep = 0; rep < o.replays; ++rep) {
    const double t1 = now();
    rt.replay(all);
    rt.fence();
    if (rep > 0) reruns.push_back((now() - t1) / double(o.n) * 1e9);
  }
  row("tasks", "Tessera", name, o.workers, "rerun_ns_per_task", median(reruns));
}

void independent(tessera::runtime& rt, const case_options& o) {
  std::atomic<long> ran{0};
  measure(rt, "independent", o, [&] {
    for (long i = 0; i < o.n; ++i)
      rt.submit("free", [&ran, check = o.check] {
        if (check) ran.fetch_add(1, std::memory_order_relaxed);
      });
  });
  if (o.check && ran != repetitions * o.n) fail("independent: tasks lost");
}

void chain(tessera::runtime& rt, const case_options& o) {
  auto a = graph_blocks(rt);
  const auto submit_all = [&] {
    for (long i = 0; i < o.n; ++i)
      rt.submit(
          "link",
          [check = o.check](view<std::int64_t> x) {
            if (check) ++x[0];
          },
          update(a.block(0)));
  };
  measure(rt, "chain", o, submit_all);
  measure_replay(rt, "chain", o, submit_all);
  if (o.check && a.block(0).read()[0] != 1 + (repetitions + o.replays) * o.n)
    fail("chain: tasks lost or run at the same time");
}

void dag(tessera::runtime& rt, const case_options& o) {
  auto a = graph_blocks(rt);
  const std::vector<graph_access> graph = graph_accesses(o.n);
  const auto submit_all = [&] {
    for (long i = 0; i < o.n; ++i) {
      const graph_access& t = graph[std::size_t(i)];
      rt.submit(
          "dag",
          [check = o.check, i](view<const std::int64_t> x, view<const std::int64_t> y, view<std::int64_t> z) {
            if (check) z[0] = std::int64_t(graph_value(std::uint64_t(x[0]), std::uint64_t(y[0]), std::uint64_t(i)));
          },
          read(a.block(t.r0)), read(a.block(t.r1)), update(a.block(t.w)));
    }
  };
  measure(rt, "dag", o, submit_all);
  measure_replay(rt, "dag", o, submit_all);
  if (!o.check) return;
  const std::vector<std::uint64_t> expected = graph_reference(graph, repetitions + int(o.replays));
  for (std::size_t k = 0; k < expected.size(); ++k)
    if (std::uint64_t(a.block(k).read()[0]) != expected[k]) fail("dag: wrong result");
}

}  // namespace

tessera::machine host_machine(int workers) {
  tessera::config::sources from;
  from.workers = static_cast<std::uint32_t>(workers);
  return tessera::hierarchy::assemble(tessera::config::document::load(from));
}

void overhead_case(const std::string& name, const case_options& o) {
  tessera::runtime rt(host_machine(o.workers));
  settle();
  if (name == "independent")
    independent(rt, o);
  else if (name == "chain")
    chain(rt, o);
  else
    dag(rt, o);
}

void submit_case(const case_options& o) {
  tessera::runtime rt(host_machine(1));  // worker 0 runs tasks only while this thread waits
  settle();
  auto a = graph_blocks(rt);
  const long batch = std::min<long>(2000, long(rt.settings().window_tasks) / 2);
  const std::vector<graph_access> graph = graph_accesses(batch);
  std::vector<double> samples;
  for (long done = 0; done < o.n; done += batch) {
    const std::uint64_t before = rt.tasks_retired();
    const double t0 = now();
    for (const graph_access& t : graph)
      rt.submit(
          "three", [](view<const std::int64_t>, view<const std::int64_t>, view<std::int64_t>) {}, read(a.block(t.r0)),
          read(a.block(t.r1)), update(a.block(t.w)));
    samples.push_back((now() - t0) / double(batch) * 1e9);
    if (rt.tasks_retired() != before) fail("submit: tasks ran while they were submitted");
    rt.fence();
  }
  if (samples.size() > 1) samples.erase(samples.begin());  // warm-up
  row("submit", "Tessera", "r_r_rw", 1, "ns_per_task", median(samples));
}

}  // namespace bench
