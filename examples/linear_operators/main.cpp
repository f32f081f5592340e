// Linear operators: a matrix, a function, a region and what is put together of them, solved by the same methods.
#include <tessera/region.hpp>
#include <tessera/sparse.hpp>
#include <tessera/tessera.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

using namespace tessera::sparse;

namespace {

bool good = true;

void tell(const char* what, const linear_solution& found) {
  std::printf("%-32s %3d iterations, stopped by %s\n", what, found.loop.iterations, found.stopped.by.c_str());
}

void expect(bool holds, const char* what) {
  if (!holds) std::printf("wrong: %s\n", what);
  good = good && holds;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

/// A rod whose conductivity k differs from place to place, as a matrix: 1 + L_k.
csr_matrix rod(const std::vector<double>& k) {
  std::vector<triplet> entries;
  const auto n = static_cast<std::int32_t>(k.size() - 1);
  for (std::int32_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    entries.push_back({i, i, 1 + k[at] + k[at + 1]});
    if (i > 0) entries.push_back({i, i - 1, -k[at]}), entries.push_back({i - 1, i, -k[at]});
  }
  return matrix_of("rod", n, n, entries);
}

}  // namespace

int main() {
  tessera::runtime rt;

  // A matrix, a shift by another one, and a preconditioner that is an operator too. Two right sides at a time.
  const csr_matrix stiffness = generate("lap2d:40");
  std::vector<double> weights(static_cast<std::size_t>(stiffness.rows));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 1 + 0.5 * std::sin(static_cast<double>(i));
  const linear_operator k = stiffness, mass = linear_operator::diagonal(weights, "mass");
  std::vector<double> loads(weights.size() * 2);
  for (std::size_t i = 0; i < loads.size(); ++i) loads[i] = std::cos(static_cast<double>(i));
  const linear_solution damped = conjugate_gradients(rt, k + 0.1 * mass, loads,
                                                     {.stop = stop::relative_residual(1e-10) | stop::iterations(500),
                                                      .preconditioner = linear_operator::jacobi(stiffness)});
  tell("stiffness + 0.1 mass", damped);
  expect(damped.converged(), "it converges");

  // Beyond an eigenvalue the operator is indefinite: minres solves it, and a criterion may be a time.
  const linear_solution resonant =
      minres(rt, shifted(k, 0.5, mass), loads,
             {.stop = (stop::residual_reduction(1e-8) & stop::iterations(10)) | stop::seconds(60)});
  tell("stiffness - 0.5 mass", resonant);
  expect(resonant.converged(), "it converges");

  // An operator that is a region, over arrays of the location model which another region has filled.
  const std::int64_t n = 2000;
  tessera::location_model model(rt);
  auto conductivity = model.make_array<double>("conductivity", {n + 1});
  auto u = model.make_array<double>("u", {n}), product = model.make_array<double>("rod u", {n});
  model.region("conductivity", tessera::iterate(0, n + 1), write(conductivity),
               [](auto i, auto c) { c[i] = 2 + std::sin(0.01 * static_cast<double>(i)); });
  const linear_operator of_region = linear_operator::of_call(
      "rod", n,
      [&](const operator_block& on) {
        for (std::int64_t column = 0; column < on.columns; ++column) {  // one for each right side
          {
            auto to = u.write();
            for (std::int64_t i = 0; i < n; ++i) to[i] = on.x[i * on.columns + column];
          }
          model.region("rod", tessera::iterate(0, n), read(u, tessera::halo(1)),
                       read(conductivity, tessera::halo(0, 1)), write(product), [n](auto i, auto v, auto c, auto to) {
                         const double before = i > 0 ? v[i - 1] : 0, behind = i < n - 1 ? v[i + 1] : 0;
                         to[i] = v[i] + c[i] * (v[i] - before) + c[i + 1] * (v[i] - behind);
                       });
          const auto from = product.read();
          for (std::int64_t i = 0; i < n; ++i) on.y[i * on.columns + column] = from[i];
        }
      },
      {.flops = 8.0 * n});  // whether it is symmetric is measured
  const std::vector<double> heat(static_cast<std::size_t>(2 * n), 1.0);
  const linear_solution by_region = conjugate_gradients(rt, of_region, heat);
  tell("a region", by_region);

  // The same as a matrix, from the same numbers.
  std::vector<double> numbers;
  {
    const auto view = conductivity.read();
    numbers.assign(view.begin(), view.end());
  }
  const csr_matrix as_matrix = rod(numbers);
  const linear_solution by_matrix = conjugate_gradients(rt, as_matrix, heat);
  tell("a matrix", by_matrix);
  expect(largest_difference(by_region.x, by_matrix.x) < 1e-6, "both find the same");
  return good ? 0 : 1;
}
