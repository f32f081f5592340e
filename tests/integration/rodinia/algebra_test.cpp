// Applications of linear algebra: closed forms and files under all settings.
#include "apps/rodinia/gaussian/kernel.hpp"
#include "apps/rodinia/lud/kernel.hpp"
#include "tests/integration/rodinia/settings.hpp"

namespace tessera::testing {
namespace {

using namespace apps::rodinia;

INSTANTIATE_TEST_SUITE_P(all, rodinia, ::testing::ValuesIn(rodinia_settings), name_of_rodinia);

template <class T>
std::vector<T> solve_gaussian(gaussian_kernel<T>& system, std::int64_t n, double bound) {
  system.run();
  const auto a = system.a.read();
  const auto b = system.b.read();
  double worst = 0;
  for (std::int64_t i = 0; bound > 0 && i < n; ++i)
    for (std::int64_t j = i; j < n; ++j)
      worst = std::max(worst, std::abs(static_cast<double>(a(i, j)) / gaussian_eliminated(i, j) - 1));
  EXPECT_LE(worst, bound);
  return back_substitute<T>(a.elements(), b.elements());
}

/// Eliminated and solved by the loop that the regions stand for, in the same type.
template <class T>
std::vector<T> gaussian_serial_solution(std::int64_t n) {
  std::vector<T> a, b(static_cast<std::size_t>(n), 1);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) a.push_back(static_cast<T>(gaussian_element(i, j)));
  gaussian_serial<T>(a, b);
  return back_substitute<T>(a, b);
}

TEST_P(rodinia, gaussian) {
  for (const std::int64_t n : {1, 2, 17, 150}) {
    gaussian_kernel<double> system(model, how, n);
    system.generate();
    const std::vector<double> x = solve_gaussian(system, n, 1e-10);
    for (std::int64_t i = 0; i < n; ++i)
      expect_close(x[static_cast<std::size_t>(i)], gaussian_solution(n, i), gaussian_bound<double>(n), "x");
    EXPECT_EQ(x, gaussian_serial_solution<double>(n));
    EXPECT_TRUE(n < 150 || devices_took_part("eliminate"));
  }
}

TEST_P(rodinia, gaussian_in_float) {
  for (const std::int64_t n : {100, 150}) {
    gaussian_kernel<float> system(model, how, n);
    system.generate();
    const std::vector<float> x = solve_gaussian(system, n, 1e-3);
    expect_close(x[0], 0.0502499979167, 1e-3, "first");
    expect_close(x[50], 0.000499995833, gaussian_bound<float>(n), "between");
    EXPECT_EQ(x, gaussian_serial_solution<float>(n));
  }
}

TEST_P(rodinia, gaussian_of_a_file) {
  for (const char* name : {"matrix3.txt", "matrix4.txt", "matrix16.txt", "matrix208.txt"}) {
    const gaussian_input in = read_gaussian_input(rodinia_file(name));
    gaussian_kernel<double> system(model, how, in.n);
    std::ranges::copy(in.a, system.a.write().begin());
    std::ranges::copy(in.b, system.b.write().begin());
    const std::vector<double> x = solve_gaussian(system, in.n, 0);
    ASSERT_EQ(in.solution.size(), x.size()) << name;
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], in.solution[i], 1e-2) << name << " " << i;
  }
}

TEST_P(rodinia, lud) {
  for (const std::int64_t n : {1, 31, 33, 200}) {
    lud_kernel<double> matrix(model, how, n);
    matrix.generate();
    matrix.run();
    const std::vector<double> factors = matrix.factors();
    double worst = 0;
    std::vector<double> a;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        worst = std::max(worst, std::abs(factors[static_cast<std::size_t>(i * n + j)] / lud_factor(i, j) - 1));
        a.push_back(lud_element(i, j));
      }
    EXPECT_LE(worst, 1e-10) << n;
    EXPECT_LE(lud_product_of<double>(factors, a, n).error, 1e-12) << n;
    if (n == 200) {
      expect_close(factors[201], 0.0199800133, 1e-8, "U(1,1)");
      expect_close(factors[200], 0.9990004998, 1e-9, "L(1,0)");
    }
    expect_same<double>("lud " + std::to_string(n), factors);
    // Its last loops are too short for all leaves.
    EXPECT_TRUE(n < 200 || *GetParam().gpus == '\0' || rt.statistics().bytes_transferred() > 0);
  }
}

TEST_P(rodinia, lud_in_float_of_a_file) {
  const lud_input in = read_lud_input(rodinia_file("lud_64.dat"));
  lud_kernel<float> matrix(model, how, in.n);
  matrix.load(in.a);
  matrix.run();
  const std::vector<float> factors = matrix.factors();
  const lud_product product = lud_product_of<float>(factors, in.a, in.n);
  EXPECT_LE(product.error, 64 * 1.2e-7 * product.terms);
  expect_same<float>("lud float", factors);
}

}  // namespace
}  // namespace tessera::testing
