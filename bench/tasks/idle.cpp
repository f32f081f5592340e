// What a runtime costs that does nothing: memory per block, processor time, and the way back to work.
#include <atomic>
#include <thread>

#include "bench/common/stencil.hpp"
#include "bench/tasks/cases.hpp"
#include "core/block/record.hpp"
#include "core/task/record.hpp"

namespace bench {

void leave_idle(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

void metadata_case(const case_options& o) {
  tessera::runtime rt(host_machine(o.workers));
  const std::int64_t count = 102400;
  const double before = resident_bytes();
  auto many = rt.make_array<double>("many", {count}, {1});
  row("submit", "Tessera", "metadata", 1, "resident_bytes_per_block", (resident_bytes() - before) / double(count));
  row("submit", "Tessera", "metadata", 1, "sizeof_block_record", double(sizeof(tessera::block::record)));
  row("submit", "Tessera", "metadata", 1, "sizeof_task_record", double(sizeof(tessera::task::record)));
}

void idle_case(const case_options& o) {
  tessera::runtime rt(host_machine(o.workers));
  std::atomic<double> started{0};
  rt.submit("first", [&started] { started.store(now()); });
  rt.fence();
  settle();  // also longer than workers spin before they sleep
  const double c0 = cpu_seconds(), t0 = now();
  leave_idle(1.0);
  row("submit", "Tessera", "idle", o.workers, "cpu_percent", 100 * (cpu_seconds() - c0) / (now() - t0));
  if (o.workers < 2) return;  // with one worker nobody sleeps: the waiting thread runs the tasks
  std::vector<double> samples;
  for (int k = 0; k < 300; ++k) {
    started.store(0);
    leave_idle(0.002);
    const double submitted = now();
    rt.submit("wake", [&started] { started.store(now(), std::memory_order_release); });
    while (started.load(std::memory_order_acquire) == 0) {
    }
    samples.push_back((started.load() - submitted) * 1e6);
  }
  rt.fence();
  row("submit", "Tessera", "idle", o.workers, "wake_us", median(samples));
}

void view_case(const case_options& o) {
  tessera::runtime rt(host_machine(o.workers));
  auto ready = rt.make_array<double>("ready", {1}, {1});
  auto made = rt.make_array<double>("made", {1}, {1});
  tessera::fill(rt, ready(0), 1.0);
  rt.fence();
  settle();
  const auto iterations = std::uint64_t(view_task_seconds / seconds_per_iteration(o.workers));
  static std::atomic<double> sink{0};
  const auto queue = [&] {
    for (int k = 0; k < view_tasks; ++k)
      rt.submit("queued", [iterations] {
        if (busy(iterations) == 123.0) sink.store(1);
      });
  };
  std::vector<double> of_ready, of_made;
  for (long rep = 0; rep < 2 * o.reps + 1; ++rep) {
    queue();
    double t0 = now();
    (void)ready(0).read();
    of_ready.push_back((now() - t0) * 1e6);
    rt.fence();
    rt.submit(
        "make", [](tessera::view<double> x) { x[0] = 1; }, tessera::write(made(0)));
    queue();
    t0 = now();
    (void)made(0).read();
    of_made.push_back((now() - t0) * 1e6);
    rt.fence();
  }
  row("waits", "Tessera", "view_under_load", o.workers, "ready_us", median(of_ready));
  row("waits", "Tessera", "view_under_load", o.workers, "made_us", median(of_made));
}

}  // namespace bench
