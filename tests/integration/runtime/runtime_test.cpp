// What programs rely on: order, errors, views, several submitters, nested submission, cancellation, limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <numeric>
#include <thread>

#include "core/runtime/inside.hpp"
#include "machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::HasSubstr;

TEST(runtime, tasks_on_one_block_run_in_program_order) {
  for (const unsigned workers : {1u, 2u, 3u}) {
    runtime rt(testing::host_only(workers));
    auto a = rt.make_array<std::int64_t>("a", {1}, {1});
    fill(rt, a(0), std::int64_t{1});
    for (std::int64_t k = 0; k < 2000; ++k)
      rt.submit(
          "step", [k](view<std::int64_t> x) { x[0] = x[0] * 3 % 1000003 + k; }, update(a(0)));
    std::int64_t expected = 1;
    for (std::int64_t k = 0; k < 2000; ++k) expected = expected * 3 % 1000003 + k;
    EXPECT_EQ(a(0).read()[0], expected) << workers << " workers";
  }
}

TEST(runtime, a_throwing_task_is_reported_at_the_fence_with_its_name_and_site) {
  runtime rt(testing::host_only());
  auto a = rt.make_array<double>("a", {2}, {1});
  fill(rt, a(0), 1.0);
  fill(rt, a(1), 1.0);
  const int line = __LINE__ + 1;
  rt.submit(
      "explode", [](view<double>) { throw std::runtime_error("boom 42"); }, update(a(0)));
  std::atomic<int> ran{0};
  rt.submit(
      "victim", [&](view<const double>, view<double>) { ++ran; }, read(a(0)), write(a(1)));
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::task);
  EXPECT_THAT(e.what(), HasSubstr("explode failed: boom 42"));
  EXPECT_THAT(e.where(), HasSubstr("'explode' submitted at runtime_test.cpp:" + std::to_string(line)));
  EXPECT_THAT(e.message(), HasSubstr("; 1 task that depended on it was given up"));
  EXPECT_EQ(ran, 0) << "what depends on a failed task does not run";

  EXPECT_NO_THROW(rt.fence()) << "a failure is reported once";
  EXPECT_THAT(error_of([&] { (void)a(0).read(); }).what(), HasSubstr("boom 42")) << "spoiled data cannot be read";
  fill(rt, a(0), 7.0);  // written anew: usable again
  EXPECT_EQ(a(0).read()[0], 7.0);
}

void twice(view<double> x) { x[0] *= 2; }
void explode(view<double>) { throw std::runtime_error("boom 43"); }

TEST(runtime, functions_of_one_type_keep_their_names) {
  runtime rt(testing::host_only());
  auto a = rt.make_array<double>("a", {1}, {1});
  fill(rt, a(0), 1.0);
  std::function<void(view<double>)> kept = twice;
  for (int k = 0; k < 3; ++k) rt.submit("twice", twice, update(a(0)));
  for (int k = 0; k < 2; ++k) rt.submit("again", &twice, update(a(0)));
  rt.submit("kept", kept, update(a(0)));
  kept = [](view<double> x) { x[0] += 1; };
  rt.submit("changed", kept, update(a(0)));
  rt.submit("twice", twice, update(a(0)));
  EXPECT_EQ(a(0).read()[0], 130);
  std::map<std::string, std::uint64_t> tasks;
  for (const auto& o : rt.statistics().operations) tasks[o.operation] += o.tasks;
  EXPECT_EQ(tasks["twice"], 4u);
  EXPECT_EQ(tasks["again"], 2u);
  EXPECT_EQ(tasks["kept"], 1u);
  EXPECT_EQ(tasks["changed"], 1u);
  rt.submit("the one that fails", explode, update(a(0)));
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("the one that fails failed: boom 43"));
}

TEST(runtime, a_throwing_task_keeps_the_kind_of_its_error) {
  runtime rt(testing::host_only());
  rt.submit("solve", [] { throw error(error_kind::numerical, "singular", "column 3"); });
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::numerical);
  EXPECT_THAT(e.where(), HasSubstr("column 3"));
}

TEST(runtime, reading_what_was_never_written_is_an_error_that_names_the_block) {
  for (const bool devices : {false, true}) {
    runtime rt(devices ? testing::with_sims(1, "1 MiB") : testing::host_only());
    auto a = rt.make_matrix<double>("voltages", {4, 4}, {2, 2});
    rt.submit(
        "look", [](matrix_view<const double>) {}, read(a(1, 0)));
    EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("voltages(1,0) is read before it was ever written"));
  }
}

TEST(runtime, accumulates_commute_and_are_summed_once) {
  for (const bool devices : {false, true}) {
    runtime rt(devices ? testing::with_sims(2, "1 MiB", true) : testing::host_only(3));
    auto sum = rt.make_array<double>("sum", {100}, {100});
    auto one = rt.make_array<double>("one", {100}, {100});
    fill(rt, one(0), 1.0);
    for (int k = 0; k < 500; ++k) axpy_accumulate(rt, double(k), one(0), sum(0));  // never written: counts from zero
    {
      const auto seen = sum(0).read();
      EXPECT_EQ(seen[0], 499 * 250);
      EXPECT_EQ(seen[99], 499 * 250);
    }
    fill(rt, sum(0), 0.5);
    axpy_accumulate(rt, 2.0, one(0), sum(0));
    rt.submit(
        "nan", [](view<double> x) { x[0] += 1; }, accumulate(sum(0)));
    EXPECT_EQ(sum(0).read()[0], 3.5);
    rt.submit(
        "bad", [](view<double>) { throw std::runtime_error("adder"); }, accumulate(sum(0)));
    EXPECT_THAT(error_of([&] { (void)sum(0).read(); }).what(), HasSubstr("adder"))
        << "a lost contribution is not silent";
    EXPECT_NO_THROW(rt.fence()) << "reported at the view, and only there";
  }
}

TEST(runtime, views_wait_for_tasks_and_later_tasks_wait_for_views) {
  runtime rt(testing::host_only());
  auto a = rt.make_array<double>("a", {1}, {1});
  std::atomic<bool> released{false}, seen_before{false};
  {
    auto v = a(0).write();
    v[0] = 1;
    rt.submit(
        "after",
        [&](view<double> x) {
          seen_before = !released;
          x[0] += 1;
        },
        update(a(0)));
    EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("holds host views of 1 block"));
    released = true;
  }
  rt.fence();
  EXPECT_FALSE(seen_before);
  EXPECT_EQ(a(0).read()[0], 2);
}

TEST(runtime, several_threads_submit_at_once) {
  runtime rt(testing::with_sims(1, "1 MiB"));
  constexpr int threads = 4, per_thread = 1000;
  auto shared = rt.make_array<std::int64_t>("shared", {8}, {1});
  for (int k = 0; k < 8; ++k) fill(rt, shared(k), std::int64_t{0});
  std::vector<std::thread> submitters;
  for (int t = 0; t < threads; ++t)
    submitters.emplace_back([&, t] {
      auto mine = rt.make_array<std::int64_t>("mine" + std::to_string(t), {1}, {1});
      fill(rt, mine(0), std::int64_t{0});
      for (int k = 0; k < per_thread; ++k) {
        rt.submit(
            "own", [](view<std::int64_t> x) { ++x[0]; }, update(mine(0)));
        // Two shared blocks in either order: links must not form cycles.
        const int p = (k + t) % 8, q = (k * 3 + 1) % 8;
        if (p != q)
          rt.submit(
              "both", [](view<std::int64_t> x, view<std::int64_t> y) { ++x[0], ++y[0]; }, update(shared(p)),
              update(shared(q)));
      }
      EXPECT_EQ(mine(0).read()[0], per_thread);
    });
  for (auto& s : submitters) s.join();
  rt.fence();
  std::int64_t total = 0, expected = 0;
  for (int k = 0; k < 8; ++k) total += shared(k).read()[0];
  for (int t = 0; t < threads; ++t)
    for (int k = 0; k < per_thread; ++k) expected += (k + t) % 8 != (k * 3 + 1) % 8 ? 2 : 0;
  EXPECT_EQ(total, expected);
}

TEST(runtime, tasks_submit_tasks) {
  runtime rt(testing::host_only(2));
  auto a = rt.make_array<std::int64_t>("a", {1}, {1});
  fill(rt, a(0), std::int64_t{0});
  for (int k = 0; k < 50; ++k)
    rt.submit("outer", [&rt, b = a(0)] {
      for (int j = 0; j < 20; ++j)
        rt.submit(
            "inner", [](view<std::int64_t> x) { ++x[0]; }, update(b));
    });
  rt.fence();
  EXPECT_EQ(a(0).read()[0], 1000);
}

TEST(runtime, captures_are_destroyed_once_and_large_ones_work) {
  const auto counted = std::make_shared<int>(0);
  {
    runtime rt(testing::host_only());
    std::array<double, 100> large{};
    large[99] = 5;
    std::atomic<double> got{0};
    for (int k = 0; k < 100; ++k) rt.submit("large", [large, counted, &got] { got = large[99]; });
    rt.fence();
    EXPECT_EQ(got, 5);
    EXPECT_EQ(counted.use_count(), 1);
  }
}

TEST(runtime, arrays_destroyed_early_keep_their_tasks_running) {
  runtime rt(testing::with_sims(1, "256 KiB"));
  std::atomic<int> ran{0};
  for (int k = 0; k < 200; ++k) {
    auto a = rt.make_array<double>("temporary", {2048}, {2048});
    fill(rt, a(0), 2.0);
    scal(rt, 0.5, a(0));
    rt.submit(
        "check", [&](view<const double> x) { ran += x[2047] == 1.0; }, read(a(0)));
  }
  rt.fence();
  EXPECT_EQ(ran, 200);
  EXPECT_EQ(rt.inside().blocks.size(), 0u);
  for (const auto& [name, is] : rt.statistics().spaces) {
    if (name.find("sim") != std::string::npos) {
      EXPECT_EQ(is.used_bytes, 0u) << name;
    }
  }
}

TEST(runtime, adopted_memory_holds_the_results) {
  runtime rt(testing::with_sims(1, "1 MiB"));
  std::vector<double> mine(1000);
  std::iota(mine.begin(), mine.end(), 0.0);
  rt.register_memory(mine.data(), mine.size() * sizeof(double));
  {
    auto a = rt.adopt("mine", std::span(mine), 300);
    ASSERT_EQ(a.size(), 4u);
    EXPECT_EQ(a(3).extents()[0], 100);
    EXPECT_THAT(error_of([&] { rt.unregister_memory(mine.data()); }).what(), HasSubstr("while an array uses it"));
    for (std::size_t k = 0; k < a.size(); ++k) scal(rt, 2.0, a.block(k), {.at = rt.at("sim0")});
    a.flush();
  }
  rt.fence();
  for (std::size_t k = 0; k < mine.size(); ++k) ASSERT_EQ(mine[k], 2.0 * double(k));
  EXPECT_EQ(rt.statistics().registration_hits, 1u) << "the array as a whole";
  rt.unregister_memory(mine.data());
  EXPECT_EQ(rt.statistics().registered_bytes, 0u);
}

// The numbers of a block's versions go round after 2^32 - 1 updates: this begins shortly before.
TEST(runtime, version_numbers_go_round) {
  for (const bool device : {false, true}) {
    runtime rt(device ? testing::with_sims(1, "1 MiB", false, 2, "placement = \"pinned\"\n") : testing::host_only());
    auto a = rt.make_array<double>("a", {64}, {64});
    const char* const there = device ? "sim0" : "numa0";
    fill(rt, a(0), 1.0, {.at = rt.at("numa0")});
    EXPECT_EQ(a(0).read()[0], 1.0);
    rt.fence();
    a(0).record().flow.next_version = 0xffff'fffe;
    // The second update there has the last number, the third the first one: that of the old replica on the host.
    for (int k = 0; k < 3; ++k) {
      scal(rt, 2.0, a(0), {.at = rt.at(there)});
      if (k == 1) rt.fence();
    }
    rt.submit(
        "look", [](view<const double> x, view<double> y) { y[0] = x[0]; }, read(a(0)),
        write(rt.make_array<double>("b", {64}, {64})(0)));
    EXPECT_EQ(a(0).read()[63], 8.0) << there;
    EXPECT_EQ(a(0).record().committed, 1u);
    EXPECT_NO_THROW(rt.fence());
    recording twice = rt.record([&] {
      scal(rt, 2.0, a(0), {.at = rt.at(there)});
      scal(rt, 2.0, a(0), {.at = rt.at("numa0")});
    });
    a(0).record().flow.next_version = 0xffff'fff0;
    scal(rt, 1.0, a(0));
    for (int k = 0; k < 9; ++k) rt.replay(twice);
    EXPECT_EQ(a(0).read()[0], 8.0 * std::pow(4.0, 9)) << there;
    EXPECT_NO_THROW(rt.fence());
    EXPECT_LT(a(0).record().committed, 16u) << "it has gone round";
  }
}

TEST(runtime, as_many_names_of_functions_as_one_likes) {
  runtime rt(testing::host_only());
  auto a = rt.make_array<double>("a", {1}, {1});
  fill(rt, a(0), 0.0);
  const int names = 6000;
  for (int k = 0; k < names; ++k) {
    const std::function<void(view<double>)> step = [](view<double> x) { x[0] += 1; };
    rt.submit("step " + std::to_string(k), step, update(a(0)));
  }
  rt.fence();
  EXPECT_EQ(a(0).read()[0], names);
  const std::function<void(view<double>)> explode = [](view<double>) { throw std::runtime_error("boom 44"); };
  rt.submit("the last step", explode, update(a(0)));
  const error e = error_of([&] { rt.fence(); });
  EXPECT_THAT(e.what(), HasSubstr("the last step failed: boom 44")) << "messages have the name all the same";
  EXPECT_THAT(e.where(), HasSubstr("task 'the last step' submitted at runtime_test.cpp"));
  std::uint64_t counted = 0, together = 0;
  for (const auto& row : rt.statistics().operations) {
    if (row.operation.starts_with("step ")) counted += row.tasks;
    if (row.operation == "other functions") together += row.tasks;
  }
  EXPECT_EQ(counted + together, names + 1u);
  EXPECT_GT(counted, 1000u);
  rt.define({.name = "mine", .host = [](const operation::context&) {}});  // there is room for operations proper
}

// A device whose memory the host could read is a device all the same: it used to run nothing.
TEST(runtime, devices_with_managed_memory_run_tasks) {
  runtime rt(testing::with_gpus("cuda_emulated", 1, "8 MiB", "placement = \"pinned\"\nhistory = \"off\"\n",
                                "memory = \"managed\"\n"));
  EXPECT_TRUE(rt.has_devices());
  constexpr std::int64_t n = 16;
  auto a = rt.make_matrix<double>("A", {n, n}, {n, n}), b = rt.make_matrix<double>("B", {n, n}, {n, n}),
       c = rt.make_matrix<double>("C", {n, n}, {n, n});
  fill(rt, a(0, 0), 2.0);
  fill(rt, b(0, 0), 3.0);
  fill(rt, c(0, 0), 1.0);
  const task_options there{.at = rt.at("cuda_emulated0")};
  for (int k = 0; k < 3; ++k) gemm(rt, 1.0, a(0, 0), transpose::no, b(0, 0), transpose::no, 1.0, c(0, 0), there);
  scal(rt, 0.5, c(0, 0), {.at = rt.at("numa0")});
  gemm(rt, 1.0, a(0, 0), transpose::no, b(0, 0), transpose::no, 1.0, c(0, 0), there);
  EXPECT_EQ(c(0, 0).read()[n], (1 + 3 * 6.0 * n) / 2 + 6.0 * n);
  rt.fence();
  std::uint64_t on_device = 0;
  for (const auto& row : rt.statistics().operations)
    if (row.place == "cuda_emulated0" && row.operation == "gemm") on_device += row.tasks;
  EXPECT_EQ(on_device, 4u);
  EXPECT_GT(rt.statistics().bytes_transferred(), 0u);
}

class hints : public ::testing::TestWithParam<std::string> {};

TEST_P(hints, are_followed) {
  const std::string topology = GetParam().empty() ? "" : "[topology]\nsynthetic = \"" + GetParam() + "\"\n";
  runtime rt(testing::with_sims(2, "1 MiB", true, 2, "placement = \"pinned\"\n" + topology));
  auto a = rt.make_array<double>("a", {64}, {64});
  fill(rt, a(0), 1.0, {.at = rt.at("sim1")});
  for (int k = 0; k < 10; ++k) scal(rt, 2.0, a(0), {.at = rt.at(k % 2 == 0 ? "sim0" : "sim1")});
  EXPECT_EQ(a(0).read()[0], 1024.0);
  std::map<std::string, std::uint64_t> scal_tasks;
  for (const auto& row : rt.statistics().operations)
    if (row.operation == "scal") scal_tasks[row.place] = row.tasks;
  EXPECT_EQ(scal_tasks["sim0"], 5u);
  EXPECT_EQ(scal_tasks["sim1"], 5u);
  EXPECT_THAT(error_of([&] { rt.at("sim7"); }).hint(), HasSubstr("sim"));
  // A hint that the operation cannot follow is refused under `pinned`: host code on a device.
  rt.submit(
      "host_code", {.at = rt.at("sim0")}, [](view<double>) {}, update(a(0)));
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(),
              ::testing::AllOf(HasSubstr("it must run at 'sim0', where nothing can run it"),
                               HasSubstr("'host_code' has no form for sim0")));
}

// With one memory for all, a device hangs below that memory, as its cores do.
INSTANTIATE_TEST_SUITE_P(trees, hints, ::testing::Values("", "core:2 pu:1", "package:1 core:2 pu:1"));

TEST(runtime, arrays_kept_to_one_thread_keep_their_order) {
  runtime rt(testing::host_only());
  auto shared = rt.make_array<std::int64_t>("shared", {1}, {1});
  fill(rt, shared(0), std::int64_t{0});
  const auto submitter = [&](std::int64_t start) {
    auto mine = rt.make_array<std::int64_t>("mine", {1}, {1});
    mine.keep_to_this_thread();
    fill(rt, mine(0), start);
    for (std::int64_t k = 0; k < 500; ++k) {
      rt.submit(
          "step", [k](view<std::int64_t> x) { x[0] = x[0] * 5 % 10007 + k; }, update(mine(0)));
      rt.submit(
          "give", [](view<const std::int64_t> x, view<std::int64_t> s) { s[0] += x[0]; }, read(mine(0)),
          update(shared(0)));
    }
  };
  std::thread other([&] { submitter(3); });
  submitter(4);
  other.join();
  std::int64_t expected = 0;
  for (std::int64_t x : {3, 4})
    for (std::int64_t k = 0; k < 500; ++k) expected += x = x * 5 % 10007 + k;
  EXPECT_EQ(shared(0).read()[0], expected);
}

TEST(runtime, an_operation_that_no_device_offers_says_so) {
  runtime rt(testing::with_sims(1, "1 MiB"));
  auto a = rt.make_matrix<std::uint8_t>("a", {4, 4}, {4, 4});
  auto info = rt.make_array<std::int32_t>("info", {1}, {1});
  rt.submit(
      "set",
      [](matrix_view<std::uint8_t> x) {
        for (auto& v : x) v = 1;
      },
      write(a(0, 0)));
  const operation::potrf_arguments none{};
  rt.submit_operation(*rt.builtin().potrf, &none, sizeof none,
                      std::array<block::access, 2>{update(a(0, 0)), write(info(0))});
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_THAT(e.what(), HasSubstr("no device here offers 'potrf' for elements of type u8; there is one for f32, f64"));
}

TEST(runtime, a_working_set_that_fits_nowhere_is_refused_at_submission) {
  runtime rt(testing::machine_of("plugins = [\"host\"]\n[memory]\nhost_limit = \"1 MiB\"\n"));
  auto a = rt.make_array<double>("big", {1 << 18}, {1 << 17});  // two blocks of 1 MiB
  const error e = error_of([&] {
    rt.submit(
        "both", [](view<double>, view<double>) {}, write(a(0)), write(a(1)));
  });
  EXPECT_EQ(e.kind(), error_kind::memory);
  EXPECT_THAT(e.what(), HasSubstr("2 MiB"));
  EXPECT_THAT(e.where(), HasSubstr("big(0) (1 MiB), big(1) (1 MiB)"));
  EXPECT_NO_THROW(rt.fence()) << "what was refused leaves no trace";
}

TEST(runtime, memory_that_nothing_can_free_is_an_error_and_no_hang) {
  runtime rt(testing::machine_of("plugins = [\"host\"]\n[memory]\nhost_limit = \"1 MiB\"\n"));
  auto a = rt.make_array<double>("a", {3 << 16}, {1 << 16});  // three blocks of 512 KiB
  for (int k = 0; k < 3; ++k) fill(rt, a(k), 1.0);
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::memory);
  EXPECT_THAT(e.what(), HasSubstr("full"));
}

TEST(runtime, device_memory_is_evicted_to_the_host_and_comes_back) {
  runtime rt(testing::with_sims(1, "256 KiB", false, 2, "placement = \"pinned\"\n"));
  auto a = rt.make_array<double>("a", {32 * 2048}, {2048});  // 32 blocks of 16 KiB: twice the device
  const task_options there{.at = rt.at("sim0")};
  for (int k = 0; k < 32; ++k) fill(rt, a(k), double(k), there);
  for (int round = 0; round < 3; ++round)
    for (int k = 0; k < 32; ++k) scal(rt, 2.0, a(k), there);
  for (int k = 0; k < 32; ++k) EXPECT_EQ(a(k).read()[2047], 8.0 * k);
  const auto s = rt.statistics();
  // Half of the blocks do not fit. Tasks whose blocks are there go first, so that each block need leave only once.
  EXPECT_GE(s.coherence.written_back + s.coherence.dropped, 12u);
  for (const auto& space : s.spaces) EXPECT_LE(space.statistics.peak_bytes, space.statistics.limit_bytes) << space.name;
}

TEST(runtime, watermarks_the_wrong_way_round_are_refused) {
  const error e =
      error_of([] { runtime rt(testing::machine_of("plugins = [\"host\"]\n[memory]\nhigh_watermark = 50\n")); });
  EXPECT_EQ(e.kind(), error_kind::configuration);
  EXPECT_THAT(e.what(), HasSubstr("memory.low_watermark = 90 is above memory.high_watermark = 50"));
  EXPECT_THAT(e.hint(), HasSubstr("set both"));
}

TEST(runtime, cancel_ends_soon_and_says_so) {
  runtime rt(testing::host_only(2));
  auto a = rt.make_array<double>("a", {1}, {1});
  fill(rt, a(0), 0.0);
  std::atomic<int> ran{0};
  for (int k = 0; k < 3000; ++k)
    rt.submit(
        "step",
        [&](view<double>) {
          if (++ran == 100) rt.cancel("stop requested");
        },
        update(a(0)));
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::interrupted);
  EXPECT_THAT(e.what(), HasSubstr("stop requested"));
  EXPECT_LT(ran, 3000);
  rt.submit(
      "late", [&](view<double>) { ran = 5000; }, update(a(0)));
  EXPECT_EQ(error_of([&] { rt.fence(); }).kind(), error_kind::interrupted) << "a cancel is permanent";
  EXPECT_LT(ran, 3000);
  EXPECT_EQ(error_of([&] { (void)a(0).read(); }).kind(), error_kind::interrupted);
}

TEST(runtime, wrong_arguments_are_refused) {
  runtime rt(testing::host_only());
  auto a = rt.make_matrix<double>("a", {4, 4}, {2, 2});
  EXPECT_THROW(a(2, 0), error);
  EXPECT_THROW(a(0, -1), error);
  EXPECT_THROW((void)a.block(4), error);
  EXPECT_THROW(rt.make_array<double>("bad", {4}, {0}), error);
  EXPECT_THROW(rt.make_array<double>("bad", {-4}, {1}), error);
  EXPECT_THROW(rt.make_matrix<double>("bad", {4, 4}, {2}), error);
  EXPECT_THROW(rt.make_array<double>("huge", {std::int64_t{1} << 40}, {1}), error);
  EXPECT_THROW(rt.define({.name = "nothing"}), error);
  EXPECT_THROW(rt.define({.name = "gemm", .host = [](const operation::context&) {}}), error);
  const block::access wrong[] = {{.block = &a(0, 0).record(), .intent = intent::read}};
  EXPECT_THROW(rt.submit_operation(*rt.builtin().syrk, nullptr, 0, wrong), error);
  auto b = rt.make_matrix<double>("b", {3, 5}, {3, 5});
  for (std::size_t k = 0; k < 4; ++k) fill(rt, a.block(k), 1.0);
  fill(rt, b(0, 0), 1.0);
  gemm(rt, 1.0, a(0, 0), transpose::no, b(0, 0), transpose::no, 0.0, a(1, 1));
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("do not multiply"));
}

TEST(runtime, empty_arrays_and_single_elements) {
  runtime rt(testing::with_sims(1, "1 MiB"));
  auto none = rt.make_array<double>("none", {0}, {4});
  EXPECT_EQ(none.size(), 0u);
  auto scalar = rt.make_array<double>("scalar", {}, {});
  ASSERT_EQ(scalar.size(), 1u);
  fill(rt, scalar.block(0), 3.0);
  EXPECT_EQ(scalar.block(0).read()[0], 3.0);
  rt.fence();
}

TEST(runtime, two_runtimes_one_after_the_other_and_at_once) {
  for (int k = 0; k < 3; ++k) {
    runtime first(testing::host_only()), second(testing::with_sims(1, "1 MiB"));
    auto a = first.make_array<double>("a", {1}, {1});
    auto b = second.make_array<double>("b", {1}, {1});
    for (int j = 0; j < 10; ++j) {
      fill(first, a(0), 1.0 + j);
      fill(second, b(0), 2.0 + j);
    }
    EXPECT_EQ(a(0).read()[0], 10.0);
    EXPECT_EQ(b(0).read()[0], 11.0);
  }
}

TEST(runtime, an_idle_runtime_uses_no_processor) {
  runtime rt(testing::with_sims(1, "1 MiB"));
  rt.submit("once", [] {});
  rt.fence();
  const auto cpu = [] {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
  };
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // past the spinning
  const double before = cpu();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // the quantity measured is use per time
  EXPECT_LT(cpu() - before, 0.1) << "idle workers spin";
}

}  // namespace
}  // namespace tessera
