// Programs on devices, and in memories that are too small for them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numeric>

#include "apps/sparse/matrix/generate.hpp"
#include "apps/sparse/solver/lanczos.hpp"
#include "apps/sparse/solver/lobpcg.hpp"
#include "core/trace/timeline.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"
#include "tests/unit/sparse/every_operation.hpp"
#include "tests/unit/sparse/pairs.hpp"

namespace tessera::sparse {
namespace {

using test_support::message_of;

struct device_machine {
  const char* plugin;
  const char* memory = "64 MiB";
  const char* eviction = "next_use";

  machine make() const {
    const std::string keys = "history = \"off\"\n[memory]\neviction = \"" + std::string(eviction) + "\"\n";
    return std::string(plugin) == "sim" ? testing::with_sims(1, memory, false, 2, keys)
                                        : testing::with_gpus(plugin, 1, memory, keys);
  }
  std::string location() const { return plugin + std::string("0"); }
};
std::string name_of(const ::testing::TestParamInfo<device_machine>& info) { return info.param.plugin; }
void PrintTo(const device_machine& m, std::ostream* out) { *out << m.plugin; }

class sparse_devices : public ::testing::TestWithParam<device_machine> {
 protected:
  program_options there(std::int64_t panel) const { return {.panel_rows = panel, .at = GetParam().location()}; }
};
INSTANTIATE_TEST_SUITE_P(all, sparse_devices,
                         ::testing::Values(device_machine{"sim"}, device_machine{"cuda_emulated"},
                                           device_machine{"hip_emulated"}),
                         name_of);
#ifdef TESSERA_TEST_OPENCL
INSTANTIATE_TEST_SUITE_P(on_opencl, sparse_devices, ::testing::Values(device_machine{"opencl"}), name_of);
#endif

TEST_P(sparse_devices, do_what_the_reference_does) {
  // Panels of several slices of rows, and of more pieces than one launch takes; wherever the runtime places tasks, too.
  for (const auto& [name, panel] : {std::pair{"lap2d:30", 700}, std::pair{"rmat:8", 9}, std::pair{"hs:10", 100}}) {
    const csr_matrix a = generate(name);
    const every_operation reference(testing::host_only(), a, {.how = execution::at_once});
    const every_operation on_device(GetParam().make(), a, there(panel));
    on_device.expect_like(reference);
    EXPECT_GT(on_device.counted.device_launches, 0u);
    every_operation(GetParam().make(), a, {.panel_rows = panel}).expect_like(reference);
  }
}

TEST_P(sparse_devices, combine_more_blocks_than_a_launch_takes) {
  const csr_matrix a = generate("lap2d:20");
  runtime rt(GetParam().make());
  program p(rt, a, there(150));
  std::vector<block_vector> x;
  for (int k = 0; k < 11; ++k) {
    x.push_back(p.vector("x" + std::to_string(k), 1 + k % 2));
    x.back().set(std::vector<double>(static_cast<std::size_t>(a.rows * (1 + k % 2)), 1 << k));
  }
  small_matrix c = p.small("c", 16, 3);
  c.set(std::vector<double>(16 * 3, 1.0));
  block_vector y = p.vector("y", 3);
  combine(x, c, std::span(&y, 1));
  double expected = 0;
  for (int k = 0; k < 11; ++k) expected += (1 + k % 2) * (1 << k);
  EXPECT_EQ(y.values(), std::vector<double>(static_cast<std::size_t>(a.rows * 3), expected));
  EXPECT_GT(rt.statistics().device_launches, 0u);
}

TEST_P(sparse_devices, find_known_eigenvalues) {
  runtime rt(GetParam().make());
  const csr_matrix a = generate("lap2d:16");
  const std::vector<double> known = known_lowest("lap2d:16", 4);
  const eigen_options o{.pairs = 4, .tolerance = 1e-9, .program = there(100)};
  expect_pairs(a, o, lobpcg(rt, a, o), known, 1e-9);
  expect_pairs(a, o, lanczos(rt, a, o), known, 1e-9);
  EXPECT_GT(rt.statistics().device_launches, 100u);
}

/// A matrix without entries in some panels.
TEST_P(sparse_devices, multiply_by_empty_rows) {
  const csr_matrix a = matrix_of("one entry", 300, 300, {{.row = 120, .column = 7, .value = 2}});
  runtime rt(GetParam().make());
  program p(rt, a, there(50));
  block_vector x = p.vector("x", 2), y = p.vector("y", 2);
  x.set(std::vector<double>(600, 3)), y.set(std::vector<double>(600, 5));
  mxm(a, x, y);
  std::vector<double> expected(600, 0);
  expected[240] = expected[241] = 6;
  EXPECT_EQ(y.values(), expected);
}

class sparse_out_of_core : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(all, sparse_out_of_core, ::testing::Values("next_use", "lru", "fifo"));

TEST_P(sparse_out_of_core, gives_the_same_in_a_memory_that_is_too_small) {
  const csr_matrix a = generate("lap2d:40");  // six vectors of 4 columns and the matrix: 410 kB
  eigen_options o{.pairs = 2, .tolerance = 0, .most_iterations = 8, .program = {.panel_rows = 50}};
  runtime host(testing::host_only());
  const eigenpairs expected = lobpcg(host, a, o);
  o.program.at = "sim0";
  runtime rt(device_machine{"sim", "160 KiB", GetParam()}.make());
  const eigenpairs found = lobpcg(rt, a, o);
  for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(found.values[k].value, expected.values[k].value, 1e-10);
  EXPECT_LT(found.orthogonality, 1e-12);
  const auto evictions = rt.statistics().coherence;
  EXPECT_GT(evictions.dropped, 0u);
  EXPECT_GT(evictions.written_back, 0u);
}

/// Parts of y that come to the device during its second pass, which needs what the first one has made: how many of them
/// follow a part that lies before them, and how many one that lies behind.
std::pair<int, int> order_of_second_pass(const char* eviction) {
  const csr_matrix a = generate("lap2d:40");
  machine m = device_machine{"sim", "40 KiB", eviction}.make();  // a vector of 4 columns: 50 KiB in 32 parts
  m.settings.trace = true;
  runtime rt(std::move(m));
  program p(rt, a, {.panel_rows = 50, .at = "sim0"});
  block_vector x = p.vector("x", 4), y = p.vector("y", 4), z = p.vector("z", 4);
  small_matrix g = p.small("g", 4, 4);
  x.set(std::vector<double>(static_cast<std::size_t>(a.rows * 4), 1));
  mxm(a, x, y), gram(y, y, g), combine(std::span(&y, 1), g, std::span(&z, 1));
  z.values();
  const trace::timeline seen = rt.timeline("order");
  std::pair<int, int> count;
  long before = -1;
  for (const trace::transfer& t : seen.transfers) {
    long row = 0;
    if (std::sscanf(seen.blocks[t.block].c_str(), "y(%ld", &row) != 1 || seen.spaces[t.to].name != "sim0:memory")
      continue;
    if (before >= 0) ++(row > before ? count.first : count.second);
    before = row;
  }
  return count;
}

TEST(sparse_pass_order, is_forwards_where_next_uses_are_known) {
  const auto [up, down] = order_of_second_pass("next_use");
  EXPECT_GT(up, 4 * down);
  EXPECT_GT(up, 4) << "the memory was large enough";
}

TEST(sparse_pass_order, turns_where_past_uses_decide) {
  for (const char* eviction : {"lru", "fifo"}) {
    const auto [up, down] = order_of_second_pass(eviction);
    EXPECT_GT(down, 4 * up) << eviction;
    EXPECT_GT(down, 4) << eviction;
  }
}

TEST(sparse_moved, is_little_where_the_memory_has_room) {
  const csr_matrix a = generate("lap2d:40");
  runtime rt(device_machine{"sim"}.make());
  const eigenpairs found =
      lobpcg(rt, a, {.pairs = 2, .tolerance = 0, .most_iterations = 15, .program = {.panel_rows = 200, .at = "sim0"}});
  ASSERT_EQ(found.loop.iterations, 15);
  const double vector = 8.0 * 4 * 1600;  // bytes
  double moved = 0;
  for (const link_bytes& link : found.loop.moved) moved += static_cast<double>(link.bytes);
  EXPECT_GT(moved, 0);
  EXPECT_LT(moved, 15 * vector) << "vectors stay on the device between iterations";
}

TEST(sparse_moved, is_nothing_on_the_host) {
  const csr_matrix a = generate("lap2d:10");
  runtime rt(testing::host_only());
  EXPECT_TRUE(lobpcg(rt, a, {.pairs = 2, .most_iterations = 3}).loop.moved.empty());
}

TEST(sparse_location, must_exist) {
  const csr_matrix a = generate("lap2d:10");
  runtime rt(testing::host_only());
  EXPECT_NE(message_of([&] { program(rt, a, {.at = "sim0"}); }, error_kind::usage).find("sim0"), std::string::npos);
}

}  // namespace
}  // namespace tessera::sparse
