// What programs ask of the interface beside submitting a lambda with a few blocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <complex>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/runtime/machines.hpp"

namespace tessera {
namespace {

std::string message_of_fence(runtime& rt) {
  try {
    rt.fence();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

// --- a number of blocks that is known at run time only

TEST(list_of_uses, a_lambda_with_captures_takes_any_number_of_blocks) {
  runtime rt(testing::host_only(3));
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{4}, std::size_t{5}, std::size_t{300}}) {
    auto x = rt.make_array<double>("x", {static_cast<std::int64_t>(count) + 1}, {1});
    auto sum = rt.make_array<double>("sum", {1}, {1});
    std::vector<block_access> uses{write(sum(0))};
    for (std::size_t k = 0; k < count; ++k) {
      fill(rt, x.block(k), static_cast<double>(k));
      uses.push_back(read(x.block(k)));
    }
    const auto offset = std::make_shared<double>(0.5);  // a capture that must be destroyed
    rt.submit(
        "sum",
        [offset](task_blocks blocks) {
          double total = *offset;
          for (std::size_t k = 1; k < blocks.size(); ++k) total += blocks.get<const double>(k)[0];
          blocks.get<double>(0)[0] = total;
        },
        uses);
    const double n = static_cast<double>(count);
    EXPECT_EQ(sum.read_host(sum(0))[0], n * (n - 1) / 2 + 0.5) << count;
    rt.fence();
    EXPECT_EQ(offset.use_count(), 1) << count;
  }
}

TEST(list_of_uses, lists_and_single_uses_are_ordered_alike) {
  runtime rt(testing::host_only(3));
  auto x = rt.make_array<std::int64_t>("x", {2}, {1});
  fill(rt, x(0), std::int64_t{0});
  fill(rt, x(1), std::int64_t{0});
  const std::vector<block_access> both{update(x(0)), update(x(1))};
  for (int round = 0; round < 200; ++round) {
    rt.submit(
        "both",
        [](task_blocks b) {
          for (std::size_t k = 0; k < 2; ++k) b.get<std::int64_t>(k)[0] = 2 * b.get<std::int64_t>(k)[0] % 1'000'003 + 1;
        },
        both);
    rt.submit(
        "one", [](view<std::int64_t> v) { v[0] += 3; }, update(x(round % 2)));
  }
  std::int64_t expected[2] = {0, 0};
  for (int round = 0; round < 200; ++round) {
    for (std::int64_t& e : expected) e = 2 * e % 1'000'003 + 1;
    expected[round % 2] += 3;
  }
  EXPECT_EQ(x.read_host(x(0))[0], expected[0]);
  EXPECT_EQ(x.read_host(x(1))[0], expected[1]);
}

TEST(list_of_uses, a_wrong_type_number_or_intent_fails_the_task_with_a_sentence) {
  runtime rt(testing::host_only(2));
  auto x = rt.make_array<double>("x", {2}, {1});
  const std::vector<block_access> uses{read(x(0)), write(x(1))};
  const auto submit = [&](auto look) {
    fill(rt, x(0), 1.0);
    rt.submit("look", look, uses);
    return message_of_fence(rt);
  };
  EXPECT_THAT(submit([](task_blocks b) { (void)b.get<const float>(0); }),
              ::testing::HasSubstr("block 0 of the task has elements of type f64"));
  EXPECT_THAT(submit([](task_blocks b) { (void)b.get<double>(0); }), ::testing::HasSubstr("submitted as read"));
  EXPECT_THAT(submit([](task_blocks b) { (void)b.get<double>(2); }), ::testing::HasSubstr("2 blocks, number 2"));
  EXPECT_EQ(submit([](task_blocks b) { b.get<double>(1)[0] = b.get<const double>(0)[0]; }), "");
  EXPECT_EQ(submit([](task_blocks b) { (void)b.get<const double>(1); }), "");  // more may be seen as less
}

TEST(list_of_uses, a_list_can_be_recorded_and_have_a_priority) {
  runtime rt(testing::host_only(2));
  auto x = rt.make_array<double>("x", {6}, {1});
  for (std::size_t k = 0; k < x.size(); ++k) fill(rt, x.block(k), 0.0);
  std::vector<block_access> uses;
  for (std::size_t k = 0; k < x.size(); ++k) uses.push_back(update(x.block(k)));
  recording step = rt.record([&] {
    rt.submit(
        "step", {.priority = 3},
        [](task_blocks b) {
          for (std::size_t k = 0; k < b.size(); ++k) b.get<double>(k)[0] += static_cast<double>(k);
        },
        uses);
  });
  for (int k = 0; k < 10; ++k) rt.replay(step);
  EXPECT_EQ(x.read_host(x(5))[0], 50.0);
}

// --- the worker's number

TEST(task_context, no_two_tasks_have_the_same_worker_at_the_same_time) {
  for (const unsigned workers : {1u, 2u, 5u}) {
    runtime rt(testing::host_only(workers));
    ASSERT_EQ(rt.workers(), workers);
    std::vector<std::atomic<int>> inside(workers);
    std::atomic<int> wrong{0}, ran{0};
    const auto task = [&](task_context here) {
      if (here.worker() >= workers || inside[here.worker()].fetch_add(1) != 0) wrong.fetch_add(1);
      for (int spin = 0; spin < 200; ++spin) ran.fetch_add(spin == 0 ? 1 : 0);
      if (here.worker() < workers) inside[here.worker()].fetch_sub(1);
      if (here.name() != "who") wrong.fetch_add(1);
    };
    // Threads of the program run tasks too, above the window and in fences: in the place of worker 0, one at a time.
    std::vector<std::thread> program;
    for (int t = 0; t < 3; ++t)
      program.emplace_back([&] {
        for (int k = 0; k < 4000; ++k) rt.submit("who", task);
        rt.fence();
      });
    for (std::thread& t : program) t.join();
    rt.fence();
    EXPECT_EQ(ran.load(), 12000);
    EXPECT_EQ(wrong.load(), 0) << workers;
  }
}

TEST(task_context, it_stands_before_views_and_before_lists) {
  runtime rt(testing::host_only(1));
  auto x = rt.make_array<double>("x", {1}, {1});
  rt.submit(
      "views", [](task_context here, view<double> v) { v[0] = 10.0 + here.worker(); }, write(x(0)));
  const std::vector<block_access> uses{update(x(0))};
  rt.submit(
      "list", [](task_context here, task_blocks b) { b.get<double>(0)[0] += here.worker() + 0.5; }, uses);
  rt.submit(
      "any", [](auto... views) { ((views[0] += 1), ...); }, update(x(0)));  // a generic one gets views alone
  EXPECT_EQ(x.read_host(x(0))[0], 11.5);
}

// --- fill

template <class T>
void expect_filled(runtime& rt, T value) {
  auto x = rt.make_array<T>("x", {7}, {7});
  fill(rt, x(0), value);
  for (const T& e : x.read_host(x(0))) EXPECT_EQ(e, value);
}

TEST(fill, every_element_type_holds_the_value_exactly) {
  for (const bool device : {false, true}) {
    runtime rt(device ? testing::with_sims(1, "16 MiB") : testing::host_only(1));
    expect_filled<float>(rt, 1.5f);
    expect_filled<double>(rt, 0.1);
    expect_filled<std::complex<float>>(rt, {1.5f, -2.5f});
    expect_filled<std::complex<double>>(rt, {0.1, -0.2});
    expect_filled<std::int32_t>(rt, std::numeric_limits<std::int32_t>::min());
    expect_filled<std::int64_t>(rt, (std::int64_t{1} << 53) + 1);  // no double
    expect_filled<std::int64_t>(rt, std::numeric_limits<std::int64_t>::max());
    expect_filled<std::int64_t>(rt, std::numeric_limits<std::int64_t>::min());
    expect_filled<std::uint8_t>(rt, 200);
    rt.fence();
  }
}

/// Literals need not have the type of the elements.
TEST(fill, scalars_are_converted_to_the_type_of_the_elements) {
  runtime rt(testing::host_only(1));
  auto x = rt.make_array<double>("x", {2, 2}, {2, 2}), y = rt.make_array<double>("y", {2, 2}, {2, 2});
  auto z = rt.make_array<std::complex<float>>("z", {2}, {2});
  fill(rt, x(0, 0), 1);
  gemm(rt, 2, x(0, 0), transpose::no, x(0, 0), transpose::no, 0, y(0, 0));  // 4
  axpy(rt, 1, x(0, 0), y(0, 0));                                            // 5
  scal(rt, 2.0F, y(0, 0));                                                  // 10
  fill(rt, z(0), 3);
  EXPECT_EQ(y.read_host(y(0, 0))[3], 10);
  EXPECT_EQ(z.read_host(z(0))[1], std::complex<float>(3));
}

// --- the start, said by the program

TEST(start, workers_and_settings_come_from_the_program) {
  runtime rt({.text = "[runtime]\nplugins = [\"host\"]\nworkers = 7\nplacement = \"eager\"\n",
              .settings = {"runtime.validate=true"},
              .workers = 3});
  EXPECT_EQ(rt.workers(), 3u);
  EXPECT_TRUE(rt.validates());
  EXPECT_EQ(rt.settings().placement, "eager");
  EXPECT_THAT(rt.places(), ::testing::ElementsAre(::testing::StartsWith("cpu:")));
}

TEST(start, a_file_is_read_before_the_text) {
  const std::string file = ::testing::TempDir() + "/start_" + std::to_string(::getpid()) + ".toml";
  std::ofstream(file) << "[runtime]\nplugins = [\"host\"]\nworkers = 2\nplacement = \"eager\"\n";
  {
    runtime rt({.file = file, .text = "[runtime]\nworkers = 4\n"});
    EXPECT_EQ(rt.workers(), 4u);
    EXPECT_EQ(rt.settings().placement, "eager");
  }
  std::filesystem::remove(file);
}

TEST(start, mistakes_say_where_they_are) {
  const auto message = [](const start_options& start) -> std::string {
    try {
      runtime rt(start);
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(message({.text = "[runtime]\nworker = 1\n"}), ::testing::HasSubstr("text:2:1"));
  EXPECT_THAT(message({.settings = {"runtime.placment=eager"}}), ::testing::HasSubstr("placement"));
  EXPECT_THAT(message({.file = "/nowhere.toml"}), ::testing::HasSubstr("/nowhere.toml"));
}

// --- operations with arguments as a value

TEST(submit_operation, arguments_are_given_as_a_value) {
  runtime rt(testing::host_only(1));
  struct line {
    double slope, offset;
  };
  const auto& what = rt.define({.name = "line", .signature = {intent::update}, .host = [](const operation::context& c) {
                                  const auto& l = c.arguments_as<line>();
                                  auto* x = static_cast<double*>(c.operands[0].host);
                                  *x = l.slope * *x + l.offset;
                                }});
  auto x = rt.make_array<double>("x", {1}, {1});
  fill(rt, x(0), 3.0);
  rt.submit_operation(what, line{2, 0.5}, {update(x(0))});
  EXPECT_EQ(x.read_host(x(0))[0], 6.5);
  EXPECT_THROW(rt.submit_operation(what, line{2, 0.5}, {read(x(0))}), error);
}

}  // namespace
}  // namespace tessera
