// Eigenproblems and DIIS against what they mean: products of plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/support/error_of.hpp"
#include "tests/support/sial_call.hpp"

namespace tessera::sial {
namespace {

using test_support::block;
using test_support::call_site;
using testing::HasSubstr;

using matrix = std::vector<double>;  // column major

matrix product(const matrix& a, const matrix& b, std::size_t n) {
  matrix c(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k) c[i + j * n] += a[i + k * n] * b[k + j * n];
  return c;
}

matrix transposed(const matrix& a, std::size_t n) {
  matrix t(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) t[j + i * n] = a[i + j * n];
  return t;
}

double distance(const matrix& a, const matrix& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

matrix unit(std::size_t n) {
  matrix one(n * n, 0.0);
  for (std::size_t k = 0; k < n; ++k) one[k * (n + 1)] = 1;
  return one;
}

struct sial_linear_algebra : testing::Test {
  call_site call;
  std::mt19937_64 random{std::random_device{}()};
  double number() { return std::uniform_real_distribution<>(-1, 1)(random); }
  matrix random_matrix(std::size_t n) {
    matrix a(n * n);
    for (double& x : a) x = number();
    return a;
  }
  matrix random_symmetric(std::size_t n) {
    matrix a = random_matrix(n);
    const matrix t = transposed(a, n);
    for (std::size_t k = 0; k < a.size(); ++k) a[k] += t[k];
    return a;
  }
  static block square(const char* name, std::size_t n, matrix values = {}) {
    return {name, {static_cast<std::int64_t>(n), static_cast<std::int64_t>(n)}, std::move(values)};
  }
  std::string complaint(const std::string& name, const std::string& signature,
                        std::initializer_list<block*> arguments) {
    return test_support::message_of([&] { call(name, signature, arguments); }, error_kind::task);
  }
};

void expect_signs(const matrix& v, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i)
      if (std::abs(v[i + j * n]) > 1e-5) {
        EXPECT_GT(v[i + j * n], 0);
        break;
      }
}

TEST_F(sial_linear_algebra, symmetric_eigenproblem) {
  for (const std::size_t n : {1u, 2u, 3u, 7u, 20u}) {
    const matrix a = random_symmetric(n);
    block A = square("a", n, a), V = square("v", n);
    for (std::size_t j = 1; j < n; ++j) A.values[0 + j * n] = 77;  // the upper triangle does not count
    call("eigen_calc", "uu", {&A, &V});
    EXPECT_LT(distance(product(a, V.values, n), product(V.values, A.values, n)), 1e-12 * static_cast<double>(n));
    EXPECT_LT(distance(product(transposed(V.values, n), V.values, n), unit(n)), 1e-13 * static_cast<double>(n));
    for (std::size_t k = 1; k < n; ++k) EXPECT_LE(A.values[(k - 1) * (n + 1)], A.values[k * (n + 1)]);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) ASSERT_TRUE(i == j || A.values[i + j * n] == 0.0);
    expect_signs(V.values, n);
  }
}

TEST_F(sial_linear_algebra, inverse_roots) {
  const std::size_t n = 6;
  matrix s = random_matrix(n);
  s = product(s, transposed(s, n), n);
  for (std::size_t k = 0; k < n; ++k) s[k * (n + 1)] += 1;
  block A = square("s", n, s), V = square("v", n), dropped = block::scalar("n", -1);
  call("eigen_calc_sqr_inv", "uuu", {&A, &V, &dropped});
  EXPECT_EQ(dropped.values[0], 0);
  const matrix x = product(product(V.values, A.values, n), transposed(V.values, n), n);  // s^-1/2
  EXPECT_LT(distance(product(product(x, s, n), x, n), unit(n)), 1e-12);
  expect_signs(V.values, n);
}

TEST_F(sial_linear_algebra, dependent_vectors_are_dropped_and_go_last) {
  // s = q diag(4, 1e-12, 9, 1e-10, 1) q^T with a rotation q of one's own making.
  const std::size_t n = 5;
  matrix q = unit(n);
  for (std::size_t k = 0; k + 1 < n; ++k) {
    matrix r = unit(n);
    const double angle = 0.3 + static_cast<double>(k);
    r[k * (n + 1)] = r[(k + 1) * (n + 1)] = std::cos(angle);
    r[k + (k + 1) * n] = -std::sin(angle);
    r[k + 1 + k * n] = std::sin(angle);
    q = product(q, r, n);
  }
  matrix d(n * n, 0.0);
  const double values[] = {4, 1e-12, 9, 1e-10, 1};
  for (std::size_t k = 0; k < n; ++k) d[k * (n + 1)] = values[k];
  const matrix s = product(product(q, d, n), transposed(q, n), n);
  block A = square("s", n, s), V = square("v", n), dropped = block::scalar("n", -1);
  call("eigen_calc_sqr_inv", "uuu", {&A, &V, &dropped});
  EXPECT_EQ(dropped.values[0], 2);
  EXPECT_EQ(A.values[3 * (n + 1)], 0.0);
  EXPECT_EQ(A.values[4 * (n + 1)], 0.0);
  std::vector<double> kept{A.values[0], A.values[n + 1], A.values[2 * (n + 1)]};
  std::ranges::sort(kept);
  EXPECT_NEAR(kept[0], 1.0 / 3, 1e-13);
  EXPECT_NEAR(kept[1], 0.5, 1e-13);
  EXPECT_NEAR(kept[2], 1.0, 1e-12);
  for (std::size_t k = 0; k < 3; ++k) {  // the vectors went along
    double image = 0;
    for (std::size_t j = 0; j < n; ++j) image += s[0 + j * n] * V.values[j + k * n];
    EXPECT_NEAR(image, V.values[k * n] / (A.values[k * (n + 1)] * A.values[k * (n + 1)]), 1e-12);
  }

  call.data.ints["lindep_tol"] = 11;  // now 1e-10 stays
  A.values = s;
  call("eigen_calc_sqr_inv", "uuu", {&A, &V, &dropped});
  EXPECT_EQ(dropped.values[0], 1);
}

TEST_F(sial_linear_algebra, general_eigenproblem) {
  for (const std::size_t n : {1u, 4u, 9u}) {
    // A triangular matrix has its eigenvalues on the diagonal; one of them is 0.
    matrix a(n * n, 0.0);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < j; ++i) a[i + j * n] = number();
      a[j * (n + 1)] = j == 1 ? 0.0 : static_cast<double>((j * 5) % n) - 2.5;
    }
    block A = square("a", n, a), l = square("l", n), r = square("r", n), e("e", {static_cast<std::int64_t>(n)});
    call("gen_eigen_calc", "uuuu", {&A, &l, &r, &e});
    for (std::size_t k = 0; k < n; ++k) {
      double length_r = 0, length_l = 0;
      for (std::size_t i = 0; i < n; ++i) {
        double right = 0, left = 0;
        for (std::size_t j = 0; j < n; ++j) {
          right += a[i + j * n] * r.values[j + k * n];
          left += a[j + i * n] * l.values[j + k * n];
        }
        EXPECT_NEAR(right, e.values[k] * r.values[i + k * n], 1e-12);
        EXPECT_NEAR(left, e.values[k] * l.values[i + k * n], 1e-12);
        length_r += r.values[i + k * n] * r.values[i + k * n];
        length_l += l.values[i + k * n] * l.values[i + k * n];
      }
      EXPECT_NEAR(length_r, 1, 1e-13);
      EXPECT_NEAR(length_l, 1, 1e-13);
      EXPECT_TRUE(k + 2 >= n || e.values[k] <= e.values[k + 1]);
    }
    EXPECT_TRUE(n == 1 || e.values[n - 1] == 0.0);
    EXPECT_EQ(call.host.printed, "");
  }
}

TEST_F(sial_linear_algebra, imaginary_parts_are_warned_about) {
  block A = square("a", 2, {0, 1, -1, 0}), l = square("l", 2), r = square("r", 2), e("e", {2});
  call("gen_eigen_calc", "uuuu", {&A, &l, &r, &e});
  EXPECT_THAT(call.host.printed, HasSubstr("warning: eigenvalue 0"));
  EXPECT_THAT(call.host.printed, HasSubstr("1.000e+00"));
}

TEST_F(sial_linear_algebra, diis_minimizes_the_error) {
  // The coefficients add up to 1 and make the gradient of |sum c_k e_k|^2 the same in every direction.
  const std::size_t n = 5, m = 3, length = 8;
  std::vector<std::vector<double>> errors(m, std::vector<double>(length));
  for (auto& error : errors)
    for (double& x : error) x = number();
  block B = square("b", n);
  matrix overlap(m * m);
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < m; ++j) {
      for (std::size_t k = 0; k < length; ++k) overlap[i + j * m] += errors[i][k] * errors[j][k];
      if (i <= j) B.values[i + j * n] = overlap[i + j * m];
    }
  B.values[1] = 55;  // below the diagonal: does not count, stays
  const matrix before = B.values;
  call("compute_diis", "u", {&B});
  double sum = 0, gradient[3] = {};
  for (std::size_t i = 0; i < m; ++i) {
    sum += B.values[i * (n + 1)];
    for (std::size_t j = 0; j < m; ++j) gradient[i] += overlap[i + j * m] * B.values[j * (n + 1)];
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_NEAR(gradient[0], gradient[1], 1e-11);
  EXPECT_NEAR(gradient[0], gradient[2], 1e-11);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) EXPECT_TRUE(i == j || B.values[i + j * n] == before[i + j * n]);
  EXPECT_EQ(B.values[3 * (n + 1)], 0.0);
  EXPECT_EQ(B.values[4 * (n + 1)], 0.0);
}

TEST_F(sial_linear_algebra, one_error_has_the_coefficient_1) {
  block B = square("b", 3);
  B.values[0] = 0.04;
  call("compute_diis", "u", {&B});
  EXPECT_DOUBLE_EQ(B.values[0], 1.0);
  EXPECT_EQ(B.values[4], 0.0);
}

TEST_F(sial_linear_algebra, what_is_refused) {
  block wide("w", {2, 3}), two = square("a", 2, {1, 0, 0, 1}), three = square("b", 3), e("e", {3}),
                           s = block::scalar("s", 0);
  EXPECT_THAT(complaint("eigen_calc", "uu", {&wide, &two}),
              HasSubstr("w[1,1] is 2 x 3, and a square matrix is expected"));
  EXPECT_THAT(complaint("eigen_calc", "uu", {&two, &three}), HasSubstr("b[1,1] is 3 x 3, and 2 x 2 is expected"));
  EXPECT_THAT(complaint("eigen_calc", "uu", {&s, &three}), HasSubstr("s is a scalar, and a square matrix"));
  block l = square("l", 2), r = square("r", 2);
  EXPECT_THAT(complaint("gen_eigen_calc", "uuuu", {&two, &l, &r, &e}),
              HasSubstr("e[1] has 3 elements, and 2 are expected"));
  two.values = {1, std::nan(""), 0, 1};
  EXPECT_THAT(complaint("eigen_calc", "uu", {&two, &l}), HasSubstr("has an element that is no number"));
  EXPECT_THAT(complaint("compute_diis", "u", {&three}),
              HasSubstr("the equations of DIIS are singular: b[1,1] has 0 rows"));
  block dependent = square("d", 2, {1, 0, 1, 1});
  EXPECT_THAT(complaint("compute_diis", "u", {&dependent}), HasSubstr("singular"));
}

}  // namespace
}  // namespace tessera::sial
