// The order of tasks of several threads on one device.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/integration/faults/faulty.hpp"

namespace tessera {
namespace {

TEST(ages, a_thread_that_begins_later_does_not_go_before_all_others) {
  const testing::deadline limit("the order of two threads");
  config::document document =
      config::document::parse("[runtime]\nworkers = 2\nplugins = [\"host\", \"sim\"]\n[plugin.sim]\npoison = false\n");
  runtime rt(hierarchy::assemble(document));
  const operation::definition& on_device = rt.define(
      {.name = "on a device",
       .enqueue = [](const operation::context& c) { operation::enqueue_zero(*c.device, c.stream, c.operands[0]); },
       .available = [](const plugin::device& d,
                       element_type) { return d.description().device_class != TSR_DEVICE_CPU; }});
  auto a = rt.make_array<double>("a", {8 + 1}, {1});
  const auto zero = [&](int k) {
    const block::access use[] = {{.block = &a(k).record(), .intent = intent::write}};
    rt.submit_operation(on_device, nullptr, 0, use);
  };
  // This thread has submitted much more than the other ever will.
  constexpr int most = 20'000;
  for (int k = 0; k < 2 * most; ++k)
    rt.submit(
        "one", [](view<double> x) { x[0] = 1; }, write(a(8)));
  rt.fence();

  std::atomic<bool> busy{false}, done{false};
  std::atomic<int> count{0};
  std::thread newcomer([&] {
    for (; count < most && !done; ++count) {
      while (rt.tasks_submitted() - rt.tasks_retired() > 100 && !done) std::this_thread::yield();
      zero(count % 8);
      if (count == 100) busy = true;
    }
    busy = true;
  });
  while (!busy) std::this_thread::yield();
  zero(8);
  rt.submit(
      "behind it", [&](view<const double>) { done = true; }, read(a(8)));
  newcomer.join();
  EXPECT_LT(count, most) << "the older thread's task came only when the newcomer had nothing more to do";
  rt.fence();
}

}  // namespace
}  // namespace tessera
