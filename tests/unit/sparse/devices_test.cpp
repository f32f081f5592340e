// Programs on devices, and in memories that are too small for them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numeric>

#include "core/trace/timeline.hpp"
#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/solver/chebyshev.hpp"
#include "libraries/sparse/solver/lanczos.hpp"
#include "libraries/sparse/solver/lobpcg.hpp"
#include "libraries/sparse/solver/solvers.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/slow_down.hpp"
#include "tests/unit/sparse/dense_matrix.hpp"
#include "tests/unit/sparse/device_machine.hpp"
#include "tests/unit/sparse/every_operation.hpp"
#include "tests/unit/sparse/pairs.hpp"

namespace tessera::sparse {
namespace {

using test_support::message_of;

std::string name_of(const ::testing::TestParamInfo<device_machine>& info) { return info.param.plugin; }

class sparse_devices : public ::testing::TestWithParam<device_machine> {
 protected:
  program_options there(std::int64_t panel) const { return {.panel_rows = panel, .at = GetParam().location()}; }
};
/// Under a sanitizer one plugin of the GPU plugins' source is enough.
std::vector<device_machine> devices_to_test() {
  std::vector<device_machine> all{{"sim"}, {"cuda_emulated"}};
  if (!testing::is_slow) all.push_back({"hip_emulated"});
  return all;
}
INSTANTIATE_TEST_SUITE_P(all, sparse_devices, ::testing::ValuesIn(devices_to_test()), name_of);
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

TEST_P(sparse_devices, add_multiples_of_products) {
  // Each panel reads more of the others than a launch has parameters for.
  const csr_matrix a = some_matrix(640, 0.3, "A");
  const linear_operator d = linear_operator::diagonal(some_numbers(a.rows, 5)), sum = 0.5 * linear_operator(a) - 3 * d;
  const auto made_by = [&](runtime& rt, const program_options& how) {
    program p(rt, a, how);
    block_vector x = p.vector("X", 3), y = p.vector("Y", 3), z = p.vector("Z", 3);
    x.set(some_numbers(a.rows * 3, 1)), y.set(some_numbers(a.rows * 3, 2)), z.set(some_numbers(a.rows * 3, 3));
    apply(-2, a, x, 1, y);
    apply(1, a, y, -0.25, z);
    apply(sum, z, x);
    apply(0.5, sum.transposed(), x, 2, z);
    axpby(0.5, x, -1, y);
    axpby(3, z, 0, x);
    std::vector<double> all = x.values();
    for (const block_vector* more : {&y, &z}) {
      const std::vector<double> numbers_of_one = more->values();
      all.insert(all.end(), numbers_of_one.begin(), numbers_of_one.end());
    }
    return all;
  };
  runtime rt(GetParam().make()), host(testing::host_only(1));
  const std::vector<double> seen = made_by(rt, there(20)), expected = made_by(host, {.how = execution::at_once});
  double largest = 0;
  for (const double number : expected) largest = std::max(largest, std::abs(number));
  expect_near(seen, expected, 1e-12 * largest);
  EXPECT_GT(rt.statistics().device_launches, 30u);
}

TEST_P(sparse_devices, solve_linear_systems) {
  const csr_matrix a = generate("lap2d:16");
  const std::vector<double> b = some_numbers(a.rows * 2, 1), expected = dense_matrix(a).solve(b);
  runtime rt(GetParam().make());
  for (const auto solve : {conjugate_gradients, minres}) {
    const linear_solution found = solve(rt, shifted(a, -0.5) - 0.5 * linear_operator::identity(a.rows), b,
                                        {.stop = stop::relative_residual(1e-12) | stop::iterations(500),
                                         .preconditioner = linear_operator::block_jacobi(a),
                                         .program = there(50)});
    EXPECT_TRUE(found.converged()) << found.stopped.by;
    expect_near(found.x, expected, 1e-10);
  }
  EXPECT_GT(rt.statistics().device_launches, 100u);
}

TEST_P(sparse_devices, find_known_eigenvalues) {
  runtime rt(GetParam().make());
  const csr_matrix a = generate("lap2d:16");
  const std::vector<double> known = known_lowest("lap2d:16", 4);
  const eigen_options o{.pairs = 4, .tolerance = 1e-9, .program = there(100)};
  expect_pairs(a, o, lobpcg(rt, a, o), known, 1e-9);
  expect_pairs(a, o, lanczos(rt, a, o), known, 1e-9);
  expect_pairs(a, o, chebyshev(rt, a, o), known, 1e-9);
  EXPECT_GT(rt.statistics().device_launches, 100u);
}

TEST_P(sparse_devices, have_every_preconditioner) {
  runtime rt(GetParam().make());
  const csr_matrix a = generate("lap2d:16");
  const std::vector<double> known = known_lowest("lap2d:16", 3);
  for (const preconditioning how :
       {preconditioning::jacobi, preconditioning::block_jacobi, preconditioning::chebyshev}) {
    const eigen_options o{.pairs = 3, .block = 5, .tolerance = 1e-8, .precondition = how, .program = there(100)};
    expect_pairs(a, o, lobpcg(rt, a, o), known, 1e-8);
  }
}

/// A = B^1/2 L B^1/2 and B, with the eigenvalues of a Laplacian L.
struct weighted {
  csr_matrix a = generate("lap2d:16"), mass;
  weighted() {
    std::vector<triplet> entries;
    const auto root = [](std::int64_t i) { return 1 + 0.5 * static_cast<double>(i % 7); };
    for (std::int32_t i = 0; i < a.rows; ++i) {
      entries.push_back({i, i, root(i) * root(i)});
      for (auto k = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i)]);
           k < static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i) + 1]); ++k)
        a.values[k] *= root(i) * root(a.entry_columns[k]);
    }
    mass = matrix_of("mass", a.rows, a.rows, entries);
  }
};

TEST_P(sparse_devices, have_mass_matrices) {
  runtime rt(GetParam().make());
  const weighted by;
  const std::vector<double> known = known_lowest("lap2d:16", 3);
  const eigen_options o{.pairs = 3, .block = 6, .tolerance = 1e-9, .mass = &by.mass, .program = there(100)};
  for (const eigensolver& s : eigensolvers()) expect_pairs(by.a, o, s.solve(rt, by.a, o), known, 1e-7);
  // One that is not diagonal: 2 of the identity and a tenth of the Laplacian, which has the vectors of the Laplacian.
  const csr_matrix a = generate("lap2d:16");
  csr_matrix coupled = a;
  for (double& v : coupled.values) v *= 0.1;
  std::vector<double> ratios = known;
  for (double& v : ratios) v = v / (2 + 0.1 * v);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (auto k = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i) + 1]); ++k)
      if (coupled.entry_columns[k] == i) coupled.values[k] += 2;
  const eigen_options with_coupled{.pairs = 3, .tolerance = 1e-9, .mass = &coupled, .program = there(100)};
  expect_pairs(a, with_coupled, lobpcg(rt, a, with_coupled), ratios, 1e-8);
}

/// A matrix without entries in some panels.
TEST_P(sparse_devices, multiply_by_empty_rows) {
  const csr_matrix a = matrix_of("one entry", 300, 300, {{.row = 120, .column = 7, .value = 2}});
  runtime rt(GetParam().make());
  program p(rt, a, there(50));
  block_vector x = p.vector("x", 2), y = p.vector("y", 2);
  x.set(std::vector<double>(600, 3)), y.set(std::vector<double>(600, 5));
  apply(a, x, y);
  std::vector<double> expected(600, 0);
  expected[240] = expected[241] = 6;
  EXPECT_EQ(y.values(), expected);
}

class sparse_out_of_core : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(all, sparse_out_of_core, ::testing::Values("next_use", "lru", "fifo"));

TEST_P(sparse_out_of_core, gives_the_same_in_a_memory_that_is_too_small) {
  const csr_matrix a = generate("lap2d:40");  // six vectors of 4 columns and the matrix: 410 kB
  eigen_options o{.pairs = 2, .tolerance = 0, .max_iterations = 8, .program = {.panel_rows = 50}};
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

TEST(sparse_out_of_core_memory, may_hold_the_blocks_of_a_panel_and_not_its_workspace_too) {
  // Some panels fit with all that they need, of others only the blocks do, of others not even these.
  const csr_matrix a = generate("lap3d:20");
  eigen_options o{.pairs = 4, .tolerance = 0, .max_iterations = 3};
  runtime host(testing::host_only());
  const eigenpairs expected = lobpcg(host, a, o);
  o.program.at = "sim0";
  for (const char* memory : {"128 KiB", "256 KiB", "290 KiB", "350 KiB"}) {
    SCOPED_TRACE(memory);
    runtime rt(device_machine{"sim", memory}.make());
    const eigenpairs found = lobpcg(rt, a, o);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(found.values[k].value, expected.values[k].value, 1e-10);
  }
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
  apply(a, x, y), gram(y, y, g), combine(std::span(&y, 1), g, std::span(&z, 1));
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

/// What a few iterations make in a memory that is too small for matrix and vectors is what they make on the host.
void expect_the_same_out_of_core(const eigensolver& by, const csr_matrix& a, eigen_options o, std::int64_t panel) {
  SCOPED_TRACE(std::string(by.name) + ", " + a.name);
  o.tolerance = 0, o.max_iterations = 3, o.program.panel_rows = panel;
  runtime host(testing::host_only());
  const eigenpairs expected = by.solve(host, a, o);
  runtime rt(device_machine{"sim", "96 KiB"}.make());
  o.program.at = "sim0";
  const eigenpairs found = by.solve(rt, a, o);
  EXPECT_FALSE(found.dense);
  ASSERT_EQ(found.values.size(), expected.values.size());
  for (std::size_t k = 0; k < found.values.size(); ++k)
    EXPECT_NEAR(found.values[k].value, expected.values[k].value, 1e-10 * expected.norm) << k;
  EXPECT_LT(found.orthogonality, 1e-10);
  EXPECT_GT(rt.statistics().coherence.written_back, 0u);
}

class sparse_solvers_out_of_core : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(all, sparse_solvers_out_of_core, ::testing::Values("lobpcg", "lanczos", "chebyshev"));

TEST_P(sparse_solvers_out_of_core, do_what_they_do_on_the_host) {
  expect_the_same_out_of_core(eigensolver_named(GetParam()), generate("lap2d:30"), {.pairs = 2, .block = 4}, 60);
}

TEST_P(sparse_solvers_out_of_core, have_mass_matrices) {
  const weighted by;
  expect_the_same_out_of_core(eigensolver_named(GetParam()), by.a, {.pairs = 2, .block = 6, .mass = &by.mass}, 60);
}

TEST(sparse_preconditioners_out_of_core, do_what_they_do_on_the_host) {
  const csr_matrix a = generate("lap2d:30");
  for (const preconditioning how : {preconditioning::block_jacobi, preconditioning::chebyshev})
    expect_the_same_out_of_core(eigensolver_named("lobpcg"), a, {.pairs = 2, .block = 4, .precondition = how}, 90);
}

TEST(sparse_moved, is_little_where_the_memory_has_room) {
  const csr_matrix a = generate("lap2d:40");
  runtime rt(device_machine{"sim"}.make());
  const eigenpairs found =
      lobpcg(rt, a, {.pairs = 2, .tolerance = 0, .max_iterations = 15, .program = {.panel_rows = 200, .at = "sim0"}});
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
  EXPECT_TRUE(lobpcg(rt, a, {.pairs = 2, .max_iterations = 3}).loop.moved.empty());
}

TEST(sparse_location, must_exist) {
  const csr_matrix a = generate("lap2d:10");
  runtime rt(testing::host_only());
  EXPECT_NE(message_of([&] { program(rt, a, {.at = "sim0"}); }, error_kind::usage).find("sim0"), std::string::npos);
}

}  // namespace
}  // namespace tessera::sparse
