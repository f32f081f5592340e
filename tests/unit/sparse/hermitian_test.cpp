// Complex Hermitian matrices by their real form: lattices in a magnetic field, whose spectra are known.
#include "libraries/sparse/solver/hermitian.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "libraries/matrix_market/read.hpp"
#include "libraries/sparse/solver/solvers.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/slow_down.hpp"
#include "tests/unit/plugin/folder.hpp"
#include "tests/unit/sparse/device_machine.hpp"
#include "tests/unit/sparse/pairs.hpp"

namespace tessera::sparse {
namespace {

using test_support::message_of;

/// Hopping on a torus of side x side points with a flux through both of its holes: -exp(i flux / side) to the next
/// point.
csr_matrix torus(std::int32_t side, double flux) {
  std::vector<complex_triplet> entries;
  const std::complex<double> hop = -std::polar(1.0, flux / side);
  for (std::int32_t x = 0; x < side; ++x)
    for (std::int32_t y = 0; y < side; ++y) {
      const std::int32_t here = x * side + y;
      for (const std::int32_t there : {(x + 1) % side * side + y, x * side + (y + 1) % side}) {
        entries.push_back({there, here, hop});
        entries.push_back({here, there, std::conj(hop)});
      }
    }
  return real_form("torus", std::int64_t{side} * side, entries);
}

/// Its eigenvalues, ascending: -2 cos((2 pi k + flux) / side) in each direction.
std::vector<double> levels(std::int32_t side, double flux) {
  const auto line = [&](int k) { return -2 * std::cos((2 * std::numbers::pi * k + flux) / side); };
  std::vector<double> all;
  for (int k = 0; k < side; ++k)
    for (int l = 0; l < side; ++l) all.push_back(line(k) + line(l));
  std::ranges::sort(all);
  return all;
}

struct hermitian_setting {
  const char* solver;
  device_machine on;
};
void PrintTo(const hermitian_setting& s, std::ostream* out) { *out << s.solver << " on " << s.on.plugin; }
std::string name_of_setting(const ::testing::TestParamInfo<hermitian_setting>& info) {
  return std::string(info.param.solver) + "_on_" + info.param.on.plugin;
}

class hermitian_matrices : public ::testing::TestWithParam<hermitian_setting> {
 protected:
  eigenpairs solve(const csr_matrix& a, eigen_options o) {
    o.program.at = GetParam().on.location();
    return hermitian_pairs(rt, eigensolver_named(GetParam().solver).solve, a, o);
  }
  /// Residuals are those of the complex problem; X^H X = 1 with complex products.
  void expect(const csr_matrix& a, const eigen_options& o, const eigenpairs& found, const std::vector<double>& values) {
    expect_pairs(a, o, found, values, 1e-8);
    const auto n = static_cast<std::size_t>(a.rows / 2), pairs = found.values.size();
    for (std::size_t p = 0; p < pairs; ++p)
      for (std::size_t q = 0; q < pairs; ++q) {
        std::complex<double> sum = 0;
        const auto element = [&](std::size_t i, std::size_t j) {
          return std::complex<double>(found.vectors[2 * i * pairs + j], found.vectors[(2 * i + 1) * pairs + j]);
        };
        for (std::size_t i = 0; i < n; ++i) sum += std::conj(element(i, p)) * element(i, q);
        EXPECT_LT(std::abs(sum - static_cast<double>(p == q)), 1e-10) << p << ", " << q;
      }
  }
  runtime rt{GetParam().on.make()};
};
std::vector<hermitian_setting> each_solver_on(const device_machine& on) {
  return {{"lobpcg", on}, {"lanczos", on}, {"chebyshev", on}};
}
INSTANTIATE_TEST_SUITE_P(all, hermitian_matrices, ::testing::ValuesIn(each_solver_on({"host"})), name_of_setting);
/// Under a sanitizer one solver: kernels of an emulated device are slow there, and the same for all of them.
std::vector<hermitian_setting> emulated_settings() {
  auto all = each_solver_on({"cuda_emulated"});
  if (testing::is_slow) all.resize(1);
  return all;
}
INSTANTIATE_TEST_SUITE_P(emulated, hermitian_matrices, ::testing::ValuesIn(emulated_settings()), name_of_setting);

TEST_P(hermitian_matrices, have_the_known_levels_of_a_torus_with_flux) {
  const csr_matrix a = torus(14, 0.9);
  const std::vector<double> known = levels(14, 0.9);
  // Levels of one and two; the second is cut by four pairs.
  eigen_progress last{};
  const eigen_options o{
      .pairs = 4, .block = 8, .tolerance = 1e-9, .report = [&](const eigen_progress& now) { last = now; }};
  const eigenpairs low = solve(a, o);
  EXPECT_EQ(last.pairs, 4);
  EXPECT_EQ(last.converged, 4);
  ASSERT_EQ(last.of_pairs.size(), 4u) << "complex pairs, not their doubles";
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(last.of_pairs[k].value, known[k], 1e-6);
  EXPECT_FALSE(low.dense);
  expect(a, o, low, {known[0], known[1], known[2], known[3]});
  const eigen_options top{.pairs = 3, .block = 8, .which = spectrum_end::largest, .tolerance = 1e-9};
  expect(a, top, solve(a, top), {known.rbegin()[0], known.rbegin()[1], known.rbegin()[2]});
}

TEST_P(hermitian_matrices, that_are_real_have_the_levels_of_a_real_matrix) {
  // No flux: levels of one, four, four, ...
  const csr_matrix a = torus(10, 0);
  const std::vector<double> known = levels(10, 0);
  const eigen_options o{.pairs = 3, .block = 6, .tolerance = 1e-9};
  expect(a, o, solve(a, o), {known[0], known[1], known[2]});
}

TEST_P(hermitian_matrices, that_are_small_are_solved_as_dense_ones) {
  const csr_matrix a = torus(3, 0.4);
  const std::vector<double> known = levels(3, 0.4);
  const eigen_options all{.pairs = 9};
  const eigenpairs found = solve(a, all);
  EXPECT_TRUE(found.dense);
  expect(a, all, found, known);
}

TEST_P(hermitian_matrices, take_guesses_and_deflated_vectors) {
  const csr_matrix a = torus(14, 0.9);
  const std::vector<double> known = levels(14, 0.9);
  eigen_options o{.pairs = 3, .block = 6, .tolerance = 1e-8};
  const eigenpairs first = solve(a, o);
  o.guess = first.vectors;
  EXPECT_LE(solve(a, o).loop.iterations, first.loop.iterations);
  o.guess = {};
  o.deflate = first.vectors;
  expect(a, o, solve(a, o), {known[3], known[4], known[5]});
}

TEST_P(hermitian_matrices, refuse_what_they_cannot_have) {
  const csr_matrix a = torus(5, 0.4);
  EXPECT_NE(
      message_of([&] { solve(a, {.mass = &a}); }, error_kind::usage).find("a complex matrix takes no mass matrix"),
      std::string::npos);
  EXPECT_NE(
      message_of([&] { solve(a, {.pairs = 26}); }, error_kind::usage).find("26 pairs of a complex matrix of 25 rows"),
      std::string::npos);
  EXPECT_NE(message_of([&] { solve(diagonal(7, [](std::int32_t) { return 1.0; }), {}); }, error_kind::usage)
                .find("7 rows are no real form"),
            std::string::npos);
}

TEST(hermitian_out_of_core, has_the_same_values_as_on_the_host) {
  const csr_matrix a = torus(14, 0.9);
  for (const eigensolver& s : eigensolvers()) {
    eigen_options o{.pairs = 2, .block = 4, .tolerance = 0, .max_iterations = 3, .program = {.panel_rows = 60}};
    runtime host(testing::host_only());
    const eigenpairs expected = hermitian_pairs(host, s.solve, a, o);
    runtime rt(device_machine{"sim", "128 KiB"}.make());
    o.program.at = "sim0";
    const eigenpairs found = hermitian_pairs(rt, s.solve, a, o);
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_NEAR(found.values[k].value, expected.values[k].value, 1e-9) << s.name << ", " << k;
    EXPECT_GT(rt.statistics().coherence.written_back, 0u) << s.name;
  }
}

TEST(hermitian_clusters, are_marked) {
  runtime rt(testing::host_only());
  std::vector<complex_triplet> entries;
  for (std::int32_t i = 0; i < 90; ++i) entries.push_back({i, i, i < 30 ? -1 + 1e-6 * i : 1.0 + i});
  eigen_options o{.pairs = 3, .tolerance = 1e-5, .compare = criterion::absolute};
  const csr_matrix a = real_form("cluster", 90, entries);
  const auto marked = [&] {
    const eigenpairs found = hermitian_pairs(rt, eigensolver_named("lobpcg").solve, a, o);
    EXPECT_FALSE(found.dense);
    return std::ranges::count_if(found.values, &eigenvalue::clustered);
  };
  EXPECT_EQ(marked(), 3);
  o.which = spectrum_end::largest;
  EXPECT_EQ(marked(), 0);
}

TEST(hermitian_both_ends, have_each_their_pairs) {
  runtime rt(testing::host_only());
  const csr_matrix a = torus(11, 0.7);
  const std::vector<double> known = levels(11, 0.7);
  const eigen_options o{.pairs = 3, .block = 6, .which = spectrum_end::both, .tolerance = 1e-9};
  for (const char* name : {"lanczos", "chebyshev"})
    expect_pairs(a, o, hermitian_pairs(rt, eigensolver_named(name).solve, a, o), {known[0], known[1], known.back()},
                 1e-8);
}

TEST(hermitian_both_ends, have_an_odd_number_of_pairs_that_are_all_that_is_left) {
  runtime rt(testing::host_only());
  const csr_matrix a = torus(3, 0.4);
  const std::vector<double> known = levels(3, 0.4);
  for (const char* name : {"lanczos", "chebyshev"}) {
    const auto solve = eigensolver_named(name).solve;
    eigen_options o;
    o.deflate = hermitian_pairs(rt, solve, a, {.pairs = 2}).vectors;
    o.pairs = 7, o.block = 7, o.which = spectrum_end::both;
    expect_pairs(a, o, hermitian_pairs(rt, solve, a, o),
                 {known[2], known[3], known[4], known[5], known[8], known[7], known[6]}, 1e-8);
    o.pairs = 8, o.block = 0;
    EXPECT_NE(message_of([&] { hermitian_pairs(rt, solve, a, o); }, error_kind::usage).find("8 pairs, and 7 are left"),
              std::string::npos);
  }
}

csr_matrix read_hermitian_file(const std::filesystem::path& file, std::optional<std::int64_t> memory = {}) {
  matrix_market::open_file from(file);
  return read_hermitian(from, memory);
}

TEST(hermitian_files, are_read_and_refused_by_line) {
  const plugin_test::folder folder;
  const std::string first = "%%MatrixMarket matrix coordinate complex hermitian\n";
  const csr_matrix a = read_hermitian_file(folder.write("a.mtx", first + "2 2 3\n1 1 2 0\n2 1 1 -3\n2 1 0 1\n"));
  EXPECT_EQ(a.rows, 4);
  EXPECT_EQ(a.values, (std::vector<double>{2, 1, -2, 2, 2, 1, 1, 2, -2, 1}));
  const auto refused = [&](const std::string& text) {
    return message_of([&] { (void)read_hermitian_file(folder.write("b.mtx", text)); }, error_kind::input);
  };
  EXPECT_NE(refused(first + "2 2 1\n1 1 2 1\n").find("the diagonal has the imaginary part 1"), std::string::npos);
  EXPECT_NE(refused("%%MatrixMarket matrix array complex hermitian\n2 2\n1 0\n2 3\n4 5\n").find("b.mtx:5"),
            std::string::npos);
  EXPECT_NE(refused(first + "2 2 1\n2 1 2\n").find("the value is missing"), std::string::npos);
  EXPECT_NE(refused(first + "2 2 1\n2 1 2 nan\n").find("not finite"), std::string::npos);
  EXPECT_NE(refused(first + "2 2 1\n1 2 2 1\n").find("above the diagonal"), std::string::npos);
  EXPECT_NE(refused(first + "2 3 1\n2 1 2 1\n").find("2 x 3"), std::string::npos);
  EXPECT_NE(refused("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 0\n").find("not hermitian"),
            std::string::npos);
  EXPECT_NE(refused("%%MatrixMarket matrix coordinate complex symmetric\n1 1 1\n1 1 2 0\n").find("'symmetric'"),
            std::string::npos);
  EXPECT_NE(refused("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n").find("not hermitian"),
            std::string::npos);
}

TEST(hermitian_files, are_refused_where_their_real_form_has_no_room) {
  const plugin_test::folder folder;
  const auto file =
      folder.write("long.mtx", "%%MatrixMarket matrix coordinate complex hermitian\n900000000 900000000 1\n2 1 1 0\n");
  const std::string said =
      message_of([&] { (void)read_hermitian_file(file, std::int64_t{1} << 30); }, error_kind::memory);
  EXPECT_NE(said.find("a matrix of 900000000 rows and 1 entries takes 26.8 GiB while it is read, and there are 1 GiB"),
            std::string::npos)
      << said;
}

}  // namespace
}  // namespace tessera::sparse
