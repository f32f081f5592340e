// Replays whose segments run as graphs of a device: the same results, fewer launches, never stale addresses or
// arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "machines.hpp"
#include "tests/support/random_program.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t extent = 16;

/// A chain of device tasks: y = 2 y + x / 2, `length` times.
recording chain(runtime& rt, block_of<double> x, block_of<double> y, int length) {
  const task_options there{.at = rt.at("sim0")};
  return rt.record([&] {
    for (int k = 0; k < length; ++k) {
      scal(rt, 2.0, y, there);
      axpy(rt, 0.5, x, y, there);
    }
  });
}
task_options on_host(runtime& rt) { return {.at = rt.at("numa0")}; }

/// 3 and 1, on the host.
struct two_blocks {
  explicit two_blocks(machine m) : rt(std::move(m)), a(rt.make_array<double>("a", {2 * extent}, {extent})) {
    fill(rt, a(0), 3.0, on_host(rt));
    fill(rt, a(1), 1.0, on_host(rt));
  }
  runtime rt;
  array<double> a;
};

double chained(double x, double y, int length) {
  for (int k = 0; k < length; ++k) y = 2 * y + 0.5 * x;
  return y;
}

TEST(replay_graphs, a_chain_of_device_tasks_is_one_launch) {
  two_blocks on(testing::with_sims(1, "1 MiB"));
  auto& [rt, a] = on;
  recording step = chain(rt, a(0), a(1), 5);
  double y = 1;
  for (int k = 0; k < 20; ++k) {
    rt.replay(step);
    rt.fence();
    y = chained(3, y, 5);
  }
  EXPECT_DOUBLE_EQ(a.read_host(a(1))[extent - 1], y);
  const statistics s = rt.statistics();
  EXPECT_EQ(s.graphs.captured, 1u);
  EXPECT_EQ(s.graphs.recaptured, 0u);
  EXPECT_EQ(s.graphs.launched, 19u) << "the first replay places the tasks";
  EXPECT_EQ(s.graphs.tasks, 190u);
  EXPECT_EQ(s.device_launches, 10u + 19u) << "and not 200";
  for (const auto& row : s.operations)
    if (row.operation == "scal" && row.place == "sim0") {
      EXPECT_EQ(row.tasks, 100u);
    }
  rt.fence();
  EXPECT_THAT(
      to_text(s),
      HasSubstr(
          "graphs       1 captured (0 again), 19 launches for 190 tasks, 0 times one by one; 29 launches in all"));
}

TEST(replay_graphs, are_turned_off_by_a_key) {
  two_blocks on(testing::with_sims(1, "1 MiB", false, 2, "graphs = false\n"));
  auto& [rt, a] = on;
  recording step = chain(rt, a(0), a(1), 2);
  double y = 1;
  for (int k = 0; k < 6; ++k) rt.replay(step), y = chained(3, y, 2);
  EXPECT_DOUBLE_EQ(a.read_host(a(1))[0], y);
  EXPECT_EQ(rt.statistics().graphs.launched, 0u);
  EXPECT_EQ(rt.statistics().device_launches, 24u);
}

TEST(replay_graphs, buffers_that_take_turns_have_a_graph_each) {
  two_blocks on(testing::with_sims(1, "1 MiB"));
  auto& [rt, a] = on;
  recording step = chain(rt, a(0), a(1), 1);
  double v[2] = {3, 1};
  for (int k = 0; k < 30; ++k) {
    const int x = k % 2, y = 1 - x;
    step.substitute({{a(0), a(x)}, {a(1), a(y)}});
    rt.replay(step);
    v[y] = 0.25 * chained(v[x], v[y], 1);
    scal(rt, 0.25, a(y));
  }
  for (int k = 0; k < 2; ++k) EXPECT_DOUBLE_EQ(a.read_host(a(k))[3], v[k]);
  const statistics s = rt.statistics();
  EXPECT_GE(s.graphs.captured, 2u);
  EXPECT_GE(s.graphs.launched, 25u);
  EXPECT_GT(s.graphs.launched, s.graphs.captured);
}

TEST(replay_graphs, see_new_arguments) {
  two_blocks on(testing::with_sims(1, "1 MiB"));
  auto& [rt, a] = on;
  recording step = chain(rt, a(0), a(1), 1);
  double y = 1;
  for (int k = 0; k < 24; ++k) {
    const double factor = 1 + (k / 4) * 0.125;
    if (k % 4 == 0) step.set_arguments(0, operation::scal_arguments{std::complex<double>(factor)});
    rt.replay(step);
    y = factor * y + 0.5 * 3;
  }
  EXPECT_DOUBLE_EQ(a.read_host(a(1))[3], y);
  EXPECT_GE(rt.statistics().graphs.captured, 5u);
}

/// y = y + 2 x, by way of the workspace, in two launches.
const operation::definition& through_workspace(runtime& rt) {
  operation::definition what{.name = "through workspace"};
  what.workspace = [](const plugin::device&, const void*, std::span<const block_access> blocks) {
    return blocks[0].block->bytes;
  };
  what.kernel.names = {"twice", "add"};
  what.kernel.text.source =
      "KERNEL void twice(GLOBAL const double* x, GLOBAL double* to, long n) {\n"
      "  if (INDEX_X < n) to[INDEX_X] = 2 * x[INDEX_X];\n"
      "}\n"
      "KERNEL void add(GLOBAL const double* from, GLOBAL double* y, long n) {\n"
      "  if (INDEX_X < n) y[INDEX_X] += from[INDEX_X];\n"
      "}\n";
  what.kernel.sequence = [](const operation::context& c, operation::kernel_sequence& to) {
    const std::int64_t n = c.operands[0].extents->count();
    EXPECT_EQ(c.workspace.bytes, c.operands[0].bytes);
    operation::kernel_launch first, second;
    to.launch(0, first.over(n).block(c.operands[0]).workspace(c).value(n));
    to.launch(1, second.over(n).workspace(c).block(c.operands[1]).value(n));
  };
  return rt.define(std::move(what));
}

/// Tasks with kernels that wait for one another, of blocks of two sizes. Returns the first element of the smaller ones.
double run_kernels(runtime& rt, const std::string& location, int replays) {
  auto small = rt.make_array<double>("small", {2 * extent}, {extent});
  auto large = rt.make_array<double>("large", {4 * extent}, {2 * extent});
  for (int k = 0; k < 2; ++k) fill(rt, small(k), 1.0), fill(rt, large(k), 1.0);
  const operation::definition& what = through_workspace(rt);
  const task_options there{.at = rt.at(location)};
  recording step = rt.record([&] {
    for (int k = 0; k < 3; ++k) {
      rt.submit_operation(what, nullptr, 0, std::vector<block_access>{read(small(0)), update(small(1))}, there,
                          std::source_location::current());
      rt.submit_operation(what, nullptr, 0, std::vector<block_access>{read(large(0)), update(large(1))}, there,
                          std::source_location::current());
      rt.submit_operation(what, nullptr, 0, std::vector<block_access>{read(small(1)), update(small(0))}, there,
                          std::source_location::current());
    }
  });
  for (int k = 0; k < replays; ++k) {
    rt.replay(step);
    rt.fence();
    for (int j = 0; j < 2; ++j) scal(rt, 1.0 / 1024, small(j), there);
  }
  EXPECT_DOUBLE_EQ(large.read_host(large(1))[2 * extent - 1], 1 + 6.0 * replays);
  return small.read_host(small(0))[extent - 1];
}

TEST(replay_graphs, have_kernels_with_workspace_in_them) {
  double x = 1, y = 1;
  for (int k = 0; k < 10; ++k) {
    for (int j = 0; j < 3; ++j) y += 2 * x, x += 2 * y;
    x /= 1024, y /= 1024;
  }
  for (const std::string plugin : {"sim", "cuda_emulated", "hip_emulated"}) {
    SCOPED_TRACE(plugin);
    runtime rt(plugin == "sim" ? testing::with_sims(1, "1 MiB") : testing::with_gpus(plugin, 1, "64 MiB", ""));
    EXPECT_DOUBLE_EQ(run_kernels(rt, plugin + "0", 10), x);
    const statistics s = rt.statistics();
    EXPECT_GE(s.graphs.launched, 8u) << "the first replay compiles, and places the tasks";
    EXPECT_EQ(s.graphs.one_by_one, 0u);
  }
}

TEST(replay_graphs, have_no_kernels_where_memory_is_too_small_for_all_blocks) {
  const auto captured = [](const std::string& memory) {
    runtime rt(testing::with_sims(1, memory));
    constexpr std::int64_t count = 64, elements = 512;
    auto a = rt.make_array<double>("a", {count * elements}, {elements});
    for (std::size_t k = 0; k < a.size(); ++k) fill(rt, a.block(k), 1.0);
    const operation::definition& what = through_workspace(rt);
    recording step = rt.record([&] {
      for (std::size_t k = 0; k + 1 < a.size(); ++k)
        rt.submit_operation(what, nullptr, 0, std::vector<block_access>{read(a.block(k)), update(a.block(k + 1))},
                            {.at = rt.at("sim0")}, std::source_location::current());
    });
    for (int k = 0; k < 6; ++k) {
      rt.replay(step);
      rt.fence();
    }
    EXPECT_GT(a.read_host(a.block(a.size() - 1))[0], 1.0);
    return rt.statistics().graphs.captured;
  };
  EXPECT_GT(captured("1 MiB"), 0u);
  EXPECT_EQ(captured("128 KiB"), 0u) << "a quarter has room for several tasks, and all has not for 64 blocks of 4 KiB";
}

TEST(replay_graphs, host_tasks_between_part_segments_and_keep_the_order) {
  runtime rt(testing::with_sims(2, "1 MiB", true));
  auto a = rt.make_array<double>("a", {4 * extent}, {extent});
  double v[4] = {1, 2, 3, 4};
  for (int k = 0; k < 4; ++k) fill(rt, a(k), v[k]);
  const task_options one{.at = rt.at("sim0")}, two{.at = rt.at("sim1")};
  recording step = rt.record([&] {
    scal(rt, 0.5, a(0), one);
    axpy(rt, 0.5, a(0), a(1), one);
    rt.submit(
        "swap",
        [](view<double> p, view<double> q) {
          for (std::int64_t i = 0; i < p.size(); ++i) std::swap(p[i], q[i]);
        },
        update(a(1)), update(a(2)));
    scal(rt, 0.5, a(2), two);
    axpy(rt, 0.5, a(2), a(3), two);
    scal(rt, 0.5, a(3), one);
    axpy(rt, 1.0, a(3), a(0), one);
  });
  for (int k = 0; k < 40; ++k) {
    rt.replay(step);
    v[0] *= 0.5, v[1] += 0.5 * v[0];
    std::swap(v[1], v[2]);
    v[2] *= 0.5, v[3] += 0.5 * v[2];
    v[3] *= 0.5, v[0] += v[3];
    if (k % 7 == 0) {
      scal(rt, 1.5, a(k % 4));
      v[k % 4] *= 1.5;
    }
  }
  for (int k = 0; k < 4; ++k) EXPECT_DOUBLE_EQ(a.read_host(a(k))[1], v[k]) << k;
  EXPECT_GE(rt.statistics().graphs.launched, 3 * 37u);
}

TEST(replay_graphs, a_failing_task_is_named_and_the_next_replay_mends) {
  runtime rt(testing::with_sims(1, "1 MiB"));
  auto a = rt.make_array<double>("a", {2 * extent}, {extent});
  auto other = rt.make_array<double>("other", {7}, {7});
  for (int k = 0; k < 2; ++k) fill(rt, a(k), 1.0);
  fill(rt, other(0), 1.0);
  const task_options there{.at = rt.at("sim0")};
  recording step = rt.record([&] {
    scal(rt, 2.0, a(0), there);
    axpy(rt, 1.0, other(0), a(0), there);  // of another length
    fill(rt, a(1), 5.0, there);
  });
  recording good = chain(rt, a(0), a(1), 2);
  for (int k = 0; k < 4; ++k) {
    rt.replay(step);
    try {
      rt.fence();
      ADD_FAILURE() << "no error in replay " << k;
    } catch (const error& e) {
      EXPECT_THAT(std::string(e.what()), HasSubstr("axpy"));
    }
    for (int b = 0; b < 2; ++b) fill(rt, a(b), 1.0);
    rt.replay(good);
    rt.fence();
    EXPECT_DOUBLE_EQ(a.read_host(a(1))[0], chained(1, 1, 2));
  }
  rt.fence();
  const statistics s = rt.statistics();
  EXPECT_EQ(s.tasks_submitted, s.tasks_retired);
}

TEST(replay_graphs, places_may_be_asked_for_again) {
  two_blocks on(testing::with_sims(1, "1 MiB"));
  auto& [rt, a] = on;
  recording step = chain(rt, a(0), a(1), 2);
  double y = 1;
  for (int k = 0; k < 30; ++k) {
    if (k % 10 == 9) step.place_again();
    rt.replay(step);
    y = chained(3, y, 2);
  }
  EXPECT_DOUBLE_EQ(a.read_host(a(1))[0], y);
}

struct pressure {
  const char* name;
  int devices;
  const char* memory;
  const char* runtime_keys;
  int tasks, blocks;
};
void PrintTo(const pressure& p, std::ostream* out) { *out << p.name; }

class random_graphs : public ::testing::TestWithParam<pressure> {};

/// As random_replay, with most tasks on the devices.
TEST_P(random_graphs, agree_with_a_sequential_oracle) {
  const pressure& s = GetParam();
  std::mt19937_64 random = testing::seeded_random();
  runtime rt(testing::with_sims(s.devices, s.memory, s.devices > 1, 2, s.runtime_keys));
  testing::random_blocks on(rt, s.blocks, extent);
  array<double>& a = on.blocks();
  struct placed_task {
    testing::random_task is;
    location::node_id at;
  };
  const auto submit = [&](const placed_task& t) {
    const task_options there{.priority = t.is.priority, .at = t.at};
    switch (t.is.kind) {  // what devices offer
      case 0:
        fill(rt, a(t.is.x), t.is.number, there);
        break;
      case 1:
      case 8:
        scal(rt, 0.5, a(t.is.x), there);
        break;
      case 2:
      case 3:
      case 9:
      case 10:
        axpy(rt, 0.5, a(t.is.x), a(t.is.y), there);
        break;
      case 4:
      case 5:
        axpy_accumulate(rt, 0.25, a(t.is.x), a(t.is.y), there);
        break;
      default:
        on.submit(t.is);
        break;
    }
  };
  const auto apply = [&](const placed_task& t) {
    testing::random_task same = t.is;
    if (same.kind == 8) same.kind = 1;
    if (same.kind == 9 || same.kind == 10) same.kind = 2;
    on.apply(same);
  };
  const auto any_task = [&](location::node_id at) {
    placed_task t{on.any_task(random), at};
    if (t.is.kind == 7 && random() % 3 != 0) t.is.kind = 2;  // a host task
    return t;
  };
  const int tasks = s.tasks / static_cast<int>(testing::slow_down);
  std::vector<std::vector<placed_task>> programs(3);
  for (auto& program : programs) {
    location::node_id at = rt.at("sim0");
    for (int k = 0; k < tasks; ++k) {
      if (random() % 20 == 0) at = rt.at("sim" + std::to_string(random() % static_cast<unsigned>(s.devices)));
      program.push_back(any_task(at));
    }
  }
  testing::replay_at_random(rt, on, random, programs, 40, submit, apply, [&] { return any_task(rt.at("sim0")); });
  rt.fence();
  const statistics seen = rt.statistics();
  EXPECT_GT(seen.graphs.tasks, 0u);
  EXPECT_EQ(seen.tasks_submitted, seen.tasks_retired);
}

INSTANTIATE_TEST_SUITE_P(machines, random_graphs,
                         ::testing::Values(pressure{"one_device", 1, "64 MiB", "", 600, 60},
                                           pressure{"two_devices", 2, "64 MiB", "", 600, 60},
                                           pressure{"few_blocks", 2, "64 MiB", "", 300, 6},
                                           pressure{"tight_memory", 2, "64 KiB", "", 300, 60},
                                           pressure{"cost", 2, "64 MiB", "placement = \"cost\"\nhistory = \"off\"\n",
                                                    300, 60},
                                           pressure{"traced_and_bounded", 1, "64 MiB",
                                                    "trace = true\nwindow_bytes = \"64 KiB\"\n", 300, 40}),
                         [](const auto& parameters) { return std::string(parameters.param.name); });

TEST(replay_graphs, of_a_device_that_leaves_run_elsewhere) {
  two_blocks on(testing::with_sims(2, "1 MiB", true));
  auto& [rt, a] = on;
  recording step = chain(rt, a(0), a(1), 2);
  double y = 1;
  for (int k = 0; k < 40; ++k) {
    if (k == 10) rt.detach(rt.at("sim0"));
    if (k == 20) rt.detach(rt.at("sim1"));
    if (k == 30) rt.attach(rt.at("sim0"));
    rt.replay(step);
    y = chained(3, y, 2);
    if (k % 5 == 4) {
      scal(rt, 1.0 / 1024, a(1));
      y /= 1024;
    }
  }
  EXPECT_DOUBLE_EQ(a.read_host(a(1))[0], y);
  rt.fence();
  const statistics s = rt.statistics();
  EXPECT_GE(s.graphs.launched, 10u);
  EXPECT_EQ(s.tasks_submitted, s.tasks_retired);
}

TEST(replay_graphs, recordings_may_end_while_their_last_launch_runs) {
  runtime rt(testing::with_sims(1, "1 MiB"));
  auto a = rt.make_array<double>("a", {2 * extent}, {extent});
  fill(rt, a(0), 3.0);
  double y = 1;
  fill(rt, a(1), y);
  for (int round = 0; round < 10; ++round) {
    recording step = chain(rt, a(0), a(1), 4);
    for (int k = 0; k < 4; ++k) rt.replay(step), y = chained(3, y, 4);
    scal(rt, 1.0 / 1024, a(1));
    y /= 1024;
  }
  EXPECT_NEAR(a.read_host(a(1))[0], y, 1e-12 * std::abs(y));
}

}  // namespace
}  // namespace tessera
