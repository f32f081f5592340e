// Lanczos on matrices with known spectra: both ends, multiplicities, invariant subspaces.
#include "libraries/sparse/solver/lanczos.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "libraries/sparse/matrix/generate.hpp"
#include "tests/support/error_of.hpp"
#include "tests/unit/sparse/pairs.hpp"

namespace tessera::sparse {
namespace {

using test_support::message_of;

using sparse_lanczos = solver_test<lanczos>;

TEST_F(sparse_lanczos, finds_the_whole_levels_of_a_chain_with_a_block) {
  // Levels of hs:12 have up to a dozen equal eigenvalues; a block of 12 sees them.
  expect(generate("hs:12"), {.pairs = 20, .block = 12, .tolerance = 1e-9}, known_lowest("hs:12", 20), 1e-9);
}

TEST_F(sparse_lanczos, finds_the_spectrum_of_a_laplacian) {
  expect(generate("lap2d:30"), {.pairs = 7, .tolerance = 1e-9}, known_lowest("lap2d:30", 7), 1e-9);
  std::vector<double> top = known_lowest("lap2d:30", 5);
  for (double& v : top) v = 8 - v;
  expect(generate("lap2d:30"), {.pairs = 5, .which = spectrum_end::largest, .tolerance = 1e-9}, top, 1e-8);
}

/// A restart with one step alone would be an iteration of a subspace: some hundred of them.
TEST_F(sparse_lanczos, goes_several_steps_between_restarts_also_with_wide_blocks) {
  const std::vector<double> known = known_lowest("lap2d:30", 6);
  for (const std::int64_t block : {8, 16, 32})
    expect(generate("lap2d:30"), {.pairs = 6, .block = block, .tolerance = 1e-8, .max_iterations = 80}, known, 1e-8);
}

TEST_F(sparse_lanczos, finds_both_ends) {
  // Of the ring: the ground state by the known sum; the fully polarized state has L / 4.
  const eigenpairs found =
      expect(generate("xxz:12"), {.pairs = 4, .which = spectrum_end::both}, {known_lowest("xxz:12", 1)[0]}, 1e-9);
  EXPECT_NEAR(found.values[2].value, 3, 1e-9);
  EXPECT_LT(found.values[0].value, found.values[1].value);
  EXPECT_GT(found.values[2].value, found.values[3].value);
  const std::vector<double> low = known_lowest("lap2d:25", 3);
  expect(generate("lap2d:25"), {.pairs = 5, .which = spectrum_end::both, .tolerance = 1e-9},
         {low[0], low[1], low[2], 8 - low[0], 8 - low[1]}, 1e-8);
}

TEST_F(sparse_lanczos, is_right_in_invariant_subspaces) {
  for (const std::int64_t block : {1, 3}) {
    expect(matrix_of("zero", 200, 200, {}), {.pairs = 3, .block = block}, {0, 0, 0}, 0);
    expect(diagonal(200, [](std::int32_t) { return 1.0; }), {.pairs = 5, .block = block}, {1, 1, 1, 1, 1}, 1e-13);
    // Two levels: the space is invariant after two blocks.
    expect(diagonal(200, [](std::int32_t i) { return i < 2 ? -1.0 : 1.0; }), {.pairs = 3, .block = block}, {-1, -1, 1},
           1e-13);
  }
  expect(diagonal(200, [](std::int32_t i) { return 1.0 + static_cast<double>(i / 5); }), {.pairs = 7, .block = 6},
         {1, 1, 1, 1, 1, 2, 2}, 1e-9);
}

/// The second difference with elements of its own at the end of the diagonal.
csr_matrix lattice_with(std::int32_t n, const std::vector<double>& last) {
  std::vector<triplet> entries;
  const auto plain = n - static_cast<std::int32_t>(last.size());
  for (std::int32_t i = 0; i < n; ++i) {
    entries.push_back({i, i, i < plain ? 2 : last[static_cast<std::size_t>(i - plain)]});
    if (i > 0) entries.insert(entries.end(), {{i, i - 1, -1}, {i - 1, i, -1}});
  }
  return matrix_of("lattice with far values", n, n, entries);
}

TEST_F(sparse_lanczos, is_not_hindered_by_far_eigenvalues) {
  // They are in every product; what those have beside them is 1e-8 of it. The others are nearly those of the lattice
  // without the last rows, and no product is more exact than 1e-6.
  const auto lattice = [](std::int32_t n, std::int32_t k) {
    return 4 * std::pow(std::sin(k * 3.14159265358979 / (2 * (n + 1))), 2);
  };
  for (const std::int64_t block : {2, 4}) {
    const eigen_options low{.pairs = 3, .block = block, .max_iterations = 100};
    expect(lattice_with(200, {1e8}), low, {lattice(199, 1), lattice(199, 2), lattice(199, 3)}, 1e-6);
    expect(lattice_with(200, {1e8, -1e7, 1e4}), {.pairs = 3, .block = block, .max_iterations = 100},
           {-1e7, lattice(197, 1), lattice(197, 2)}, 1e-4);
    expect(lattice_with(200, {-1e8}), {.pairs = 4, .block = block, .which = spectrum_end::both, .max_iterations = 200},
           {-1e8, lattice(199, 1), lattice(199, 199), lattice(199, 198)}, 1e-6);
  }
  // A selective basis loses them again and again, and no residuals become small.
  expect(lattice_with(200, {1e7, 1e5, 1e3}),
         {.pairs = 3, .max_iterations = 150, .orthogonal = reorthogonalization::selective},
         {lattice(197, 1), lattice(197, 2), lattice(197, 3)}, 1e-3);
}

TEST_F(sparse_lanczos, may_have_a_single_vector) {
  const std::vector<double> known = known_lowest("lap2d:20", 4);
  const eigenpairs found = lanczos(rt, generate("lap2d:20"), {.pairs = 2, .block = 1});
  expect_pairs(generate("lap2d:20"), {.pairs = 2}, found, {known[0], known[1]}, 1e-9);
}

/// A third vector of -1 is not seen by a block of two. The search for others finds it.
TEST_F(sparse_lanczos, looks_for_more_copies_than_the_block_has_vectors) {
  const csr_matrix a = diagonal(200, [](std::int32_t i) { return i < 3 ? -1.0 : 1.0 + 0.1 * i; });
  for (const std::int64_t block : {1, 2, 4}) {
    const eigen_options o{.pairs = 4, .block = block, .tolerance = 1e-6};
    for (const eigenvalue& e : expect(a, o, {-1, -1, -1, 1.3}, 1e-5).values) EXPECT_FALSE(e.clustered || e.unsettled);
  }
  const csr_matrix two_levels = diagonal(200, [](std::int32_t i) { return i % 2 == 0 ? -1.0 : 1.0; });
  expect(two_levels, {.pairs = 4, .block = 1}, {-1, -1, -1, -1}, 1e-10);
}

TEST_F(sparse_lanczos, says_what_did_not_converge) {
  const eigenpairs found = lanczos(rt, generate("lap2d:40"), {.pairs = 6, .max_iterations = 2});
  EXPECT_FALSE(found.converged());
  EXPECT_EQ(found.loop.iterations, 2);
  expect_residuals(generate("lap2d:40"), found);
}

TEST_F(sparse_lanczos, gives_the_same_bits_for_any_workers_and_what_the_reference_gives) {
  const csr_matrix a = generate("lap3d:9");
  eigen_options o{.pairs = 4, .tolerance = 0, .max_iterations = 2, .program = {.panel_rows = 100}};
  const eigenpairs two = lanczos(rt, a, o);
  runtime single(testing::host_only(1));
  EXPECT_EQ(lanczos(single, a, o).vectors, two.vectors);
  o.program.how = execution::at_once;
  const eigenpairs reference = lanczos(rt, a, o);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(two.values[k].value, reference.values[k].value, 1e-10) << k;
}

TEST_F(sparse_lanczos, solves_small_matrices_as_dense_ones) {
  const eigenpairs found =
      expect(generate("lap2d:5"), {.pairs = 3, .which = spectrum_end::both}, known_lowest("lap2d:5", 2), 1e-12);
  EXPECT_TRUE(found.dense);
  EXPECT_NEAR(found.values[2].value, 8 - known_lowest("lap2d:5", 1)[0], 1e-12);
}

TEST_F(sparse_lanczos, says_what_it_cannot_do) {
  const csr_matrix a = generate("lap2d:5");
  EXPECT_NE(message_of([&] { lanczos(rt, a, {.pairs = 26}); }, error_kind::usage).find("26 pairs of a matrix of 25"),
            std::string::npos);
  EXPECT_NE(
      message_of([&] { lanczos(rt, a, {.pairs = 2, .precondition = preconditioning::jacobi}); }, error_kind::usage)
          .find("takes no preconditioner"),
      std::string::npos);
}

}  // namespace
}  // namespace tessera::sparse
