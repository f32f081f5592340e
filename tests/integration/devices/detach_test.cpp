// Devices that leave and come back while the program runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_program.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::HasSubstr;

std::uint64_t ran_at(runtime& rt, const std::string& place) {
  std::uint64_t tasks = 0;
  for (const auto& o : rt.statistics().operations)
    if (o.place == place) tasks += o.tasks;
  return tasks;
}

const memory::space_statistics& space_of(const statistics& s, const std::string& name) {
  for (const auto& one : s.spaces)
    if (one.name == name) return one.statistics;
  throw std::runtime_error("no space " + name);
}

TEST(detach, an_idle_device_gives_its_blocks_and_its_memory_back) {
  runtime rt(testing::with_sims(1, "1 MiB"));
  auto a = rt.make_array<double>("a", {64}, {8});
  const task_options there{.at = rt.at("sim0")};
  for (int k = 0; k < 8; ++k) fill(rt, a(k), double(k), there);
  rt.fence();
  ASSERT_EQ(ran_at(rt, "sim0"), 8u);
  std::string memory;
  for (const auto& s : rt.statistics().spaces)
    if (s.name.starts_with("sim0")) memory = s.name;
  EXPECT_GT(space_of(rt.statistics(), memory).reserved_bytes, 0u);

  EXPECT_TRUE(rt.attached(rt.at("sim0")));
  rt.detach("sim0");
  EXPECT_FALSE(rt.attached(rt.at("sim0")));
  const statistics after = rt.statistics();
  EXPECT_EQ(space_of(after, memory).used_bytes, 0u);
  EXPECT_EQ(space_of(after, memory).reserved_bytes, 0u) << "slabs went back to the plugin";
  EXPECT_EQ(after.coherence.written_back, 8u) << "sole copies were saved";
  EXPECT_THAT(after.devices.detached, ::testing::ElementsAre("sim0"));
  for (int k = 0; k < 8; ++k) EXPECT_EQ(a(k).read()[7], k);

  for (int k = 0; k < 8; ++k) scal(rt, 2.0, a(k), there);  // a hint that cannot be followed
  rt.fence();
  EXPECT_EQ(ran_at(rt, "sim0"), 8u) << "nothing more ran there";
  for (int k = 0; k < 8; ++k) EXPECT_EQ(a(k).read()[0], 2 * k);

  rt.attach("sim0");
  for (int k = 0; k < 8; ++k) scal(rt, 2.0, a(k), there);
  rt.fence();
  EXPECT_EQ(ran_at(rt, "sim0"), 16u) << "useful within the same run";
  for (int k = 0; k < 8; ++k) EXPECT_EQ(a(k).read()[0], 4 * k);
}

TEST(detach, what_is_refused) {
  runtime rt(testing::with_sims(2, "1 MiB"));
  EXPECT_THAT(error_of([&] { rt.detach("sim2"); }).what(), HasSubstr("did you mean 'sim"));
  EXPECT_THAT(error_of([&] { rt.attach("sim0"); }).what(), HasSubstr("'sim0' is attached already"));
  rt.detach("sim0");
  EXPECT_THAT(error_of([&] { rt.detach("sim0"); }).what(), HasSubstr("'sim0' is detached already"));
  EXPECT_THAT(error_of([&] { rt.detach("core0"); }).what(), HasSubstr("no device at or below 'core0'"));
  EXPECT_THAT(error_of([&] { rt.detach("core0"); }).hint(), HasSubstr("sim0, sim1"));
  rt.detach(rt.tree().root());  // the rest of the branch: sim1
  EXPECT_FALSE(rt.attached(rt.at("sim1")));
  EXPECT_EQ(error_of([&] { rt.detach(rt.tree().root()); }).kind(), error_kind::usage);
  rt.attach(rt.tree().root());
  EXPECT_TRUE(rt.attached(rt.tree().root()));

  std::atomic<int> refused{0};
  rt.submit("inside", [&] {
    try {
      rt.detach("sim0");
    } catch (const error& e) {
      refused += e.kind() == error_kind::usage;
    }
  });
  rt.fence();
  EXPECT_EQ(refused, 1) << "a task may not wait for a device to end its tasks";
  EXPECT_THAT(error_of([&] { (void)rt.record([&] { rt.attach("sim0"); }); }).what(), HasSubstr("inside a recording"));
  auto a = rt.make_array<double>("a", {1}, {1});
  {
    auto v = a(0).write();
    EXPECT_THAT(error_of([&] { rt.detach("sim0"); }).what(), HasSubstr("holds host views of 1 block"));
    v[0] = 1;
  }
  rt.detach("sim0");
}

TEST(detach, an_operation_of_that_device_alone_keeps_it_and_is_refused_afterwards) {
  runtime rt(testing::with_sims(1, "1 MiB"));
  auto a = rt.make_array<double>("a", {1}, {1});
  operation::definition only;
  only.name = "device only";
  only.available = [](const plugin::device& d, element_type) { return d.plugin_name() == "sim"; };
  only.enqueue = [](const operation::context&) {};
  const operation::definition& what = rt.define(only);
  rt.detach("sim0");
  const block::access uses[] = {
      {.block = &a(0).record(), .version = 0, .intent = intent::write, .flags = 0, .space = 0}};
  rt.submit_operation(what, nullptr, 0, uses);
  const error e = error_of([&] { rt.fence(); });
  EXPECT_THAT(e.what(), HasSubstr("no location can run it: sim0 is detached"));
  EXPECT_THAT(e.where(), HasSubstr("'device only'"));
  rt.attach("sim0");
  rt.submit_operation(what, nullptr, 0, uses);
  EXPECT_NO_THROW(rt.fence());
}

TEST(detach, addresses_from_before_are_of_another_epoch) {
  runtime rt(testing::with_sims(1, "1 MiB"));
  auto a = rt.make_array<double>("a", {1}, {1});
  operation::definition ask;
  ask.name = "ask";
  ask.enqueue = [](const operation::context& c) { **static_cast<std::uint64_t* const*>(c.arguments) = c.memory_epoch; };
  const operation::definition& what = rt.define(ask);
  const auto epoch = [&] {
    std::uint64_t seen = 0;
    std::uint64_t* const to = &seen;
    const block::access uses[] = {
        {.block = &a(0).record(), .version = 0, .intent = intent::write, .flags = 0, .space = 0}};
    rt.submit_operation(what, &to, sizeof to, uses, {.at = rt.at("sim0")});
    rt.fence();
    return seen;
  };
  EXPECT_EQ(epoch(), 0u);
  EXPECT_EQ(epoch(), 0u);
  rt.detach("sim0");  // gives its slab back
  rt.attach("sim0");
  EXPECT_EQ(epoch(), 1u) << "graphs with addresses of the slab must not be launched any more";
}

TEST(detach, with_hints_as_orders_a_task_for_the_device_fails) {
  runtime rt(testing::with_sims(1, "1 MiB", false, 2, "placement = \"pinned\"\ndetached = [\"sim0\"]\n"));
  auto a = rt.make_array<double>("a", {1}, {1});
  fill(rt, a(0), 1.0, {.at = rt.at("sim0")});
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("it must run at 'sim0', and sim0 is detached"));
}

TEST(detach, devices_may_start_detached) {
  runtime rt(testing::with_sims(2, "1 MiB", false, 2, "detached = [\"sim1\"]\n"));
  EXPECT_TRUE(rt.attached(rt.at("sim0")));
  EXPECT_FALSE(rt.attached(rt.at("sim1")));
  auto a = rt.make_array<double>("a", {1}, {1});
  fill(rt, a(0), 1.0, {.at = rt.at("sim1")});
  rt.fence();
  EXPECT_EQ(ran_at(rt, "sim1"), 0u);
  rt.attach("sim1");
  scal(rt, 3.0, a(0), {.at = rt.at("sim1")});
  EXPECT_EQ(a(0).read()[0], 3.0);
  EXPECT_EQ(ran_at(rt, "sim1"), 1u);
}

TEST(detach, names_that_start_detached_are_checked) {
  const auto with = [](const std::string& names) {
    return error_of([&] { (void)testing::with_sims(1, "1 MiB", false, 2, "detached = [" + names + "]\n"); });
  };
  EXPECT_EQ(with("\"sim9\"").kind(), error_kind::configuration);
  EXPECT_THAT(with("\"sim9\"").what(), HasSubstr("did you mean 'sim0'?"));
  EXPECT_THAT(with("\"sim9\"").where(), HasSubstr(":4:")) << "the line of the text";
  EXPECT_THAT(with("\"core0\"").what(), HasSubstr("where no device is"));
}

TEST(detach, what_no_other_memory_can_hold_keeps_the_device) {
  runtime rt(
      testing::with_sims(1, "1 MiB", false, 1, "", "",
                         "[memory]\nhost_limit = \"128 KiB\"\nslab_bytes = \"64 KiB\"\nstaging_bytes = \"64 KiB\"\n"));
  auto a = rt.make_array<double>("a", {64 * 512}, {512});  // 256 KiB
  for (int k = 0; k < 64; ++k) fill(rt, a(k), double(k), {.at = rt.at("sim0")});
  rt.fence();
  const error e = error_of([&] { rt.detach("sim0"); });
  EXPECT_EQ(e.kind(), error_kind::memory);
  EXPECT_THAT(e.what(), HasSubstr("find no room in"));
  EXPECT_THAT(e.what(), HasSubstr("a("));
  EXPECT_TRUE(rt.attached(rt.at("sim0")));
  for (int k = 0; k < 64; ++k) scal(rt, 2.0, a(k), {.at = rt.at("sim0")});
  rt.fence();
  for (int k = 0; k < 64; ++k) {
    EXPECT_EQ(a(k).read()[511], 2 * k);
  }
}

TEST(detach, sole_copies_go_on_to_a_disk_when_the_host_is_full) {
  runtime rt(
      testing::with_sims(1, "1 MiB", false, 1, "", ", \"disk\"",
                         "[memory]\nhost_limit = \"128 KiB\"\nslab_bytes = \"64 KiB\"\nstaging_bytes = \"64 KiB\"\n"));
  auto a = rt.make_array<double>("a", {64 * 512}, {512});
  for (int k = 0; k < 64; ++k) fill(rt, a(k), double(k), {.at = rt.at("sim0")});
  rt.fence();
  rt.detach("sim0");
  for (int k = 0; k < 64; ++k) EXPECT_EQ(a(k).read()[511], k);
  EXPECT_THAT(error_of([&] { rt.detach("disk0"); }).what(), HasSubstr("storage, which stays"));
}

TEST(detach, a_recording_goes_elsewhere_at_its_next_replay) {
  runtime rt(testing::with_sims(1, "1 MiB"));
  auto a = rt.make_array<double>("a", {4}, {1});
  for (int k = 0; k < 4; ++k) fill(rt, a(k), 1.0);
  recording twice = rt.record([&] {
    for (int k = 0; k < 4; ++k) scal(rt, 2.0, a(k), {.at = rt.at("sim0")});
  });
  rt.replay(twice);
  rt.fence();
  const std::uint64_t before = ran_at(rt, "sim0");
  EXPECT_GE(before, 4u);
  rt.replay(twice);
  rt.detach("sim0");
  const std::uint64_t then = ran_at(rt, "sim0");
  rt.replay(twice);
  rt.fence();
  EXPECT_EQ(ran_at(rt, "sim0"), then);
  rt.attach("sim0");
  twice.place_again();
  rt.replay(twice);
  rt.fence();
  EXPECT_EQ(ran_at(rt, "sim0"), then + 4);
  for (int k = 0; k < 4; ++k) EXPECT_EQ(a(k).read()[0], 16);
}

using testing::random_setting;

class random_devices : public ::testing::TestWithParam<random_setting> {};

TEST_P(random_devices, come_and_go_under_a_random_program) {
  const random_setting& s = GetParam();
  const std::uint64_t tasks = testing::number_from("TESSERA_DAG_TASKS", s.tasks) / testing::slow_down;
  std::mt19937_64 random = testing::seeded_random();
  runtime rt(s.make());
  testing::random_blocks on(rt, s.blocks, s.extent());
  const auto run = [&](std::uint64_t some) {
    for (std::uint64_t k = 0; k < some; ++k) {
      on.run(on.any_task(random));
      if (random() % 5000 == 0) on.check_any(random);
    }
  };
  run(tasks /
      5);  // before the first edit: an editor that wins the race keeps a single device away for all of a short program
  rt.fence();
  EXPECT_GT(rt.statistics().bytes_transferred(), 0u) << "nothing ran on the devices: the test tests nothing";
  std::atomic<bool> over{false};
  std::atomic<int> edits{0};
  std::thread editor([&, seed = random()] {
    std::mt19937_64 mine(seed);
    std::vector<bool> away(static_cast<std::size_t>(s.devices));
    while (!over || edits < 4) {
      const std::size_t k = mine() % away.size();
      const std::string name = "sim" + std::to_string(k);
      if (away[k])
        rt.attach(name);
      else
        rt.detach(name);
      away[k] = !away[k];
      ++edits;
      const std::uint64_t until = rt.tasks_retired() + mine() % (tasks / 20 + 1);
      while (rt.tasks_retired() < until && !over) std::this_thread::yield();
    }
  });
  run(tasks - tasks / 5);
  over = true;
  rt.fence();
  editor.join();
  rt.fence();
  ASSERT_NO_FATAL_FAILURE(on.check_all());
  const statistics after = rt.statistics();
  std::printf("%d edits, %llu tasks placed elsewhere, %llu written back\n", edits.load(),
              static_cast<unsigned long long>(after.devices.placed_elsewhere),
              static_cast<unsigned long long>(after.coherence.written_back));
}

INSTANTIATE_TEST_SUITE_P(
    machines, random_devices,
    ::testing::Values(
        random_setting{"one", 1, "64 MiB", false, "locality", 20'000, 200},
        random_setting{"two_with_link", 2, "64 MiB", true, "locality", 40'000, 500},
        random_setting{"three", 3, "64 MiB", false, "eager", 20'000, 200},
        random_setting{"tight_memory", 2, "96 KiB", true, "locality", 10'000, 100},
        random_setting{"tight_memory_eager", 2, "64 KiB", false, "eager", 10'000, 60},
        random_setting{"tight_memory_fifo", 3, "64 KiB", false, "eager", 10'000, 60, "[memory]\neviction = \"fifo\"\n"},
        random_setting{"three_tiers", 1, "16 KiB", false, "locality", 5'000, 200,
                       "[memory]\nhost_limit = \"64 KiB\"\nslab_bytes = \"64 KiB\"\nstaging_bytes = \"64 KiB\"\n"},
        random_setting{"cost", 2, "64 MiB", true, "cost", 20'000, 300},
        random_setting{"tight_memory_cost", 2, "64 KiB", false, "cost", 10'000, 60},
        random_setting{"pinned", 1, "1 MiB", false, "pinned", 10'000, 100}),
    [](const auto& parameters) { return std::string(parameters.param.name); });

}  // namespace
}  // namespace tessera
