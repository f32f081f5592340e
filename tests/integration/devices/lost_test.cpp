// Devices that are lost while the program runs: what survives goes on, what does not is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/integration/faults/faulty.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::AllOf;
using testing::faulty_machine;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::place;

const place& place_of(const std::string& name) {
  for (const place& p : testing::places())
    if (p.name == name) return p;
  throw std::runtime_error("no place " + name);
}

std::string lost(const std::string& on, int at, const std::string& device = "") {
  return "kind = \"lost\"\non = \"" + on + "\"\nat = " + std::to_string(at) + "\n" +
         (device.empty() ? "" : "device = \"" + device + "\"\n");
}

TEST(lost_device, before_it_holds_anything_costs_nothing) {
  const testing::deadline limit("lost at its first allocation");
  runtime rt(faulty_machine(place_of("sim"), lost("alloc", 1)));
  testing::random_blocks program(rt, 24);
  testing::run_random(program, 5, 300);
  EXPECT_NO_THROW(rt.fence());
  program.check_all();
  const statistics s = rt.statistics();
  EXPECT_EQ(s.losses.devices, 1u);
  EXPECT_EQ(s.losses.blocks, 0u);
  EXPECT_FALSE(rt.attached(rt.at("sim0")));
  const error e = error_of([&] { rt.attach("sim0"); });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_THAT(e.what(), HasSubstr("sim0 is lost"));
}

TEST(lost_device, what_only_it_had_is_named_once_and_can_be_written_anew) {
  const testing::deadline limit("sole copies");
  runtime rt(faulty_machine(place_of("sim"), lost("kernel", 9)));
  auto a = rt.make_array<double>("a", {64}, {8}), b = rt.make_array<double>("b", {16}, {8});
  const task_options there{.at = rt.at("sim0")};
  for (int k = 0; k < 8; ++k) fill(rt, a(k), double(k), there);  // eight computations
  rt.fence();
  for (int k = 0; k < 4; ++k) EXPECT_EQ(a(k).read()[3], k);  // copies: these survive
  rt.submit(
      "here", [](view<double> x) { x[0] = 7; }, write(b(0)));
  rt.fence();
  fill(rt, b(1), 1.0, there);  // the ninth: it runs elsewhere
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::device);
  EXPECT_THAT(e.what(), AllOf(HasSubstr("sim0 (device 'sim0' is lost (injected)) is lost, and with it "),
                              HasSubstr("a(4), a(5), a(6), a(7)"), Not(HasSubstr("a(3)")), Not(HasSubstr("b("))));
  EXPECT_THAT(e.hint(), HasSubstr("write these blocks anew"));
  EXPECT_NO_THROW(rt.fence()) << "told once";
  for (int k = 0; k < 4; ++k) EXPECT_EQ(a(k).read()[3], k);
  EXPECT_EQ(b(0).read()[0], 7);
  EXPECT_EQ(b(1).read()[5], 1);
  const error gone = error_of([&] { (void)a(5).read(); });
  EXPECT_THAT(gone.what(), HasSubstr("a(5) is lost: its only copy was on sim0, which is lost"));
  EXPECT_EQ(rt.statistics().losses.blocks, 4u);
  for (int k = 4; k < 8; ++k) fill(rt, a(k), 10.0 + k, there);
  EXPECT_NO_THROW(rt.fence());
  for (int k = 4; k < 8; ++k) EXPECT_EQ(a(k).read()[0], 10 + k);
  EXPECT_THAT(to_text(rt.statistics()), HasSubstr("1 devices, 4 blocks with them"));
}

TEST(lost_device, what_is_overwritten_before_the_fence_is_not_missed) {
  const testing::deadline limit("overwritten");
  runtime rt(faulty_machine(place_of("sim"), lost("kernel", 3)));
  auto a = rt.make_array<double>("a", {16}, {8});
  const task_options there{.at = rt.at("sim0")};
  fill(rt, a(0), 1.0, there);
  fill(rt, a(1), 1.0, there);
  rt.fence();
  fill(rt, a(0), 2.0, there);  // lost now, and done elsewhere
  rt.submit(
      "anew",
      [](view<double> x) {
        for (std::int64_t i = 0; i < x.size(); ++i) x[i] = 3;
      },
      write(a(1)));
  EXPECT_NO_THROW(rt.fence());
  EXPECT_EQ(a(0).read()[7], 2);
  EXPECT_EQ(a(1).read()[7], 3);
}

TEST(lost_device, a_sum_that_misses_an_addend_is_named) {
  const testing::deadline limit("sum");
  int named = 0;
  for (int copy = 1; copy <= 4; ++copy) {
    SCOPED_TRACE(copy);
    runtime rt(faulty_machine(place_of("sim"), lost("copy", copy)));
    auto x = rt.make_array<double>("x", {8}, {8}), sum = rt.make_array<double>("sum", {8}, {8});
    const auto add_six = [&] {
      for (int k = 0; k < 6; ++k) axpy_accumulate(rt, 1.0, x(0), sum(0), {.at = rt.at("sim0")});
    };
    fill(rt, x(0), 1.0, {.at = rt.at("numa0")});
    fill(rt, sum(0), 0.0, {.at = rt.at("numa0")});
    rt.fence();
    const auto is_six = [&] {  // else it is named
      try {
        rt.fence();
        EXPECT_EQ(sum(0).read()[0], 6);
        return true;
      } catch (const error& e) {
        EXPECT_THAT(e.what(), HasSubstr("lost"));
      }
      EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("sum(0)"));
      ++named;
      return false;
    };
    add_six();
    if (!is_six()) {
      fill(rt, sum(0), 0.0);
      add_six();
      EXPECT_TRUE(is_six()) << "there is one device to lose";
    }
  }
  EXPECT_GT(named, 0) << "no loss took a sum with it: the test tests nothing";
}

TEST(lost_device, ends_the_run_where_that_is_wanted) {
  const testing::deadline limit("survive_loss = false");
  runtime rt(faulty_machine(place_of("sim"), lost("kernel", 20), "survive_loss = false\n"));
  testing::random_blocks program(rt, 24);
  const error e = error_of([&] {
    for (unsigned round = 0; round < 50; ++round) {  // on a busy machine the host may run nearly all tasks of a round
      testing::run_random(program, round, 300);
      rt.fence();
    }
  });
  EXPECT_EQ(e.kind(), error_kind::device);
  EXPECT_THAT(e.what(), HasSubstr("is lost"));
  EXPECT_THAT(e.hint(), ::testing::Not(HasSubstr("the run goes on")));
  EXPECT_THAT(error_of([&] { (void)program.blocks()(0).read(); }).what(), HasSubstr("device sim0 is lost"));
}

TEST(lost_device, pinned_tasks_of_it_cannot_run) {
  const testing::deadline limit("pinned");
  runtime rt(faulty_machine(place_of("sim"), lost("alloc", 1), "placement = \"pinned\"\n"));
  auto a = rt.make_array<double>("a", {8}, {8});
  fill(rt, a(0), 1.0, {.at = rt.at("sim0")});
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::device);
  EXPECT_THAT(e.what(), HasSubstr("it must run at 'sim0', and sim0 is lost"));
}

TEST(lost_device, while_it_is_emptied) {
  const testing::deadline limit("detach");
  runtime rt(faulty_machine(place_of("sim"), lost("copy", 3)));
  auto a = rt.make_array<double>("a", {64}, {8});
  for (int k = 0; k < 8; ++k) fill(rt, a(k), double(k), {.at = rt.at("sim0")});
  rt.fence();
  EXPECT_THAT(error_of([&] { rt.detach("sim0"); }).what(), HasSubstr("sim0 was lost before it could be detached"));
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("is lost, and with it a("));
  int good = 0;
  for (int k = 0; k < 8; ++k) try {
      EXPECT_EQ(a(k).read()[0], k);
      ++good;
    } catch (const error&) {
    }
  EXPECT_LE(good, 2);
}

TEST(lost_device, stays_lost_when_the_detach_of_another_is_refused) {
  const testing::deadline limit("detach of both");
  const std::string device = "[[plugin.sim.device]]\nmemory = \"1 MiB\"\n";
  runtime rt(testing::machine_of(
      "plugins = [\"host\", \"sim\"]\nhistory = \"off\"\n[memory]\nhost_limit = \"256 KiB\"\nslab_bytes = \"64 KiB\"\n"
      "staging_bytes = \"64 KiB\"\n[plugin.sim]\nclock = \"real\"\n" +
      device + device + "[[plugin.sim.inject]]\n" + lost("copy", 1, "sim0")));
  auto a = rt.make_array<double>("a", {8}, {8});
  auto b = rt.make_array<double>("b", {128 * 512}, {512});  // 512 KiB, which the host cannot hold
  auto kept = rt.make_array<double>("kept", {8}, {8});      // in whose slab a(0) has room when b has taken the others
  for (double& v : kept(0).write()) v = 1;
  fill(rt, a(0), 1.0, {.at = rt.at("sim0")});
  for (int k = 0; k < 128; ++k) fill(rt, b(k), double(k), {.at = rt.at("sim1")});
  rt.fence();
  EXPECT_THAT(error_of([&] { rt.detach(rt.tree().root()); }).what(), HasSubstr("find no room in"));
  for (int k = 0; k < 128; ++k) scal(rt, 2.0, b(k), {.at = rt.at("sim1")});  // what has come to the host goes back
  EXPECT_THAT(error_of([&] { (void)a(0).read(); }).what(),
              HasSubstr("is lost"));  // its only copy was to be brought by the copy that lost the device
  EXPECT_THROW(rt.fence(), error);    // names a(0)
  while (rt.attached(rt.at("sim0")))
    std::this_thread::yield();  // its driver has to see it; the deadline is for who never does
  EXPECT_THAT(error_of([&] { rt.attach("sim0"); }).what(), HasSubstr("sim0 is lost"));
  EXPECT_TRUE(rt.attached(rt.at("sim1")));
  for (int k = 0; k < 128; ++k) EXPECT_EQ(b(k).read()[511], 2 * k);
}

TEST(lost_disk, what_it_had_is_named_and_what_fits_goes_on) {
  const testing::deadline limit("disk");
  runtime rt(faulty_machine(place_of("disk"), lost("copy", 60)));
  testing::random_blocks program(rt, testing::blocks_on(place_of("disk")), 512);
  testing::run_random(program, 1, 600);
  const error e = error_of([&] { rt.fence(); });
  EXPECT_TRUE(e.kind() == error_kind::device || e.kind() == error_kind::memory) << e.what();
  EXPECT_THAT(e.what(), HasSubstr("lost"));
  std::map<int, std::string> unreadable;
  EXPECT_EQ(program.wrong(unreadable), 0);
  EXPECT_GT(unreadable.size(), 0u);
}

struct moment {
  const char* where;
  const char* on;
  int at;
};
void PrintTo(const moment& m, std::ostream* out) { *out << m.where << "_" << m.on << "_" << m.at; }
class losses : public ::testing::TestWithParam<moment> {};

/// Whatever happens: what can be read is right, what cannot says that something is lost, and the rest of the run is as
/// good as new.
TEST_P(losses, nothing_is_lost_silently) {
  const moment& m = GetParam();
  const std::uint64_t seed = testing::number_from("TESSERA_SEED", std::random_device{}());
  SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed));
  const testing::deadline limit(::testing::PrintToString(m) + ", TESSERA_SEED=" + std::to_string(seed));
  const place& at = place_of(m.where);
  runtime rt(faulty_machine(at, lost(m.on, m.at, at.devices ? "sim0" : "")));
  testing::random_blocks program(rt, testing::blocks_on(at), 512);
  std::string text;
  const auto fence = [&] {
    try {
      rt.fence();
    } catch (const error& e) {
      text += std::string(e.what()) + "\n";
    }
  };
  for (int part = 0; part < 4; ++part) {
    testing::run_random(program, seed + static_cast<std::uint64_t>(part), 100);
    fence();
  }
  std::map<int, std::string> unreadable;
  EXPECT_EQ(program.wrong(unreadable), 0) << "blocks are wrong and nobody has said so; fences said: " << text;
  fence();  // it may have been lost while we looked
  for (const auto& [k, why] : unreadable) EXPECT_THAT(why, HasSubstr("lost")) << k;
  if (!unreadable.empty()) {
    EXPECT_NE(text, "") << "no fence has named what " << unreadable.size() << " blocks lack";
  }
  // Written anew, everything is good; unless the device is lost only now, by chance, or a sum of before is told once
  // more.
  for (int attempt = 0; attempt < 4; ++attempt) {
    text.clear();
    program.fill_all();
    fence();
    testing::run_random(program, seed + 100, 100);
    fence();
    if (text.empty()) break;
  }
  EXPECT_EQ(text, "");
  program.check_all();
}

INSTANTIATE_TEST_SUITE_P(random, losses,
                         ::testing::Values(moment{"sim", "any", 1}, moment{"sim", "copy", 5}, moment{"sim", "copy", 20},
                                           moment{"sim", "kernel", 1}, moment{"sim", "kernel", 40},
                                           moment{"sim_full", "copy", 40}, moment{"sim_full", "kernel", 30},
                                           moment{"two_sims", "copy", 10}, moment{"two_sims", "kernel", 25},
                                           moment{"two_sims", "any", 90}, moment{"two_linked", "copy", 30},
                                           moment{"two_linked", "kernel", 25}, moment{"two_linked", "any", 100},
                                           moment{"layer", "copy", 15}, moment{"layer", "kernel", 20}));

}  // namespace
}  // namespace tessera
