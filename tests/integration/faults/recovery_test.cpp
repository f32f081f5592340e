// What the runtime makes of single faults.
#include <gmock/gmock.h>

#include <atomic>
#include <stdexcept>

#include "tests/integration/faults/faulty.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/slow_down.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::HasSubstr;
using ::testing::Not;

const testing::place& sim = testing::places()[0];

TEST(copies, a_refused_one_is_tried_again) {
  const testing::deadline limit("refused");
  runtime rt(testing::faulty_machine(sim, "kind = \"copy_refused\"\nat = 1\n"));
  auto a = rt.make_array<double>("a", {4}, {4});
  a(0).write()[0] = 3;
  scal(rt, 2.0, a(0), {.at = rt.at("sim0")});
  EXPECT_EQ(a(0).read()[0], 6);
  const statistics s = rt.statistics();
  EXPECT_EQ(s.trouble.failed_copies, 1u);
  EXPECT_EQ(s.trouble.retried_copies, 1u);
  EXPECT_THAT(to_text(s), HasSubstr("1 copies failed, 1 tried again"));
}

TEST(copies, one_that_fails_under_way_is_tried_again_for_a_device_and_for_the_host) {
  for (const char* at : {"at = 1\n", "at = 2\n"}) {
    const testing::deadline limit("under way");
    runtime rt(testing::faulty_machine(sim, "kind = \"copy_fails\"\n" + std::string(at)));
    auto a = rt.make_array<double>("a", {4}, {4});
    a(0).write()[0] = 3;
    scal(rt, 2.0, a(0), {.at = rt.at("sim0")});
    EXPECT_EQ(a(0).read()[0], 6);
    EXPECT_EQ(rt.statistics().trouble.retried_copies, 1u);
    EXPECT_NO_THROW(rt.fence());
  }
}

// With the settings that a program has when it sets none: how many copies a run makes depends on how fast its tasks
// seem to be, so that the later ones of a few runs are never made.
TEST(copies, whichever_fails_once_the_run_ends_right) {
  std::uint64_t failed = 0;
  constexpr int each = testing::is_slow ? 5 : 1;
  for (std::size_t where = 0; where < 5; ++where) {
    const testing::place& at = testing::places()[where];
    for (int k = 1; k <= 40; k += each) {
      SCOPED_TRACE(at.name + std::string(", copy ") + std::to_string(k));
      const testing::deadline limit(at.name + std::string(", copy ") + std::to_string(k));
      runtime rt(testing::faulty_machine(at, "kind = \"copy_fails\"\nat = " + std::to_string(k) + "\n"));
      testing::random_blocks program(rt, testing::blocks_on(at), 512);
      testing::run_random(program, static_cast<std::uint64_t>(k), 200);
      EXPECT_NO_THROW(rt.fence());
      std::map<int, std::string> unreadable;
      EXPECT_EQ(program.wrong(unreadable), 0);
      EXPECT_TRUE(unreadable.empty()) << unreadable.begin()->second;
      failed += rt.statistics().trouble.failed_copies;
    }
  }
  EXPECT_GT(failed, 40u / each) << "of 200 copies (with slow checkers 40): the test tests little";
}

// Tasks so short that they go in batches wait for their copies too, and go in batches all the same.
TEST(copies, of_tasks_that_go_in_batches_are_tried_again) {
  constexpr std::int64_t tile = 16, tiles = 6;
  for (const char* placement : {"locality", "eager", "cost", "pinned"})
    for (const std::size_t where : {0u, 2u, 4u})  // their memories hold the blocks of a product
      for (int at = 1; at <= 4; ++at) {
        const testing::place& on = testing::places()[where];
        const std::string what = std::string(placement) + " on " + on.name + ", copy " + std::to_string(at);
        SCOPED_TRACE(what);
        const testing::deadline limit(what);
        runtime rt(testing::faulty_machine(on, "kind = \"copy_fails\"\nat = " + std::to_string(at) + "\n",
                                           "placement = \"" + std::string(placement) + "\"\n"));
        const task_options there{.at = rt.at("sim0")};
        auto a = rt.make_matrix<double>("a", {tile, tile * tiles}, {tile, tile});
        auto b = rt.make_matrix<double>("b", {tile, tile * tiles}, {tile, tile});
        auto c = rt.make_matrix<double>("c", {tile * tiles, tile * tiles}, {tile, tile});
        for (std::int64_t k = 0; k < tiles; ++k) {
          for (double& v : a(0, k).write()) v = 1 + double(k);
          for (double& v : b(0, k).write()) v = 2;
        }
        for (int round = 0; round < 2; ++round)
          for (std::int64_t i = 0; i < tiles; ++i)
            for (std::int64_t j = 0; j < tiles; ++j)
              gemm(rt, 1.0, a(0, i), transpose::yes, b(0, j), transpose::no, double(round), c(i, j), there);
        EXPECT_NO_THROW(rt.fence());
        for (std::int64_t i = 0; i < tiles; ++i)
          for (std::int64_t j = 0; j < tiles; ++j) ASSERT_EQ(c(i, j).read()[7], 2 * 2.0 * tile * (1 + double(i)));
        if (std::string_view(placement) == "pinned") {
          EXPECT_EQ(rt.statistics().trouble.retried_copies, 1u);
        }
      }
}

TEST(batches, form_of_tasks_that_have_waited_for_copies_of_their_own) {
  runtime rt(testing::faulty_machine(sim, "", "placement = \"pinned\"\n"));
  const task_options there{.at = rt.at("sim0")};
  constexpr std::int64_t count = 200, n = 8;
  auto a = rt.make_matrix<double>("a", {n, n * count}, {n, n}), c = rt.make_matrix<double>("c", {n, n * count}, {n, n});
  for (std::int64_t k = 0; k < count; ++k)
    for (double& v : a(0, k).write()) v = 1;
  for (std::int64_t k = 0; k < count; ++k)
    gemm(rt, 1.0, a(0, k), transpose::no, a(0, k), transpose::no, 0.0, c(0, k), there);
  rt.fence();
  for (std::int64_t k = 0; k < count; ++k) ASSERT_EQ(c(0, k).read()[3], n);
  const statistics s = rt.statistics();
  std::uint64_t tasks = 0;
  for (const auto& o : s.operations) tasks += o.operation == "gemm" ? o.tasks : 0;
  EXPECT_EQ(tasks, std::uint64_t(count));
  EXPECT_GT(s.batches.tasks, 0u) << "how many wait together is the machine's: here " << s.batches.launched
                                 << " launches";
}

// Between two devices without a link a copy goes in pieces on two streams, and its source may still be on its way: it
// fails with any of them.
TEST(copies, whatever_fails_nothing_that_can_be_read_is_wrong) {
  const int programs = static_cast<int>(testing::number_from("TESSERA_PROGRAMS", 60) / testing::slow_down);
  std::uint64_t failed = 0;
  for (const char* checked : {"", "checked_copies = false\n"})
    for (int k = 1; k <= programs; ++k) {
      SCOPED_TRACE(std::string(checked) + "program " + std::to_string(k));
      const testing::deadline limit("program " + std::to_string(k));
      const testing::place& at = testing::places()[k % 2 == 0 ? 2 : 3];
      runtime rt(testing::faulty_machine(at, "kind = \"copy_fails\"\nprobability = 0.05\n", checked));
      testing::random_blocks program(rt, testing::blocks_on(at), 512);
      testing::run_random(program, static_cast<std::uint64_t>(k), 200);
      try {
        rt.fence();
      } catch (const error& e) {  // a copy that has failed four times, or behind which a task was enqueued
        EXPECT_EQ(e.kind(), error_kind::device) << e.what();
      }
      std::map<int, std::string> unreadable;
      ASSERT_EQ(program.wrong(unreadable), 0);
      failed += rt.statistics().trouble.failed_copies;
    }
  EXPECT_GT(failed, 2u * static_cast<std::uint64_t>(programs)) << "nothing failed, the test tests nothing";
}

TEST(copies, one_that_stays_fails_the_task_and_leaves_the_other_replicas_alone) {
  const testing::deadline limit("stays");
  runtime rt(testing::faulty_machine(sim, "kind = \"copy_fails\"\n", "copy_retries = 2\n"));
  auto a = rt.make_array<double>("a", {8}, {4});
  a(0).write()[0] = 3;
  a(1).write()[0] = 4;
  axpy(rt, 2.0, a(0), a(1), {.at = rt.at("sim0")});
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::device);
  EXPECT_THAT(e.what(), HasSubstr("the copy of a(0) from "));
  EXPECT_THAT(e.what(), HasSubstr(" to sim0"));
  EXPECT_THAT(e.what(), HasSubstr("INTERNAL"));
  EXPECT_THAT(e.what(), HasSubstr("(3 times)"));
  EXPECT_THAT(e.what(), HasSubstr("task 'axpy'"));
  EXPECT_EQ(a(0).read()[0], 3) << "only the copy failed";
  EXPECT_THAT(error_of([&] { (void)a(1).read(); }).what(), HasSubstr("the copy of"))
      << "what the task should have made";
  a(1).write()[0] = 5;
  EXPECT_EQ(a(1).read()[0], 5) << "written anew";
  EXPECT_NO_THROW(rt.fence());
}

TEST(copies, without_checking_the_first_failure_costs_the_task_and_is_told) {
  const testing::deadline limit("unchecked");
  runtime rt(testing::faulty_machine(sim, "kind = \"copy_fails\"\nat = 1\n", "checked_copies = false\n"));
  auto a = rt.make_array<double>("a", {4}, {4});
  a(0).write()[0] = 3;
  scal(rt, 2.0, a(0), {.at = rt.at("sim0")});
  scal(rt, 2.0, a(0), {.at = rt.at("sim0")});
  try {
    rt.fence();
    EXPECT_EQ(a(0).read()[0], 12) << "the failure was seen before the task was enqueued";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr("the copy of a(0)"));
  }
  fill(rt, a(0), 2.0);
  scal(rt, 2.0, a(0), {.at = rt.at("sim0")});
  EXPECT_EQ(a(0).read()[0], 4);
}

TEST(copies, wrong_contents_are_read_once_more_and_then_believed) {
  const testing::deadline limit("checksum");
  runtime rt(testing::faulty_machine(sim, "kind = \"copy_fails\"\nstatus = \"data_loss\"\n", "copy_retries = 9\n"));
  auto a = rt.make_array<double>("a", {4}, {4});
  a(0).write()[0] = 3;
  scal(rt, 2.0, a(0), {.at = rt.at("sim0")});
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("DATA_LOSS"));
  EXPECT_EQ(rt.statistics().trouble.failed_copies, 2u);
}

TEST(copies, a_failed_write_back_loses_nothing) {
  const testing::deadline limit("write-back");
  // The first copy is the first write-back, since nothing else has to move.
  runtime rt(testing::faulty_machine(testing::places()[1], "kind = \"copy_fails\"\ntimes = 2\n"));
  auto a = rt.make_array<double>("a", {40 * 64}, {64});
  for (int k = 0; k < 40; ++k) fill(rt, a(k), double(k), {.at = rt.at("sim0")});
  rt.fence();
  for (int k = 0; k < 40; ++k) EXPECT_EQ(a(k).read()[63], k);
  EXPECT_EQ(rt.statistics().trouble.failed_copies, 2u);
}

TEST(copies, when_nothing_can_leave_a_full_memory_the_error_says_why) {
  const testing::deadline limit("stuck");
  runtime rt(testing::faulty_machine(testing::places()[1], "kind = \"copy_fails\"\n", "placement = \"pinned\"\n"));
  auto a = rt.make_array<double>("a", {40 * 64}, {64});
  for (int k = 0; k < 40; ++k) fill(rt, a(k), double(k), {.at = rt.at("sim0")});
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::memory);
  EXPECT_THAT(e.what(), HasSubstr("is full"));
  EXPECT_THAT(e.what(), HasSubstr("the copy of a("));
}

TEST(allocations, a_refused_slab_is_asked_for_again_in_a_smaller_size) {
  const testing::deadline limit("slab");
  runtime rt(testing::faulty_machine(sim, "kind = \"alloc_fails\"\ntimes = 2\n"));
  auto a = rt.make_array<double>("a", {8}, {8});
  fill(rt, a(0), 5.0, {.at = rt.at("sim0")});
  scal(rt, 2.0, a(0), {.at = rt.at("sim0")});
  EXPECT_EQ(a(0).read()[7], 10);
  EXPECT_NO_THROW(rt.fence());
}

TEST(allocations, a_device_without_memory_is_named) {
  const testing::deadline limit("no memory");
  runtime rt(testing::faulty_machine(sim, "kind = \"alloc_fails\"\n", "placement = \"pinned\"\n"));
  auto a = rt.make_array<double>("a", {8}, {8});
  fill(rt, a(0), 5.0, {.at = rt.at("sim0")});
  const error e = error_of([&] { rt.fence(); });
  EXPECT_THAT(e.what(), HasSubstr("sim0"));
  EXPECT_THAT(e.what(), HasSubstr("its plugin gives no more of it: allocation of a slab"));
  fill(rt, a(0), 6.0);
  EXPECT_EQ(a(0).read()[7], 6);
}

TEST(allocations, a_full_disk_is_named_with_its_limit) {
  const testing::deadline limit("full disk");
  runtime rt(
      testing::machine_of("plugins = [\"host\", \"disk\"]\n[memory]\nhost_limit = \"64 KiB\"\nslab_bytes = \"64 KiB\"\n"
                          "[plugin.disk]\ncapacity = \"128 KiB\"\n"));
  auto a = rt.make_array<double>("a", {100 * 512}, {512});
  for (int k = 0; k < 100; ++k) fill(rt, a(k), double(k));
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::memory);
  EXPECT_THAT(e.what(), HasSubstr("disk0"));
  EXPECT_THAT(e.what(), HasSubstr("where its blocks would go, is full"));
  EXPECT_THAT(e.what(), HasSubstr("128 KiB"));
  EXPECT_THAT(e.what(), HasSubstr("plugin.disk.capacity"));
}

TEST(kernels, a_failed_one_spoils_what_it_makes_and_nothing_else) {
  for (const char* kind : {"kernel_fails", "kernel_refused"}) {
    const testing::deadline limit(kind);
    runtime rt(
        testing::faulty_machine(sim, "kind = \"" + std::string(kind) + "\"\nat = 2\n", "placement = \"pinned\"\n"));
    auto a = rt.make_array<double>("a", {12}, {4});
    for (int k = 0; k < 3; ++k) fill(rt, a(k), double(k + 1), {.at = rt.at("sim0")});  // the second fails
    axpy(rt, 1.0, a(1), a(2), {.at = rt.at("sim0")});                                  // and its reader with it
    const error e = error_of([&] { rt.fence(); });
    EXPECT_THAT(e.what(), HasSubstr("fill on sim0 failed"));
    EXPECT_THAT(e.what(), HasSubstr("INTERNAL"));
    EXPECT_THAT(e.what(), ::testing::Not(HasSubstr("failed: fill failed"))) << "said twice";
    EXPECT_THAT(e.where(), HasSubstr("recovery_test.cpp"));
    EXPECT_EQ(a(0).read()[3], 1);
    EXPECT_THAT(error_of([&] { (void)a(1).read(); }).what(), HasSubstr("fill on sim0 failed"));
    EXPECT_THAT(error_of([&] { (void)a(2).read(); }).what(), HasSubstr("fill on sim0 failed"));
    fill(rt, a(1), 7.0, {.at = rt.at("sim0")});
    EXPECT_EQ(a(1).read()[3], 7);
  }
}

TEST(functions, one_that_throws_is_named) {
  const testing::deadline limit("throws");
  runtime rt(testing::machine_of("plugins = [\"host\"]\n"));
  auto a = rt.make_array<double>("a", {2}, {1});
  rt.submit(
      "good", [](view<double> v) { v[0] = 1; }, write(a(0)));
  rt.submit(
      "bad one", [](view<double>) { throw std::runtime_error("of its own"); }, write(a(1)));
  rt.submit(
      "odd one", [](view<double>) { throw 5; }, update(a(1)));
  const error e = error_of([&] { rt.fence(); });
  EXPECT_THAT(e.what(), HasSubstr("bad one failed: of its own"));
  EXPECT_EQ(a(0).read()[0], 1);
}

// The sum has to be missing one: what an earlier writer makes is not it.
TEST(accumulates, an_adder_that_fails_early_spoils_the_sum) {
  for (int round = 0; round < 5; ++round) {
    const testing::deadline limit("adder");
    runtime rt(testing::machine_of("plugins = [\"host\"]\n"));
    auto a = rt.make_array<double>("a", {2}, {1});
    std::atomic<bool> go{false};
    rt.submit(
        "bad", [](view<double>) { throw std::runtime_error("no input"); }, write(a(1)));
    rt.submit(
        "slow writer",
        [&](view<double> v) {
          while (!go) std::this_thread::yield();
          v[0] = 10;
        },
        write(a(0)));
    axpy_accumulate(rt, 1.0, a(1), a(0));  // fails for want of a(1), before a(0) is written
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      go = true;
    });
    EXPECT_THAT(error_of([&] { (void)a(0).read(); }).what(), HasSubstr("no input"));
    later.join();
    fill(rt, a(0), 1.0);
    try {
      rt.fence();
    } catch (const error&) {
    }
    EXPECT_EQ(a(0).read()[0], 1);
  }
}

}  // namespace
}  // namespace tessera
