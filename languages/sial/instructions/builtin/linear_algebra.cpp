// Dense eigenproblems and DIIS, through LAPACK.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "languages/sial/instructions/builtin/arguments.hpp"
#include "languages/sial/instructions/builtin/builtin.hpp"
#include "languages/sial/instructions/instruction_job.hpp"
#include "libraries/lapack/lapack.hpp"

namespace tessera::sial {
namespace {

std::size_t square_of(int n) { return static_cast<std::size_t>(n) * static_cast<std::size_t>(n); }

void expect_order(const sial_argument& argument, int n) {
  if (order_of_square(argument) != n)
    refuse(fmt::format("{} is {}, and {} x {} is expected", shown(argument), extents_of(argument), n, n));
}

/// `all`: the upper triangle counts too. What LAPACK makes of something that is no number is not defined.
void expect_numbers(const sial_argument& of, int n, bool all) {
  for (int j = 0; j < n; ++j)
    for (int i = all ? 0 : j; i < n; ++i)
      if (std::isnan(of.data[static_cast<std::size_t>(j) * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)]))
        refuse(fmt::format("{} has an element that is no number", shown(of)));
}

void expect_success(const char* routine, int info, const sial_argument& of) {
  if (info != 0) refuse(fmt::format("the eigenvalues of {} do not converge ({}: {})", shown(of), routine, info));
}

/// Eigenvalues, ascending; V <- eigenvectors in columns, the first component above 1e-5 in magnitude made positive.
std::vector<double> symmetric_eigenvalues(const sial_argument& a, const sial_argument& v) {
  const int n = order_of_square(a);
  expect_order(v, n);
  expect_numbers(a, n, false);
  std::copy_n(a.data, square_of(n), v.data);
  std::vector<double> values(static_cast<std::size_t>(n));
  expect_success("dsyev", lapack::dsyev(n, v.data, values.data()), a);
  for (int k = 0; k < n; ++k) {
    double* const column = v.data + static_cast<std::size_t>(k) * static_cast<std::size_t>(n);
    const double* const first = std::find_if(column, column + n, [](double x) { return std::abs(x) > 1e-5; });
    if (first != column + n && *first < 0) std::transform(column, column + n, column, [](double x) { return -x; });
  }
  return values;
}

void set_diagonal(const sial_argument& a, const std::vector<double>& values) {
  std::ranges::fill(elements(a), 0.0);
  for (std::size_t k = 0; k < values.size(); ++k) a.data[k * (values.size() + 1)] = values[k];
}

/// uu: A <- its eigenvalues on the diagonal, V <- its eigenvectors. The lower triangle counts.
void eigen(const instruction_call& c) {
  set_diagonal(c.arguments[0], symmetric_eigenvalues(c.arguments[0], c.arguments[1]));
}

/// uuu: A <- eigenvalues^-1/2; those below 10^-lindep_tol become 0 and go last with their vectors. n <- how many.
void eigen_inverse_root(const instruction_call& c) {
  const sial_argument &a = c.arguments[0], &v = c.arguments[1];
  double& dropped = scalar(c.arguments[2]);
  const auto tolerance = c.job.data().ints.find("lindep_tol");
  const double least =
      tolerance == c.job.data().ints.end() ? 1e-9 : std::pow(10.0, -static_cast<double>(tolerance->second));
  std::vector<double> values = symmetric_eigenvalues(a, v);
  const auto kept = std::ranges::find_if(values, [&](double value) { return value >= least; });
  const auto drop = kept - values.begin();
  std::rotate(v.data, v.data + static_cast<std::size_t>(drop) * values.size(), v.data + values.size() * values.size());
  std::rotate(values.begin(), kept, values.end());
  const auto zeros = values.end() - drop;
  std::transform(values.begin(), zeros, values.begin(), [](double value) { return 1.0 / std::sqrt(value); });
  std::fill(zeros, values.end(), 0.0);
  set_diagonal(a, values);
  dropped = static_cast<double>(drop);
}

void permute_columns(const sial_argument& m, const std::vector<std::size_t>& order) {
  const std::vector<double> before(m.data, m.data + m.elements);
  const std::size_t n = order.size();
  for (std::size_t k = 0; k < n; ++k) std::copy_n(before.data() + order[k] * n, n, m.data + k * n);
}

/// uuuu: left and right eigenvectors L, R of A in columns of length 1, real parts of the eigenvalues E ascending. Those
/// below 1e-12 in magnitude become 0 and go last. A is destroyed.
void general_eigen(const instruction_call& c) {
  const sial_argument &a = c.arguments[0], &l = c.arguments[1], &r = c.arguments[2], &e = c.arguments[3];
  const int n = order_of_square(a);
  expect_order(l, n);
  expect_order(r, n);
  if (e.elements != n) refuse(fmt::format("{} has {} elements, and {} are expected", shown(e), e.elements, n));
  std::vector<double> real(static_cast<std::size_t>(n)), imaginary(real.size());
  expect_numbers(a, n, true);
  expect_success("dgeev", lapack::dgeev(n, a.data, real.data(), imaginary.data(), l.data, r.data), a);
  for (std::size_t k = 0; k < real.size(); ++k) {
    if (imaginary[k] > 1e-8)
      c.job.host().print(fmt::format("warning: eigenvalue {} of {} has the imaginary part {:.3e}, which is left out\n",
                                     real[k], shown(a), imaginary[k]));
    if (std::abs(real[k]) < 1e-12) real[k] = 0;
  }
  std::vector<std::size_t> order(real.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t one, std::size_t other) {
    const bool zero = real[one] == 0, other_zero = real[other] == 0;
    return zero != other_zero ? other_zero : real[one] < real[other];
  });
  permute_columns(l, order);
  permute_columns(r, order);
  for (std::size_t k = 0; k < order.size(); ++k) e.data[k] = real[order[k]];
}

/// u: coefficients of DIIS on the diagonal of B, whose upper triangle has the overlaps of the errors (Pulay 1980).
void diis(const instruction_call& c) {
  const sial_argument& b = c.arguments[0];
  const auto n = static_cast<std::size_t>(order_of_square(b));
  const auto overlap = [&](std::size_t i, std::size_t j) { return b.data[std::min(i, j) + std::max(i, j) * n]; };
  std::size_t m = 0;
  for (std::size_t i = 0; i < n; ++i) {
    bool any = false;
    for (std::size_t j = 0; j < n; ++j) any = any || overlap(i, j) != 0;
    if (any) ++m;
  }
  const std::size_t order = m + 1;
  std::vector<double> bordered(order * order, -1.0), x(order, 0.0);
  for (std::size_t j = 0; j < m; ++j)
    for (std::size_t i = 0; i < m; ++i) bordered[i + j * order] = overlap(i, j);
  bordered.back() = 0;
  x.back() = -1;
  if (std::ranges::any_of(bordered, [](double value) { return std::isnan(value); }))
    refuse(fmt::format("{} has an element that is no number", shown(b)));
  const int info = lapack::dgesv(static_cast<int>(order), bordered.data(), x.data());
  if (info > 0)
    refuse(fmt::format(
        "the equations of DIIS are singular: {} has {} rows that are not zero, and they depend on each other", shown(b),
        m));
  for (std::size_t k = 0; k < n; ++k) b.data[k * (n + 1)] = k < m ? x[k] : 0.0;
}

}  // namespace

std::vector<instruction> linear_algebra_instructions() {
  return {{"eigen_calc", {"uu"}, {}, eigen},
          {"eigen_calc_sqr_inv", {"uuu"}, {}, eigen_inverse_root},
          {"gen_eigen_calc", {"uuuu"}, {}, general_eigen},
          {"compute_diis", {"u"}, {}, diis}};
}

}  // namespace tessera::sial
