// Devices that leave and come back while the program runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/integration/runtime/machines.hpp"
#include "tests/integration/runtime/random_program.hpp"
#include "tests/support/error_of.hpp"

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
    if (one.name == name) return one.is;
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
  for (int k = 0; k < 8; ++k) EXPECT_EQ(a.read_host(a(k))[7], k);

  for (int k = 0; k < 8; ++k) scal(rt, 2.0, a(k), there);  // a hint that cannot be followed
  rt.fence();
  EXPECT_EQ(ran_at(rt, "sim0"), 8u) << "nothing more ran there";
  for (int k = 0; k < 8; ++k) EXPECT_EQ(a.read_host(a(k))[0], 2 * k);

  rt.attach("sim0");
  for (int k = 0; k < 8; ++k) scal(rt, 2.0, a(k), there);
  rt.fence();
  EXPECT_EQ(ran_at(rt, "sim0"), 16u) << "useful within the same run";
  for (int k = 0; k < 8; ++k) EXPECT_EQ(a.read_host(a(k))[0], 4 * k);
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
    auto v = a.write_host(a(0));
    EXPECT_THAT(error_of([&] { rt.detach("sim0"); }).what(), HasSubstr("holds 1 view"));
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
  const block::access uses[] = {{.block = &a(0).record(), .version = 0, .how = intent::write, .flags = 0, .space = 0}};
  rt.submit_operation(what, nullptr, 0, uses);
  const error e = error_of([&] { rt.fence(); });
  EXPECT_THAT(e.what(), HasSubstr("no location can run it: sim0 is detached"));
  EXPECT_THAT(e.where(), HasSubstr("'device only'"));
  rt.attach("sim0");
  rt.submit_operation(what, nullptr, 0, uses);
  EXPECT_NO_THROW(rt.fence());
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
  EXPECT_EQ(a.read_host(a(0))[0], 3.0);
  EXPECT_EQ(ran_at(rt, "sim1"), 1u);
}

TEST(detach, names_that_start_detached_are_checked) {
  const auto with = [](const std::string& names) { return error_of([&] { (void)testing::with_sims(1, "1 MiB", false, 2, "detached = [" + names + "]\n"); }); };
  EXPECT_EQ(with("\"sim9\"").kind(), error_kind::configuration);
  EXPECT_THAT(with("\"sim9\"").what(), HasSubstr("did you mean 'sim0'?"));
  EXPECT_THAT(with("\"sim9\"").where(), HasSubstr(":4:")) << "the line of the text";
  EXPECT_THAT(with("\"core0\"").what(), HasSubstr("where no device is"));
}

TEST(detach, what_no_other_memory_can_hold_keeps_the_device) {
  runtime rt(testing::with_sims(1, "1 MiB", false, 1, "", "", "[memory]\nhost_limit = \"128 KiB\"\nslab_bytes = \"64 KiB\"\nstaging_bytes = \"64 KiB\"\n"));
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
    EXPECT_EQ(a.read_host(a(k))[511], 2 * k);
  }
}

TEST(detach, sole_copies_go_on_to_a_disk_when_the_host_is_full) {
  runtime rt(testing::with_sims(1, "1 MiB", false, 1, "", ", \"disk\"", "[memory]\nhost_limit = \"128 KiB\"\nslab_bytes = \"64 KiB\"\nstaging_bytes = \"64 KiB\"\n"));
  auto a = rt.make_array<double>("a", {64 * 512}, {512});
  for (int k = 0; k < 64; ++k) fill(rt, a(k), double(k), {.at = rt.at("sim0")});
  rt.fence();
  rt.detach("sim0");
  for (int k = 0; k < 64; ++k) EXPECT_EQ(a.read_host(a(k))[511], k);
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
  for (int k = 0; k < 4; ++k) EXPECT_EQ(a.read_host(a(k))[0], 16);
}

struct setting {
  const char* name;
  int devices;
  const char* memory;
  bool peer;
  const char* placement;
  std::uint64_t tasks;
  int blocks;
  const char* memory_table = "";
};
void PrintTo(const setting& s, std::ostream* out) { *out << s.name; }

class random_devices : public ::testing::TestWithParam<setting> {};

TEST_P(random_devices, come_and_go_under_a_random_program) {
  const setting& s = GetParam();
  const std::uint64_t tasks = testing::number_from("TESSERA_DAG_TASKS", s.tasks) / testing::slow_down;
  std::mt19937_64 random = testing::seeded_random();
  const std::string memory = s.memory_table;
  const bool spills = memory.find("host_limit") != std::string::npos;
  runtime rt(testing::with_sims(s.devices, s.memory, s.peer, 2, "placement = \"" + std::string(s.placement) + "\"\nhistory = \"off\"\n",
                                spills ? ", \"disk\"" : "", memory));
  constexpr std::int64_t extent = 32;
  auto a = rt.make_array<double>("a", {s.blocks * extent}, {extent});
  auto spare = rt.make_array<double>("spare", {8 * extent}, {extent});
  std::vector<double> oracle(static_cast<std::size_t>(s.blocks));
  for (int k = 0; k < s.blocks; ++k) {
    fill(rt, a(k), double(k));
    oracle[static_cast<std::size_t>(k)] = k;
  }
  std::atomic<bool> over{false};
  std::atomic<int> edits{0};
  std::thread editor([&, seed = random()] {
    std::mt19937_64 mine(seed);
    std::vector<bool> away(static_cast<std::size_t>(s.devices));
    while (!over || edits < 4) {
      const std::size_t k = mine() % away.size();
      const std::string name = "sim" + std::to_string(k);
      if (away[k]) rt.attach(name);
      else rt.detach(name);
      away[k] = !away[k];
      ++edits;
      const std::uint64_t until = rt.tasks_retired() + mine() % (tasks / 20 + 1);
      while (rt.tasks_retired() < until && !over) std::this_thread::yield();
    }
  });
  for (std::uint64_t k = 0; k < tasks; ++k) {
    const testing::random_task t = testing::random_task_on(s.blocks, random);
    testing::submit(rt, a, spare, t);
    testing::apply(t, oracle);
    if (random() % 5000 == 0) {
      const double expected = oracle[static_cast<std::size_t>(t.x)];
      EXPECT_NEAR(a.read_host(a(t.x))[extent - 1], expected, 1e-9 * (1 + std::abs(expected)));
    }
  }
  over = true;
  rt.fence();
  editor.join();
  rt.fence();
  for (int k = 0; k < s.blocks; ++k) {
    const auto seen = a.read_host(a(k));
    const double expected = oracle[static_cast<std::size_t>(k)];
    for (const double v : seen) ASSERT_NEAR(v, expected, 1e-9 * (1 + std::abs(expected))) << "block " << k;
  }
  const statistics after = rt.statistics();
  std::printf("%d edits, %llu tasks placed elsewhere, %llu written back\n", edits.load(),
              static_cast<unsigned long long>(after.devices.placed_elsewhere), static_cast<unsigned long long>(after.coherence.written_back));
  EXPECT_GT(after.bytes_transferred(), 0u) << "nothing ran on the devices: the test tests nothing";
}

INSTANTIATE_TEST_SUITE_P(
    machines, random_devices,
    ::testing::Values(setting{"one", 1, "64 MiB", false, "locality", 20'000, 200},
                      setting{"two_with_link", 2, "64 MiB", true, "locality", 40'000, 500},
                      setting{"three", 3, "64 MiB", false, "eager", 20'000, 200},
                      setting{"tight_memory", 2, "96 KiB", true, "locality", 10'000, 100},
                      setting{"tight_memory_eager", 2, "64 KiB", false, "eager", 10'000, 60},
                      setting{"tight_memory_fifo", 3, "64 KiB", false, "eager", 10'000, 60, "[memory]\neviction = \"fifo\"\n"},
                      setting{"three_tiers", 1, "16 KiB", false, "locality", 5'000, 200,
                              "[memory]\nhost_limit = \"64 KiB\"\nslab_bytes = \"64 KiB\"\nstaging_bytes = \"64 KiB\"\n"},
                      setting{"cost", 2, "64 MiB", true, "cost", 20'000, 300},
                      setting{"tight_memory_cost", 2, "64 KiB", false, "cost", 10'000, 60},
                      setting{"pinned", 1, "1 MiB", false, "pinned", 10'000, 100}),
    [](const auto& parameters) { return std::string(parameters.param.name); });

}  // namespace
}  // namespace tessera
