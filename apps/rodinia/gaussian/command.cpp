#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "apps/common/application.hpp"
#include "apps/common/value_options.hpp"
#include "apps/common/worse.hpp"
#include "apps/rodinia/commands.hpp"
#include "apps/rodinia/gaussian/kernel.hpp"

namespace tessera::apps::rodinia {
namespace {

struct gaussian_options : application_options {
  std::int64_t size = 1024, columns = 4;
  std::string type = "f32", matrix;
};

/// Against the closed form of the synthetic system.
template <class T>
void check_gaussian(application_run& f, std::span<const T> a, const std::vector<T>& x) {
  const auto n = static_cast<std::int64_t>(x.size());
  double worst = 0, ends = 0, inner = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = i; j < n; ++j)
      worst = std::max(worst, relative_error(static_cast<double>(a[static_cast<std::size_t>(i * n + j)]),
                                             gaussian_eliminated(i, j)));
    const double error = relative_error(static_cast<double>(x[static_cast<std::size_t>(i)]), gaussian_solution(n, i));
    double& of = i == 0 || i == n - 1 ? ends : inner;
    of = std::max(of, error);
  }
  const bool single = sizeof(T) == 4;
  f.check("relative error of the eliminated matrix", worst, single ? 1e-3 : 1e-10);
  f.check("relative error of the solution's ends", ends, single ? 1e-3 : 1e-10);
  f.check("relative error of the solution between", inner, gaussian_bound<T>(n));
}

/// max |A x - b| over the size of its terms.
template <class T>
double residual_of_gaussian(const gaussian_input& in, const std::vector<T>& x) {
  double worst = 0, size = 0;
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) {
    double sum = -in.b[i], terms = std::abs(in.b[i]);
    for (std::size_t j = 0; j < n; ++j) {
      sum += in.a[i * n + j] * static_cast<double>(x[j]);
      terms += std::abs(in.a[i * n + j] * static_cast<double>(x[j]));
    }
    worst = worse(worst, std::abs(sum));
    size = std::max(size, terms);
  }
  return worst / size;
}

template <class T>
void run_gaussian(application_run& f, const gaussian_options& o) {
  gaussian_input input;
  if (!o.matrix.empty()) input = read_gaussian_input(o.matrix);
  const std::int64_t n = input.n > 0 ? input.n : o.size;
  f.s().require_memory(2.0 * static_cast<double>(n) * static_cast<double>(n) * sizeof(T), "the matrices");
  gaussian_kernel<T> system(f.model(), f.how(), n, o.columns);
  if (input.n == 0) {
    system.generate();
  } else {
    const std::vector<T> a(input.a.begin(), input.a.end()), b(input.b.begin(), input.b.end());
    load<T>(f.model(), f.how(), system.a, a);
    load<T>(f.model(), f.how(), system.b, b);
  }
  f.input(fmt::format("{} equations, {}, {}", n, o.type, o.matrix.empty() ? "10 rho^|i-j|" : o.matrix));
  f.main_part([&] { system.run(); });
  f.compare_with(gaussian_workload(n, o.columns, sizeof(T)));
  const auto a = system.a.read();
  const auto b = system.b.read();
  const std::vector<T> x = back_substitute<T>(a.elements(), b.elements());
  f.checksum("sum of x", std::accumulate(x.begin(), x.end(), 0.0));
  f.checksum("first", static_cast<double>(x.front()));
  if (!f.verify()) return;
  if (input.n == 0) return check_gaussian<T>(f, a.elements(), x);
  const bool single = sizeof(T) == 4;
  f.check("residual", residual_of_gaussian(input, x), single ? 1e-3 : 1e-10);
  if (input.solution.empty()) return;
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    largest = std::max(largest, std::abs(input.solution[i]));
    worst = worse(worst, std::abs(static_cast<double>(x[i]) - input.solution[i]));
  }
  f.check("difference to the file's solution", worst / largest, 2e-2);  // files tell a few digits
}

}  // namespace

void add_gaussian(command_table& to) {
  auto o = std::make_shared<gaussian_options>();
  command_table& sub = add_application(
      to,
      {"gaussian", "Elimination without pivoting: many short loops",
       "tessera gaussian --size 1024 --type f64 --verify"},
      o, [o](application_run& f) { o->type == "f32" ? run_gaussian<float>(f, *o) : run_gaussian<double>(f, *o); });
  sub.add(
      {number_option("--size", o->size, "equations", 1, 32768),
       number_option("--columns", o->columns, "columns that a pair of regions eliminates", 1, gaussian_most_columns),
       {"--matrix",
        &o->matrix,
        "FILE",
        "n, the matrix, the right side and possibly the solution; instead of --size",
        {.excludes = {"--size"}}},
       type_option(o->type, {"f32", "f64"})});
}

}  // namespace tessera::apps::rodinia
