// Long chains of tasks that fail one after the other: the stack does not grow with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/faults/faulty.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::HasSubstr;

/// An operation that only devices have.
const operation::definition& on_devices_alone(runtime& rt) {
  return rt.define(
      {.name = "on devices alone",
       .enqueue = [](const operation::context& c) { operation::enqueue_zero(*c.device, c.stream, c.operands[0]); },
       .available = [](const plugin::device& d,
                       element_type) { return d.description().device_class != TSR_DEVICE_CPU; }});
}

TEST(long_chains, a_replay_whose_device_is_lost_fails_as_it_should) {
  const testing::deadline limit("a long replay");
  for (const auto& p : testing::places()) {
    if (std::string_view(p.name) != "sim") continue;
    runtime rt(testing::faulty_machine(p, "kind = \"lost\"\non = \"kernel\"\nat = 100\n"));
    auto a = rt.make_array<double>("a", {8}, {8});
    fill(rt, a(0), 1.0);
    rt.fence();
    const operation::definition& only = on_devices_alone(rt);
    const block::access use[] = {{.block = &a(0).record(), .intent = intent::update}};
    recording r = rt.record([&] {
      for (int k = 0; k < 50'000; ++k) rt.submit_operation(only, nullptr, 0, use);
    });
    rt.replay(r);
    const error e = error_of([&] { rt.fence(); });
    EXPECT_EQ(e.kind(), error_kind::device);
    EXPECT_THAT(e.what(), HasSubstr("lost"));
    fill(rt, a(0), 2.0);
    EXPECT_EQ(a.read_host(a(0))[7], 2);
  }
}

TEST(long_chains, with_a_hint_that_no_device_serves) {
  config::document document = config::document::parse(
      "[runtime]\nworkers = 2\nplugins = [\"host\", \"sim\"]\nplacement = \"pinned\"\nwindow_tasks = 1000000\n");
  runtime rt(hierarchy::assemble(document));
  auto a = rt.make_array<double>("a", {1}, {1});
  fill(rt, a(0), 1.0);
  rt.fence();
  const auto nowhere = rt.at("sim0");
  rt.submit(
      "first", [](view<double>) {}, update(a(0)));
  {
    auto held = a.update_host(a(0));  // so that all of them wait
    for (int k = 0; k < 60'000; ++k)
      rt.submit(
          "host code", {.at = nowhere}, [](view<double>) {}, update(a(0)));
  }
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("it must run at 'sim0'"));
}

TEST(exceptions_of_any_type, in_the_enqueue_of_a_device_fail_the_task) {
  const testing::deadline limit("an exception of no standard type");
  config::document document = config::document::parse("[runtime]\nworkers = 2\nplugins = [\"host\", \"sim\"]\n");
  runtime rt(hierarchy::assemble(document));
  auto a = rt.make_array<double>("a", {1}, {1});
  fill(rt, a(0), 1.0);
  const operation::definition& throws =
      rt.define({.name = "throws",
                 .enqueue = [](const operation::context&) { throw 42; },
                 .available = [](const plugin::device& d,
                                 element_type) { return d.description().device_class != TSR_DEVICE_CPU; }});
  const block::access use[] = {{.block = &a(0).record(), .intent = intent::update}};
  rt.submit_operation(throws, nullptr, 0, use);
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::task);
  EXPECT_THAT(e.what(), HasSubstr("throws on sim0 failed: unknown exception"));
  fill(rt, a(0), 3.0);
  EXPECT_EQ(a.read_host(a(0))[0], 3);
}

}  // namespace
}  // namespace tessera
