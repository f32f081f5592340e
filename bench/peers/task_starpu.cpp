// Task overhead, submission alone, stencil efficiency and metadata of StarPU: starpu_task_submit and
// starpu_task_insert, several schedulers.
#include "bench/common/random_graph.hpp"
#include "bench/common/stencil.hpp"

#include <starpu.h>

using namespace bench;

namespace {

bool check = false;
std::atomic<long> ran{0};
long chained = 0;
std::atomic<double> sink{0};

struct graph_argument {
  graph_access a;
  uint64_t task;
};

void body_independent(void**, void*) {
  if (check) ran.fetch_add(1, std::memory_order_relaxed);
}
void body_chain(void**, void*) {
  if (check) ++chained;
}
void body_dag(void**, void* arg) {
  if (check) {
    const auto* d = static_cast<const graph_argument*>(arg);
    graph_body(d->a, d->task);
  }
}
void body_busy(void**, void* arg) {
  if (busy(*static_cast<const uint64_t*>(arg)) == 123.0) sink.store(1);
}

starpu_codelet make_codelet(starpu_cpu_func_t f, std::initializer_list<starpu_data_access_mode> modes) {
  starpu_codelet cl;
  starpu_codelet_init(&cl);
  cl.cpu_funcs[0] = f;
  cl.nbuffers = int(modes.size());
  int i = 0;
  for (auto m : modes) cl.modes[i++] = m;
  return cl;
}

void submit(starpu_codelet* cl, void* arg, size_t arg_size, std::initializer_list<starpu_data_handle_t> handles) {
  starpu_task* t = starpu_task_create();
  t->cl = cl;
  t->cl_arg = arg;
  t->cl_arg_size = arg_size;
  int i = 0;
  for (auto h : handles) t->handles[i++] = h;
  if (starpu_task_submit(t) != 0) fail("starpu_task_submit");
}

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv,
                       {"case", "workers", "n", "check", "width", "reps", "api", "sched", "steps", "iterations"});
  const std::string kase = args.text("case", "independent"), sched = args.text("sched", "lws");
  const bool insert = args.text("api", "submit") == "insert";
  const int workers = int(args.number("workers", 2));
  const long n = args.number("n", 1000000);
  check = args.number("check", 0) != 0;
  const std::string runtime = "StarPU " + std::to_string(STARPU_MAJOR_VERSION) + "." +
                              std::to_string(STARPU_MINOR_VERSION) + " " + sched + (insert ? " insert" : "");

  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = workers;
  conf.sched_policy_name = sched.c_str();
  conf.ncuda = conf.nopencl = 0;
  if (starpu_init(&conf) != 0) fail("starpu_init");

  std::vector<double> cells(2 * 4096), values(graph_handles);
  std::vector<starpu_data_handle_t> cell(2 * 4096), h(graph_handles);
  for (size_t i = 0; i < h.size(); ++i)
    starpu_variable_data_register(&h[i], STARPU_MAIN_RAM, uintptr_t(&values[i]), sizeof(double));

  if (kase == "stencil" || kase == "cold") {
    for (size_t i = 0; i < cell.size(); ++i)
      starpu_variable_data_register(&cell[i], STARPU_MAIN_RAM, uintptr_t(&cells[i]), sizeof(double));
    starpu_codelet one = make_codelet(body_busy, {STARPU_R, STARPU_W});
    starpu_codelet two = make_codelet(body_busy, {STARPU_R, STARPU_R, STARPU_W});
    starpu_codelet three = make_codelet(body_busy, {STARPU_R, STARPU_R, STARPU_R, STARPU_W});
    static uint64_t iterations;
    auto stencil = [&](long width, long steps, uint64_t iters) {
      iterations = iters;
      const double t0 = now();
      for (long t = 0; t < steps; ++t)
        for (long p = 0; p < width; ++p) {
          auto* in = &cell[size_t((t + 1) % 2) * 4096];
          auto* out = &cell[size_t(t % 2) * 4096];
          const bool l = p > 0, r = p + 1 < width;
          if (l && r)
            submit(&three, &iterations, 0, {in[p - 1], in[p], in[p + 1], out[p]});
          else if (l)
            submit(&two, &iterations, 0, {in[p - 1], in[p], out[p]});
          else if (r)
            submit(&two, &iterations, 0, {in[p], in[p + 1], out[p]});
          else
            submit(&one, &iterations, 0, {in[p], out[p]});
        }
      starpu_task_wait_for_all();
      return now() - t0;
    };
    if (kase == "cold")
      stencil(args.number("width", 8), args.number("steps", 100), uint64_t(args.number("iterations", 1000)));
    else
      stencil_sweep(runtime, workers, args.number("width", 8), args.number("reps", 3), 256, stencil);
    for (auto& x : cell) starpu_data_unregister(x);
  } else if (kase == "submit") {
    // Batches that the paused workers leave alone: the submitting thread runs alone, as in Tessera's case.
    const long batch = 2000;
    const std::vector<graph_access> acc = graph_accesses(batch);
    starpu_codelet cl = make_codelet(body_independent, {STARPU_R, STARPU_R, STARPU_RW});
    std::vector<double> samples;
    for (long done = 0; done < n; done += batch) {
      starpu_pause();
      const double t0 = now();
      for (const graph_access& a : acc) submit(&cl, nullptr, 0, {h[a.r0], h[a.r1], h[a.w]});
      samples.push_back((now() - t0) / double(batch) * 1e9);
      starpu_resume();
      starpu_task_wait_for_all();
    }
    row("submit", runtime, "r_r_rw", 1, "ns_per_task", median(samples));
  } else if (kase == "view") {
    starpu_codelet wait = make_codelet(body_busy, {}), make = make_codelet(body_independent, {STARPU_W});
    static uint64_t iterations = uint64_t(view_task_seconds / seconds_per_iteration(workers));
    const auto queue = [&] {
      for (int k = 0; k < view_tasks; ++k) submit(&wait, &iterations, 0, {});
    };
    std::vector<double> of_ready, of_made;
    for (long rep = 0; rep < 2 * args.number("reps", 3) + 1; ++rep) {
      for (const bool made : {false, true}) {
        if (made) submit(&make, nullptr, 0, {h[0]});
        queue();
        const double t0 = now();
        starpu_data_acquire(h[0], STARPU_R);
        (made ? of_made : of_ready).push_back((now() - t0) * 1e6);
        starpu_data_release(h[0]);
        starpu_task_wait_for_all();
      }
    }
    row("waits", runtime, "view_under_load", workers, "ready_us", median(of_ready));
    row("waits", runtime, "view_under_load", workers, "made_us", median(of_made));
  } else if (kase == "metadata") {
    const size_t count = 10000;
    std::vector<starpu_data_handle_t> many(count);
    const double before = resident_bytes();
    for (auto& x : many) starpu_variable_data_register(&x, STARPU_MAIN_RAM, uintptr_t(&values[0]), sizeof(double));
    row("submit", runtime, "metadata", 1, "resident_bytes_per_block", (resident_bytes() - before) / double(count));
    for (auto& x : many) starpu_data_unregister(x);
  } else {
    const std::vector<graph_access> acc = kase == "dag" ? graph_accesses(n) : std::vector<graph_access>{};
    std::vector<graph_argument> dag_args;
    for (size_t i = 0; i < acc.size(); ++i) dag_args.push_back({acc[i], i});
    starpu_codelet free_cl = make_codelet(body_independent, {});
    starpu_codelet chain_cl = make_codelet(body_chain, {STARPU_RW});
    starpu_codelet dag_cl = make_codelet(body_dag, {STARPU_R, STARPU_R, STARPU_W});
    double t_submit = 0, total = 0, cpu = 0;
    for (int rep = 0; rep < 2; ++rep) {  // the first one warms up threads and memory
      std::fill(graph_values.begin(), graph_values.end(), 1);
      ran = 0, chained = 0;
      const double c0 = cpu_seconds(), t0 = now();
      if (kase == "independent") {
        for (long i = 0; i < n; ++i)
          if (insert)
            starpu_task_insert(&free_cl, 0);
          else
            submit(&free_cl, nullptr, 0, {});
      } else if (kase == "chain") {
        for (long i = 0; i < n; ++i)
          if (insert)
            starpu_task_insert(&chain_cl, STARPU_RW, h[0], 0);
          else
            submit(&chain_cl, nullptr, 0, {h[0]});
      } else if (kase == "dag") {
        for (long i = 0; i < n; ++i) {
          const graph_access a = acc[size_t(i)];
          graph_argument* d = &dag_args[size_t(i)];
          if (insert)
            starpu_task_insert(&dag_cl, STARPU_R, h[a.r0], STARPU_R, h[a.r1], STARPU_W, h[a.w], STARPU_CL_ARGS_NFREE, d,
                               sizeof *d, 0);
          else
            submit(&dag_cl, d, sizeof *d, {h[a.r0], h[a.r1], h[a.w]});
        }
      }
      const double t1 = now();
      starpu_task_wait_for_all();
      t_submit = t1 - t0, total = now() - t0, cpu = cpu_seconds() - c0;
    }
    if (check && kase == "independent" && ran != n) fail("independent: tasks lost");
    if (check && kase == "chain" && chained != n) fail("chain: wrong order");
    if (check && kase == "dag") graph_verify(acc);
    overhead_rows(runtime, kase, workers, n, t_submit, total, cpu);
  }
  for (auto& x : h) starpu_data_unregister(x);
  starpu_shutdown();
}
