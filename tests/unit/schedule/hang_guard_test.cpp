// A device that hangs: who is told, and what becomes of what was pending.
#include "core/schedule/device/hang.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/schedule/device/watchdog.hpp"
#include "tests/unit/transfer/rig.hpp"

namespace tessera::schedule {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

/// Two devices, one of which is given work that never ends. Plugins' streams that were given up are nobody's: they are
/// kept here until all else has ended.
struct hanging {
  hanging() : stream(machine.streams.create(machine.devices[1]->device(), 0)) {
    other = &machine.streams.create(machine.devices[2]->device(), 0);
  }
  ~hanging() {
    for (const auto& s : machine.streams.all())
      if (s->abandoned()) left.emplace_back(&testing::fake_of(s->handle()));
  }
  block::ticket hang() {
    const std::lock_guard guard(stream.enqueue_lock());
    return stream.signal();  // nobody lets the device move
  }

  std::vector<std::unique_ptr<testing::fake_stream>> left;
  transfer::rig machine{{"alpha", "beta"}};
  transfer::stream &stream, *other = nullptr;
};

TEST(watchdog, tells_once_of_the_stream_that_does_not_come_further) {
  hanging h;
  h.hang();
  std::atomic<int> told{0};
  const transfer::stream* which = nullptr;
  {
    const watchdog w(milliseconds(20), {&h.stream, h.other}, h.machine.streams, [&](const hang_detector::finding& one) {
      which = one.which;
      ++told;
      told.notify_all();
    });
    told.wait(0);
  }
  EXPECT_EQ(which, &h.stream);
  EXPECT_EQ(told, 1);
  h.machine.settle();
}

TEST(watchdog, that_ends_before_its_limit_tells_nobody) {
  hanging h;
  h.hang();
  std::atomic<int> told{0};
  {
    const watchdog w(hours(1), {&h.stream}, h.machine.streams, [&](const hang_detector::finding&) { ++told; });
  }
  EXPECT_EQ(told, 0);
  h.machine.settle();
}

/// A guard over them, and what it does to the run.
struct guarded_run : hanging {
  explicit guarded_run(std::chrono::nanoseconds limit)
      : guard({.limit = limit,
               .coherence = machine.is.get(),
               .drivers = &drivers,
               .failures = &failed,
               .cancel = [this](const std::string& why) { reason = why; },
               .wake =
                   [this] {
                     ++woken;
                     woken.notify_all();
                   }}) {}
  driver_table drivers;
  class failures failed;
  std::string reason;
  std::atomic<int> woken{0};
  hang_guard guard;
};

TEST(hang_guard, ends_the_run_and_gives_up_the_device_that_hangs) {
  guarded_run r(milliseconds(20));
  const block::ticket never = r.hang();
  struct counted_completion : transfer::completion {
    tsr_status seen = TSR_OK;
  } waits;
  waits.ticket = never;
  waits.fire = [](transfer::completion* self, tsr_status status) {
    static_cast<counted_completion*>(self)->seen = status;
  };
  r.stream.on_completion(waits);
  r.guard.begin();
  r.woken.wait(0);
  r.guard.end();
  EXPECT_THAT(r.reason, HasSubstr("device alpha1 hangs: stream " + std::to_string(r.stream.number())));
  EXPECT_TRUE(r.failed.hung());
  const failures::report told = r.failed.take();
  ASSERT_NE(told.first, nullptr);
  EXPECT_EQ(told.first->kind, error_kind::device);
  EXPECT_EQ(told.first->text, r.reason);
  EXPECT_EQ(waits.seen, TSR_DEADLINE_EXCEEDED) << "what waited for it goes on, and fails";
  EXPECT_TRUE(r.stream.abandoned());
  EXPECT_FALSE(r.other->abandoned()) << "the other device has done nothing wrong";
  EXPECT_FALSE(r.stream.busy());
}

TEST(hang_guard, gives_up_what_still_waits_for_the_device_that_hangs) {
  guarded_run r(milliseconds(20));
  const block::ticket never = r.hang();
  {
    const std::lock_guard guard(r.other->enqueue_lock());
    r.other->wait(r.stream, never);
    (void)r.other->signal();
  }
  r.guard.begin();
  r.woken.wait(0);
  r.guard.end();
  EXPECT_TRUE(r.stream.abandoned());
  EXPECT_TRUE(r.other->abandoned());
}

TEST(hang_guard, without_a_limit_watches_nothing) {
  guarded_run r(std::chrono::nanoseconds(0));
  r.hang();
  r.guard.begin();
  r.guard.end();  // would wait for a finding
  EXPECT_EQ(r.woken, 0);
  EXPECT_FALSE(r.failed.hung());
  r.machine.settle();
}

}  // namespace
}  // namespace tessera::schedule
