// Placement by learnt times through the whole runtime, on simulated devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <latch>
#include <map>
#include <optional>

#include "core/operation/blas.hpp"
#include "core/placement/history_file.hpp"
#include "machines.hpp"
#include "support/slow_down.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;

std::string devices(const std::vector<std::string>& flops, const std::string& more = "",
                    const std::string& clock = "real") {
  std::string toml = "[plugin.sim]\nclock = \"" + clock + "\"\n";
  for (const std::string& rate : flops)
    toml += "[[plugin.sim.device]]\nmemory = \"64 MiB\"\nflops = \"" + rate + "\"\n" + more;
  return toml;
}

machine cost_machine(const std::string& history, const std::string& sims,
                     const std::string& plugins = "\"host\", \"sim\"", const std::string& placement = "cost") {
  return testing::machine_of("plugins = [" + plugins + "]\nplacement = \"" + placement + "\"\nhistory = \"" + history +
                             "\"\n" + sims);
}

bool on_devices_only(const plugin::device& device, element_type type) {
  return device.description().device_class != TSR_DEVICE_CPU && operation::gemm().available(device, type);
}

std::map<std::string, std::uint64_t> places_of(const runtime& rt, const std::string& operation) {
  std::map<std::string, std::uint64_t> tasks;
  for (const auto& row : rt.statistics().operations)
    if (row.operation == operation) tasks[row.place.starts_with("cpu:") ? "cpu" : row.place] += row.tasks;
  return tasks;
}

std::uint64_t ask(const plugin::device& device, tsr_query_key key) {
  std::uint64_t value = 0;
  EXPECT_EQ(device.table().query(device.handle(), key, 0, &value), TSR_OK);
  return value;
}

std::vector<const plugin::device*> sims_of(const runtime& rt) {
  std::vector<const plugin::device*> found;
  for (const auto& d : rt.plugins().devices())
    if (d->plugin_name() == "sim") found.push_back(d.get());
  return found;
}

// --- 1 : 2 : 4

constexpr std::int64_t extent_of_one = 64;
constexpr double flops_of_one = 2.0 * extent_of_one * extent_of_one * extent_of_one;

/// Submits `count` independent products of square matrices.
void submit_products(runtime& rt, const operation::definition& what, tiled_matrix<double>& ab, tiled_matrix<double>& c,
                     int count) {
  const operation::gemm_arguments arguments{.alpha = 1, .beta = 0};
  for (int k = 0; k < count; ++k)
    rt.submit_operation(what, &arguments, sizeof arguments,
                        std::array<block::access, 3>{read(ab(0, 0)), read(ab(0, 1)), write(c(0, k))});
}

/// Keeps all devices busy, so that what is submitted is placed before anything of it has run: nothing that ends tells
/// the scheduler how fast the machine is at this moment.
class closed_gate {
 public:
  closed_gate(runtime& rt, const std::vector<const plugin::device*>& sims)
      : m_gates(rt.make_array<double>("gates", {static_cast<std::int64_t>(sims.size())}, {1})) {
    static std::latch* opened = nullptr;
    opened = &m_open;
    operation::definition gate;
    gate.name = "gate";
    gate.enqueue = [](const operation::context&) { opened->wait(); };
    gate.available = on_devices_only;
    const operation::definition& hold = rt.define(gate);
    for (std::size_t k = 0; k < sims.size(); ++k)
      rt.submit_operation(hold, nullptr, 0, std::array<block::access, 1>{write(m_gates(static_cast<std::int64_t>(k)))},
                          {.at = rt.at(sims[k]->name())});
  }
  void open() { m_open.count_down(); }

 private:
  std::latch m_open{1};
  array<double> m_gates;
};

/// Far away and fast: a copy takes a millisecond, a product little.
std::string far_device() { return devices({"20 GFLOP/s"}, "latency = \"1 ms\"\n"); }

class kept : public ::testing::Test {
 protected:
  kept() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tessera_kept_XXXXXX").string();
    m_folder = ::mkdtemp(pattern.data());
    m_file = m_folder / "history.json";
  }
  ~kept() override { std::filesystem::remove_all(m_folder); }
  machine logged(const std::string& history, const std::string& placement = "cost") {
    machine m = cost_machine(history, far_device(), "\"host\", \"sim\"", placement);
    m.log = [this](int level, const std::string& line) { m_lines.push_back(std::to_string(level) + " " + line); };
    return m;
  }
  std::filesystem::path m_folder, m_file;
  std::vector<std::string> m_lines;
};

TEST_F(kept, devices_of_learnt_speeds_1_2_4_are_kept_in_proportion) {
  // Nobody tells the runtime the speeds: the operation has no work function, so that all places look the same at first.
  // What was learnt is written down, not measured: the times of a busy machine may be in any order.
  operation::definition what = operation::gemm();
  what.name = "product";
  what.available = on_devices_only;
  what.work = nullptr;
  const auto start = [this](const char* clock) {
    return cost_machine(m_file.string(), devices({"1 GFLOP/s", "1 GFLOP/s", "1 GFLOP/s"}, "", clock));
  };
  const auto fill_inputs = [](runtime& rt, tiled_matrix<double>& ab) {
    fill(rt, ab(0, 0), 2.0);
    fill(rt, ab(0, 1), 0.25);
    rt.fence();
  };
  std::vector<std::string> lines;
  {
    runtime rt(start("real"));
    lines = placement::machine_lines(rt.plugins().devices());
    auto ab = rt.make_matrix<double>("ab", {extent_of_one, 2 * extent_of_one}, {extent_of_one, extent_of_one});
    auto c = rt.make_matrix<double>("c", {extent_of_one, 60 * extent_of_one}, {extent_of_one, extent_of_one});
    fill_inputs(rt, ab);
    submit_products(rt, rt.define(what), ab, c, 60);
    rt.fence();
  }
  placement::stored_history learnt = placement::read_history(m_file, lines);
  std::size_t devices_known = 0;
  for (auto& cell : learnt.cells) {
    if (cell.operation != "product") continue;
    const auto device = cell.place.back() - '0';
    cell.samples.assign(placement::history::kept, static_cast<float>(20e6 / (1 << device) / cell.amount));
    cell.fresh = true;
    ++devices_known;
  }
  ASSERT_EQ(devices_known, 3u) << "each device was tried";
  ASSERT_EQ(placement::write_history(m_file, lines, learnt.kinds, learnt.cells), "");

  // With a clock that is not real nothing more is learnt, so that only what was written decides.
  runtime rt(start("virtual"));
  const operation::definition& product = rt.define(what);
  constexpr int count = 350;
  auto ab = rt.make_matrix<double>("ab", {extent_of_one, 2 * extent_of_one}, {extent_of_one, extent_of_one});
  auto c = rt.make_matrix<double>("c", {extent_of_one, count * extent_of_one}, {extent_of_one, extent_of_one});
  fill_inputs(rt, ab);
  closed_gate gate(rt, sims_of(rt));
  submit_products(rt, product, ab, c, count);
  gate.open();
  rt.fence();
  for (int k = 0; k < count; k += 99) EXPECT_EQ(c(0, k).read()(3, 5), 0.5 * extent_of_one);
  auto tasks = places_of(rt, "product");
  EXPECT_NEAR(static_cast<double>(tasks["sim0"]), 50, 5);
  EXPECT_NEAR(static_cast<double>(tasks["sim1"]), 100, 10);
  EXPECT_NEAR(static_cast<double>(tasks["sim2"]), 200, 20);
}

TEST(cost, devices_of_described_speeds_1_2_4_are_kept_in_proportion) {
  // With a virtual clock nothing waits, and work ends when the host is done with it, not when the model says: so what
  // ends tells the scheduler nothing. Held back until all is placed, the devices' own clocks show what the placement is
  // worth.
  runtime rt(cost_machine("off", devices({"1 GFLOP/s", "2 GFLOP/s", "4 GFLOP/s"}, "", "virtual")));
  operation::definition what = operation::gemm();
  what.name = "product";
  what.available = on_devices_only;
  const operation::definition& product = rt.define(what);

  constexpr int count = 700;
  auto ab = rt.make_matrix<double>("ab", {extent_of_one, 2 * extent_of_one}, {extent_of_one, extent_of_one});
  auto c = rt.make_matrix<double>("c", {extent_of_one, count * extent_of_one}, {extent_of_one, extent_of_one});
  fill(rt, ab(0, 0), 2.0, {.at = rt.at("numa0")});
  fill(rt, ab(0, 1), 0.25, {.at = rt.at("numa0")});
  rt.fence();
  const auto sims = sims_of(rt);
  ASSERT_EQ(sims.size(), 3u);
  closed_gate gate(rt, sims);
  submit_products(rt, product, ab, c, count);
  gate.open();
  rt.fence();
  double last = 0;
  for (const auto* d : sims) last = std::max(last, static_cast<double>(ask(*d, TSR_QUERY_CLOCK_NS)) * 1e-9);
  const double ideal = count * flops_of_one / (7e9 * 2);
  std::printf("virtual clock: %.3f of the ideal\n", ideal / last);
  EXPECT_GE(ideal / last, 0.90);
  EXPECT_EQ(rt.statistics().placement->trials, 0u) << "nothing can be learnt from a clock that is not real";
  EXPECT_EQ(rt.statistics().placement->sizes, 0u + 1u) << "the fill on the host";
  for (int k = 0; k < count; k += 99) EXPECT_EQ(c(0, k).read()(0, 0), 0.5 * extent_of_one);
}

// --- crossover, and what is kept

/// A product on the host as somebody might write it, some ten times slower than a BLAS library for large matrices.
void slow_product(const operation::context& context) {
  const auto& a = context.operands[0];
  const auto *x = static_cast<const double*>(a.host), *y = static_cast<const double*>(context.operands[1].host);
  auto* z = static_cast<double*>(context.operands[2].host);
  const auto order = a.extent(0);
  for (std::int64_t i = 0; i < order; ++i)
    for (std::int64_t j = 0; j < order; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < order; ++k) sum += x[i + k * order] * y[k + j * order];
      z[i + j * order] = sum;
    }
}

const operation::definition& define_product(runtime& rt) {
  operation::definition what = operation::gemm();
  what.name = "product";
  what.host = slow_product;
  return rt.define(what);
}

/// `count` products one after the other, of matrices that the host has just written; how many ran on the device.
std::uint64_t on_device(runtime& rt, const operation::definition& product, std::int64_t order, int count) {
  auto ab = rt.make_matrix<double>("ab", {order, 2 * order}, {order, order});
  auto c = rt.make_matrix<double>("c", {order, order}, {order, order});
  const operation::gemm_arguments arguments{.alpha = 1, .beta = 0};
  const std::uint64_t before = places_of(rt, "product")["sim0"];
  for (int k = 0; k < count; ++k) {
    for (int side = 0; side < 2; ++side)
      rt.submit(
          "new",
          [k, side](matrix_view<double> x) {
            for (std::int64_t i = 0; i < x.size(); ++i) x[i] = side == 0 ? 1.0 + k : static_cast<double>(i % 3);
          },
          write(ab(0, side)));
    rt.submit_operation(product, &arguments, sizeof arguments,
                        std::array<block::access, 3>{read(ab(0, 0)), read(ab(0, 1)), write(c(0, 0))});
    rt.fence();
    double expected = 0;
    for (std::int64_t i = 0; i < order; ++i) expected += (1.0 + k) * static_cast<double>((i + order) % 3);  // column 1
    EXPECT_EQ(c(0, 0).read()(2, 1), expected) << order;
    rt.fence();
  }
  return places_of(rt, "product")["sim0"] - before;
}

/// What is learnt on a machine that is busy with other things may be about those. A test of it may try several times.
constexpr int max_attempts = 5;

TEST(cost, finds_the_size_from_which_a_device_is_worth_its_way) {
  if (testing::watches_threads) GTEST_SKIP() << "many iterations of what other tests begin";
  std::optional<runtime> tried;
  std::uint64_t small = 20, large = 0;
  for (int attempt = 0; attempt < max_attempts && (small > 3 || large < 17); ++attempt) {
    runtime& rt = tried.emplace(cost_machine("off", far_device()));  // nothing of the attempt before is known
    const operation::definition& product = define_product(rt);
    for (const std::int64_t order : {16, 32, 64, 128, 256}) on_device(rt, product, order, 30);  // it learns
    small = on_device(rt, product, 16, 20), large = on_device(rt, product, 256, 20);
  }
  EXPECT_LE(small, 3u) << "of 20: not worth a copy";
  EXPECT_GE(large, 17u) << "of 20";
  const statistics s = tried->statistics();
  ASSERT_TRUE(s.placement);
  EXPECT_GT(s.placement->trials, 0u);
  const auto found = std::ranges::find(s.placement->crossovers, "product", &placement::crossover::operation);
  ASSERT_NE(found, s.placement->crossovers.end());
  EXPECT_EQ(found->device, "sim: sim0");
  EXPECT_EQ(found->host, "cpu");
  ASSERT_TRUE(found->moved.found);
  EXPECT_GT(found->moved.block_bytes, 16 * 16 * 8.0);
  EXPECT_LE(found->moved.block_bytes, 256 * 256 * 8.0);
  ASSERT_TRUE(found->resident.found);
  EXPECT_LE(found->resident.amount, found->moved.amount);
  EXPECT_THAT(to_text(s), HasSubstr("product f64: 'sim: sim0' beats cpu from blocks of"));
}

TEST_F(kept, the_next_run_knows_from_the_first_task_on) {
  std::uint64_t of_ten = 0;
  for (int attempt = 0; attempt < max_attempts && of_ten < 10; ++attempt) {
    {
      runtime rt(logged(m_file.string()));
      on_device(rt, define_product(rt), 256, 30);
    }
    ASSERT_TRUE(std::filesystem::exists(m_file));
    runtime rt(logged(m_file.string()));
    of_ten = on_device(rt, define_product(rt), 256, 10);
    EXPECT_EQ(rt.statistics().placement->trials, 0u);
  }
  EXPECT_EQ(of_ten, 10u);
  {
    runtime rt(logged("off"));
    on_device(rt, define_product(rt), 256, 1);
    EXPECT_LE(rt.statistics().placement->sizes, 3u);
  }
  EXPECT_TRUE(m_lines.empty()) << m_lines.front();
}

TEST_F(kept, a_damaged_file_is_one_line_of_the_log) {
  std::ofstream(m_file) << "{\"tessera_history\": 1, \"machines\": {";
  {
    runtime rt(logged(m_file.string()));
    on_device(rt, define_product(rt), 32, 3);
  }
  ASSERT_EQ(m_lines.size(), 1u);
  EXPECT_THAT(m_lines[0], HasSubstr("it is damaged"));
  EXPECT_THAT(m_lines[0], HasSubstr(m_file.string()));
  m_lines.clear();
  runtime rt(logged(m_file.string()));
  EXPECT_TRUE(m_lines.empty()) << "it was replaced by a sound one";
}

TEST_F(kept, a_file_of_something_else_is_left_alone) {
  std::ofstream(m_file) << "my thesis\n";
  {
    runtime rt(logged(m_file.string()));
    on_device(rt, define_product(rt), 32, 3);
  }
  ASSERT_EQ(m_lines.size(), 1u);
  EXPECT_THAT(m_lines[0], HasSubstr("left as it is"));
  std::string text;
  std::getline(std::ifstream(m_file), text);
  EXPECT_EQ(text, "my thesis");
}

TEST_F(kept, a_path_that_cannot_be_written_is_an_error_at_the_start) {
  std::ofstream(m_file) << "a file";
  try {
    runtime rt(logged((m_file / "below.json").string()));
    FAIL() << "no error";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::configuration);
    EXPECT_THAT(e.where(), HasSubstr("below.json"));
    EXPECT_THAT(e.hint(), HasSubstr("runtime.history"));
  }
  EXPECT_NO_THROW(runtime rt(logged((m_file / "below.json").string(), "locality"))) << "nobody learns";
}

TEST(policy_plugin, is_given_what_was_learnt) {
  // It chooses the least execute_seconds. By peaks the host wins; its slow product shows only when it was measured.
  const std::string plugin = std::string(TESSERA_TEST_PLUGINS) + "/tessera_policy_fastest.so";
  runtime rt(cost_machine("off", far_device(), "\"host\", \"sim\", \"" + plugin + "\"", "plugin:policy_fastest"));
  const operation::definition& product = define_product(rt);
  std::uint64_t of_ten = 0;
  for (int attempt = 0; attempt < max_attempts && of_ten < 7; ++attempt) of_ten = on_device(rt, product, 256, 10);
  EXPECT_GE(of_ten, 7u);
  EXPECT_FALSE(rt.statistics().placement) << "trials and crossovers belong to the placement cost";
}

}  // namespace
}  // namespace tessera
