// Equal contractions and products that are ready together run as one launch of a device: the same results, fewer
// launches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "core/operation/batch_call.hpp"
#include "core/runtime/inside.hpp"
#include "machines.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_program.hpp"
#include "tests/support/slow_down.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::HasSubstr;

machine machine_with(const std::string& plugin, const std::string& keys, const std::string& memory = "64 MiB") {
  const std::string all = "placement = \"pinned\"\nhistory = \"off\"\n" + keys;
  return plugin == "sim" ? testing::with_sims(1, memory, false, 2, all) : testing::with_gpus(plugin, 1, memory, all);
}

/// A host task that writes a block and ends when it is told to, so that all that read the block are ready together.
class gate {
 public:
  template <std::size_t Rank, index_order Order>
  gate(runtime& rt, block_of<double, Rank, Order> block, double value) {
    rt.submit(
        "gate", {.at = rt.at("numa0")},
        [this, value](view<double, any_rank> v) {
          while (!m_open.load()) std::this_thread::yield();
          for (double& x : v) x = value;
        },
        write(block));
  }
  void open() { m_open.store(true); }

 private:
  std::atomic<bool> m_open{false};
};

/// Blocks of a plain matrix each, 8 x 8.
struct matrices {
  static constexpr std::int64_t extent = 8;
  matrices(runtime& rt, const std::string& name, std::int64_t count)
      : is(rt.make_matrix<double>(name, {extent, count * extent}, {extent, extent})) {}
  matrix_block<double> operator()(std::int64_t k) { return is(0, k); }
  tiled_matrix<double> is;
};

/// c(k) = 1 + a b(k) for `count` blocks, several times over: b(k) is k and c(k) is 1 by tasks at `filled`; a is 0.5
/// once `shared` opens, so that until then all wait.
struct sums {
  sums(runtime& rt, std::int64_t blocks, const task_options& filled)
      : count(blocks),
        a(rt, "a", 1),
        b(rt, "b", count),
        c(rt, "c", count),
        shared((fill_all(rt, filled), rt), a(0), 0.5) {}

  void submit(runtime& rt, const task_options& at, std::int64_t rounds = 1, std::string_view labels_of_a = "ik") {
    for (std::int64_t r = 0; r < rounds; ++r)
      for (std::int64_t k = 0; k < count; ++k) contract(rt, 1.0, a(0), labels_of_a, b(k), "kj", 1.0, c(k), "ij", at);
  }
  double seen(std::int64_t k) { return c(k).read()[k % 64]; }
  static double expected(std::int64_t k, std::int64_t rounds = 1) {
    return 1 + static_cast<double>(rounds) * 8 * 0.5 * double(k);
  }

  const std::int64_t count;
  matrices a, b, c;
  gate shared;

 private:
  void fill_all(runtime& rt, const task_options& at) {
    for (std::int64_t k = 0; k < count; ++k) {
      fill(rt, b(k), double(k), at);
      fill(rt, c(k), 1.0, at);
    }
    rt.fence();
  }
};

class batches : public ::testing::TestWithParam<const char*> {
 protected:
  std::string plugin() const { return GetParam(); }
  task_options there(runtime& rt) const { return {.at = rt.at(plugin() + "0")}; }
};
std::string name_of(const ::testing::TestParamInfo<const char*>& p) { return p.param; }
INSTANTIATE_TEST_SUITE_P(devices, batches, ::testing::Values("sim", "cuda_emulated", "hip_emulated"), name_of);
#ifdef TESSERA_TEST_OPENCL
INSTANTIATE_TEST_SUITE_P(opencl, batches, ::testing::Values("opencl"), name_of);
#endif

TEST_P(batches, equal_contractions_that_are_ready_are_few_launches) {
  constexpr std::int64_t count = testing::is_slow ? 60 : 120, rounds = 3;
  for (const bool together : {false, true}) {
    runtime rt(machine_with(plugin(), together ? "" : "batch = 1\n"));
    const task_options here = there(rt);
    sums of(rt, count, here);
    of.submit(rt, here, rounds, "ki");
    const std::uint64_t before = rt.statistics().device_launches;
    of.shared.open();
    rt.fence();
    const statistics s = rt.statistics();
    for (std::int64_t k = 0; k < count; ++k) ASSERT_EQ(of.seen(k), sums::expected(k, rounds)) << k;
    for (const auto& row : s.operations)
      if (row.operation == "contract") {
        EXPECT_EQ(row.tasks, std::uint64_t{count * rounds});
      }
    if (!together) {
      EXPECT_EQ(s.device_launches - before, std::uint64_t{count * rounds});
      EXPECT_EQ(s.batches.launched, 0u);
      continue;
    }
    EXPECT_LT(s.device_launches - before, std::uint64_t{count * rounds / 3});
    EXPECT_GT(s.batches.launched, 0u);
    EXPECT_LE(s.batches.tasks, std::uint64_t{count * rounds});
    EXPECT_THAT(to_text(s), HasSubstr(" launches for " + std::to_string(s.batches.tasks) + " tasks"));
  }
}

TEST_P(batches, products_of_matrices_and_blocks_that_need_workspace) {
  constexpr std::int64_t count = 60;
  runtime rt(machine_with(plugin(), ""));
  const task_options here = there(rt);
  matrices a(rt, "a", 1), b(rt, "b", count), c(rt, "c", count);
  auto p = rt.make_array<double, column_major>("p", {3, 4, 2, 5}, {3, 4, 2, 5});
  auto q = rt.make_array<double, column_major>("q", {4, 5, 3, 2 * count}, {4, 5, 3, 2});
  auto r = rt.make_array<double, column_major>("r", {3, 3, 2, 2 * count}, {3, 3, 2, 2});
  for (std::int64_t k = 0; k < count; ++k) fill(rt, b(k), double(k), here);
  for (std::size_t k = 0; k < count; ++k) fill(rt, q.block(k), double(k), here);
  rt.fence();
  gate first(rt, a(0), 0.25), second(rt, p.block(0), 0.5);
  for (std::int64_t k = 0; k < count; ++k) gemm(rt, 2.0, a(0), transpose::yes, b(k), transpose::no, 0.0, c(k), here);
  for (std::size_t k = 0; k < count; ++k)
    contract(rt, 1.0, p.block(0), "acbd", q.block(k), "cdij", 0.0, r.block(k), "aibj", here);
  first.open();
  second.open();
  rt.fence();
  for (std::int64_t k = 0; k < count; ++k) ASSERT_EQ(c(k).read()[63], 2 * 8 * 0.25 * double(k));
  for (std::size_t k = 0; k < count; ++k) ASSERT_EQ(r.block(k).read()[35], 20 * 0.5 * double(k));
  EXPECT_GT(rt.statistics().batches.tasks, 60u);
}

/// What a task of the random program does: c = alpha op(a) b + beta c with 4 x 4 matrices.
struct random_product {
  std::int64_t a, b, c;
  bool transposed, as_gemm;
  double alpha, beta;
  std::int16_t priority;
};
using plain = std::array<double, 16>;

plain product_of(const random_product& t, const plain& a, const plain& b, plain c) {
  for (std::size_t j = 0; j < 4; ++j)
    for (std::size_t i = 0; i < 4; ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < 4; ++k) sum += (t.transposed ? a[k + 4 * i] : a[i + 4 * k]) * b[k + 4 * j];
      c[i + 4 * j] = t.alpha * sum + t.beta * c[i + 4 * j];
    }
  return c;
}

/// Few kinds of task on few blocks, so that equal and unequal ones are ready at the same time and depend on each other.
/// `memory`: of the device. Returns the tasks that ran in batches.
std::uint64_t random_products(machine on, const task_options& options, const std::string& device, int tasks,
                              int blocks) {
  auto random = testing::seeded_random();
  runtime rt(std::move(on));
  auto m = rt.make_matrix<double>("m", {4, 4 * blocks}, {4, 4});
  std::vector<plain> oracle(static_cast<std::size_t>(blocks));
  for (int k = 0; k < blocks; ++k) {
    auto v = m(0, k).write();
    auto& plain_block = oracle[static_cast<std::size_t>(k)];
    for (std::size_t i = 0; i < 16; ++i)
      v[static_cast<std::int64_t>(i)] = plain_block[i] = double(random() % 17) / 32 - 0.25;
  }
  const auto pick = [&](int below) { return static_cast<int>(random() % static_cast<std::uint64_t>(below)); };
  for (int n = 0; n < tasks; ++n) {
    random_product t{};
    t.a = pick(blocks), t.b = pick(blocks);
    do t.c = pick(blocks);
    while (t.c == t.a || t.c == t.b);
    t.transposed = pick(4) == 0, t.as_gemm = pick(4) == 0;
    t.alpha = 0.25, t.beta = pick(3) == 0 ? 0.0 : 0.5;
    t.priority = static_cast<std::int16_t>(pick(10) == 0 ? 1 : 0);
    task_options here = options;
    here.priority = t.priority;
    if (!device.empty() && pick(20) != 0) here.at = rt.at(device);
    const transpose op = t.transposed ? transpose::yes : transpose::no;
    if (t.as_gemm)
      gemm(rt, t.alpha, m(0, t.a), op, m(0, t.b), transpose::no, t.beta, m(0, t.c), here);
    else
      contract(rt, t.alpha, m(0, t.a), t.transposed ? "ki" : "ik", m(0, t.b), "kj", t.beta, m(0, t.c), "ij", here);
    auto& c = oracle[static_cast<std::size_t>(t.c)];
    c = product_of(t, oracle[static_cast<std::size_t>(t.a)], oracle[static_cast<std::size_t>(t.b)], c);
  }
  rt.fence();
  for (int k = 0; k < blocks; ++k) {
    const auto seen = m(0, k).read();
    for (std::size_t i = 0; i < 16; ++i)
      EXPECT_NEAR(seen[static_cast<std::int64_t>(i)], oracle[static_cast<std::size_t>(k)][i], 1e-12) << "block " << k;
  }
  return rt.statistics().batches.tasks;
}

TEST_P(batches, random_products_agree_with_a_sequential_program) {
  const int tasks = static_cast<int>(4000 / testing::slow_down);
  EXPECT_GT(random_products(machine_with(plugin(), ""), {}, plugin() + "0", tasks, 200), 0u);
}

TEST(random_batches, in_a_memory_that_holds_a_part) {
  // A block of 128 bytes takes 256 at least: 256 of the 600 are there.
  random_products(machine_with("sim", "", "64 KiB"), {}, "sim0", static_cast<int>(3000 / testing::slow_down), 600);
  random_products(machine_with("cuda_emulated", "", "64 KiB"), {}, "cuda_emulated0",
                  static_cast<int>(1000 / testing::slow_down), 600);
}

TEST(random_batches, on_two_devices_and_the_host) {
  for (const char* placement : {"locality", "eager", "cost"})
    random_products(
        testing::with_sims(2, "1 MiB", true, 2, std::string("placement = \"") + placement + "\"\nhistory = \"off\"\n"),
        {}, "", static_cast<int>(3000 / testing::slow_down), 200);
}

TEST(batching, is_off_where_every_task_is_looked_at_or_counts) {
  for (const char* key : {"batch = 1\n", "validate = true\n", "deterministic = true\n"}) {
    SCOPED_TRACE(key);
    EXPECT_EQ(random_products(machine_with("sim", key), {}, "sim0", static_cast<int>(500 / testing::slow_down), 100),
              0u);
  }
}

/// C += A B as a task that reads what it writes where B is C: a submission would refuse it, and so does the plugin.
void submit_unchecked(runtime& rt, matrix_block<double> a, matrix_block<double> b, matrix_block<double> c,
                      const task_options& where) {
  operation::contract_arguments arguments;
  arguments.a = {'i', 'k'}, arguments.b = {'k', 'j'}, arguments.c = {'i', 'j'};
  schedule::scheduler& scheduler = *rt.inside().scheduler;
  schedule::thread_context* mine = nullptr;
  task::record& t = scheduler.begin(*rt.builtin().contract, std::source_location::current(), mine);
  t.hint = where.at;
  t.access_count = 3;
  t.accesses[0] = read(a), t.accesses[1] = read(b), t.accesses[2] = update(c);
  t.need_more().arguments.resize(sizeof arguments);
  std::memcpy(t.more->arguments.data(), &arguments, sizeof arguments);
  t.flags |= task::flag_large_arguments;
  t.argument_size = sizeof arguments;
  scheduler.commit(*mine, t);
}

TEST(batching, one_task_that_is_refused_fails_alone) {
  for (const char* plugin : {"sim", "cuda_emulated"}) {
    runtime rt(machine_with(plugin, ""));
    const task_options here{.at = rt.at(std::string(plugin) + "0")};
    constexpr std::int64_t count = 40, bad = 17;
    sums of(rt, count, here);
    for (std::int64_t k = 0; k < count; ++k)
      if (k == bad)
        submit_unchecked(rt, of.a(0), of.c(k), of.c(k), here);
      else
        contract(rt, 1.0, of.a(0), "ik", of.b(k), "kj", 1.0, of.c(k), "ij", here);
    of.shared.open();
    EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("overlap"));
    for (std::int64_t k = 0; k < count; ++k)
      if (k != bad) {
        ASSERT_EQ(of.seen(k), sums::expected(k)) << k;
      }
    EXPECT_THAT(error_of([&] { (void)of.seen(bad); }).what(), HasSubstr("overlap"));
  }
}

TEST(batching, a_launch_that_fails_under_way_fails_all_that_are_in_it) {
  // The 100 blocks are filled first; then some product, or some batch of them, fails: ten at most, not all of a round.
  runtime rt(testing::machine_of(
      "plugins = [\"host\", \"sim\"]\nplacement = \"pinned\"\nhistory = \"off\"\nbatch = 10\n"
      "[plugin.sim]\nclock = \"real\"\n[[plugin.sim.device]]\nmemory = \"1 MiB\"\nflops = \"40 GFLOP/s\"\n"
      "[[plugin.sim.inject]]\nkind = \"kernel_fails\"\nat = 105\n"));
  const task_options here{.at = rt.at("sim0")};
  constexpr std::int64_t count = 50, rounds = 4;
  sums of(rt, count, here);
  of.submit(rt, here, rounds);
  of.shared.open();
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("contract on sim0 failed"));
  std::int64_t failed = 0;
  for (std::int64_t k = 0; k < count; ++k) try {
      ASSERT_EQ(of.seen(k), sums::expected(k, rounds)) << k;
    } catch (const error& e) {
      ++failed;
      EXPECT_THAT(e.what(), HasSubstr("kernel_fails"));
    }
  EXPECT_GE(failed, 1);
  EXPECT_LT(failed, count);
}

/// 50 sums on whatever there is, four times; `between` happens while they run. Returns how many of them can be read,
/// which are right.
template <class Between>
std::int64_t readable_sums(runtime& rt, Between&& between) {
  constexpr std::int64_t count = 50, rounds = 4;
  sums of(rt, count, {.at = rt.at("numa0")});
  of.submit(rt, {.at = rt.at("sim0")}, rounds);
  of.shared.open();
  between();
  try {
    rt.fence();
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr("lost"));
  }
  std::int64_t good = 0;
  for (std::int64_t k = 0; k < count; ++k) try {
      EXPECT_EQ(of.seen(k), sums::expected(k, rounds)) << k;
      ++good;
    } catch (const error& e) {
      EXPECT_THAT(e.what(), HasSubstr("lost"));
    }
  return good;
}

TEST(batching, a_device_that_is_lost_takes_what_was_under_way_with_it) {
  for (const int at : {1, 2, 9, 30}) {
    runtime rt(
        testing::machine_of("plugins = [\"host\", \"sim\"]\nhistory = \"off\"\n[plugin.sim]\nclock = \"real\"\n"
                            "[[plugin.sim.device]]\nmemory = \"1 MiB\"\nflops = \"40 GFLOP/s\"\n"
                            "[[plugin.sim.inject]]\nkind = \"lost\"\non = \"kernel\"\nat = " +
                            std::to_string(at) + "\n"));
    EXPECT_LE(readable_sums(rt, [] {}), 50);
    const bool lost = !rt.attached(rt.at("sim0"));
    EXPECT_EQ(rt.statistics().losses.devices, lost ? 1u : 0u);
    if (lost) {
      EXPECT_EQ(readable_sums(rt, [] {}), 50) << "the run goes on";
    }
  }
}

TEST(batching, a_device_may_leave_meanwhile) {
  for (int round = 0; round < 5; ++round) {
    runtime rt(testing::with_sims(1, "1 MiB", false, 2, "history = \"off\"\n"));
    EXPECT_EQ(readable_sums(rt, [&] { rt.detach("sim0"); }), 50);
    rt.attach("sim0");
    EXPECT_EQ(readable_sums(rt, [] {}), 50);
  }
}

/// An operation of the program: b = a, together or one by one; counts the calls.
struct own_operation {
  static inline std::atomic<int> single{0}, together{0}, largest{0};
  static inline std::atomic<int> mood{0};  // 0: works, 1: refuses batches, 2: throws
  static void one(const operation::context& c) {
    ++single;
    const std::complex<double> alpha = 1;
    tsr_permute p{};
    p.struct_size = sizeof p;
    p.type = TSR_F64;
    p.rank = 1;
    p.extents[0] = c.operands[0].extents->count();
    p.alpha = &alpha;
    p.source = c.operands[0].address, p.destination = c.operands[1].address;
    c.device->check(c.device->tensor()->permute(c.device->handle(), c.stream, &p), "permute");
  }
  static bool many(std::span<const operation::context> tasks) {
    if (mood == 1) return false;
    if (mood == 2) throw error(error_kind::task, "together they are too many");
    ++together;
    largest = std::max<int>(largest, static_cast<int>(tasks.size()));
    for (const operation::context& c : tasks) {
      EXPECT_EQ(c.stream, tasks.front().stream);
      EXPECT_EQ(c.task_name, "move");
      one(c);
      --single;
    }
    return true;
  }
};

TEST(batching, an_operation_of_the_program) {
  for (const int mood : {0, 1, 2}) {
    SCOPED_TRACE(mood);
    own_operation::mood = mood;
    own_operation::single = own_operation::together = own_operation::largest = 0;
    runtime rt(machine_with("sim", "batch = 10\n"));
    const task_options here{.at = rt.at("sim0")};
    const operation::definition& move =
        rt.define({.name = "move", .enqueue = own_operation::one, .batch = {.enqueue = own_operation::many}});
    constexpr std::int64_t count = 80;
    auto x = rt.make_array<double>("x", {1}, {1}), y = rt.make_array<double>("y", {count}, {1});
    gate shared(rt, x(0), 3.0);
    for (std::int64_t k = 0; k < count; ++k) {
      const std::array accesses{
          block::access{.block = &x(0).record(), .version = 0, .intent = intent::read, .flags = 0, .space = 0},
          block::access{.block = &y(k).record(), .version = 0, .intent = intent::write, .flags = 0, .space = 0}};
      rt.submit_operation(move, nullptr, 0, accesses, here);
    }
    shared.open();
    if (mood == 2) {
      EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("move on sim0 failed: together they are too many"));
      continue;
    }
    rt.fence();
    for (std::int64_t k = 0; k < count; ++k) ASSERT_EQ(y(k).read()[0], 3.0);
    if (mood == 1) {
      EXPECT_EQ(own_operation::single, count);
      EXPECT_EQ(rt.statistics().batches.launched, 0u);
    } else {
      EXPECT_LT(own_operation::single, count);
      EXPECT_LE(own_operation::largest, 10);
      EXPECT_EQ(rt.statistics().batches.tasks, static_cast<std::uint64_t>(count - own_operation::single));
      EXPECT_EQ(rt.statistics().batches.launched, static_cast<std::uint64_t>(own_operation::together));
    }
  }
}

TEST(batching, replays_and_new_arguments) {
  runtime rt(machine_with("sim", "graphs = false\n"));
  const task_options here{.at = rt.at("sim0")};
  constexpr std::int64_t count = 40;
  matrices a(rt, "a", 1), b(rt, "b", count), c(rt, "c", count);
  fill(rt, a(0), 0.5, here);
  for (std::int64_t k = 0; k < count; ++k) {
    fill(rt, b(k), double(k), here);
    fill(rt, c(k), 0.0, here);
  }
  recording step = rt.record([&] {
    for (std::int64_t k = 0; k < count; ++k) contract(rt, 1.0, a(0), "ik", b(k), "kj", 1.0, c(k), "ij", here);
  });
  operation::contract_arguments other{2.0, 1.0, {'i', 'k'}, {'k', 'j'}, {'i', 'j'}};
  for (int round = 0; round < 10; ++round) {
    if (round == 5) step.set_arguments(7, other);
    rt.replay(step);
  }
  rt.fence();
  for (std::int64_t k = 0; k < count; ++k) ASSERT_EQ(c(k).read()[9], (k == 7 ? 15 : 10) * 8 * 0.5 * double(k)) << k;
  EXPECT_GT(rt.statistics().batches.tasks, 0u);
}

TEST(batching, tasks_of_a_launch_share_its_time_in_a_trace) {
  runtime rt(machine_with("sim", "trace = true\n"));
  const task_options here{.at = rt.at("sim0")};
  constexpr std::int64_t count = 60;
  sums of(rt, count, here);
  of.submit(rt, here);
  of.shared.open();
  rt.fence();
  ASSERT_GT(rt.statistics().batches.tasks, 0u);
  const trace::timeline t = rt.timeline("batches");
  std::map<std::uint32_t, std::vector<std::pair<trace::nanoseconds, trace::nanoseconds>>> rows;
  std::int64_t seen = 0;
  for (const trace::task& one : t.tasks) {
    seen += t.operations[one.operation] == "contract";
    if (t.tracks[one.track].kind == trace::track_kind::stream) rows[one.track].push_back({one.started, one.ended});
  }
  EXPECT_EQ(seen, count);
  for (auto& [track, tasks] : rows) {
    std::ranges::sort(tasks);
    for (std::size_t k = 1; k < tasks.size(); ++k)
      EXPECT_LE(tasks[k - 1].second, tasks[k].first) << "on a track nothing happens twice";
  }
}

}  // namespace
}  // namespace tessera
