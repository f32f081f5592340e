#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "apps/common/application.hpp"
#include "apps/common/value_options.hpp"
#include "apps/rodinia/commands.hpp"
#include "apps/rodinia/lud/kernel.hpp"

namespace tessera::apps::rodinia {
namespace {

struct lud_options : application_options {
  std::int64_t size = 2048;
  std::string type = "f32", matrix;
};

/// Against the closed form of the synthetic matrix.
template <class T>
void check_lud(application_run& f, const std::vector<T>& factors, std::int64_t n) {
  double worst = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      worst = std::max(
          worst, relative_error(static_cast<double>(factors[static_cast<std::size_t>(i * n + j)]), lud_factor(i, j)));
  f.check("relative error of the factors", worst, sizeof(T) == 4 ? 2e-2 : 1e-10);
}

template <class T>
void run_lud(application_run& f, const lud_options& o) {
  lud_input input;
  if (!o.matrix.empty()) input = read_lud_input(o.matrix);
  const std::int64_t n = input.n > 0 ? input.n : o.size;
  f.s().require_memory(static_cast<double>(n) * static_cast<double>(n) * sizeof(T), "the matrix");
  lud_kernel<T> matrix(f.model(), f.how(), n);
  if (input.n == 0)
    matrix.generate();
  else
    matrix.load(input.a);
  f.input(fmt::format("{} x {}, {}, {}", n, n, o.type, o.matrix.empty() ? "10 rho^|i-j|" : o.matrix));
  f.main_part([&] { matrix.run(); });
  f.compare_with(lud_workload(n, sizeof(T)));
  const std::vector<T> factors = matrix.factors();
  double sum = 0;
  for (const T v : factors) sum += static_cast<double>(v);
  f.checksum("sum of the factors", sum);
  f.checksum("last", static_cast<double>(factors.back()));
  if (!f.verify()) return;
  const bool generated = input.n == 0;
  for (std::int64_t i = 0; generated && i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) input.a.push_back(lud_element(i, j));
  const lud_product product = lud_product_of<T>(factors, input.a, n);
  if (generated) {
    check_lud(f, factors, n);
    f.check("largest difference of L U and A", product.error, sizeof(T) == 4 ? 1e-4 : 1e-12);
  } else {  // the bound of N. Higham, Accuracy and Stability, theorem 9.3: a file may need pivots
    f.check("largest difference of L U and A, over that of |L| |U|", product.error / product.terms,
            static_cast<double>(n) * static_cast<double>(std::numeric_limits<T>::epsilon()));
  }
}

}  // namespace

void add_lud(command_table& to) {
  auto o = std::make_shared<lud_options>();
  command_table& sub = add_application(
      to, {"lud", "LU decomposition in blocks, without pivoting", "tessera lud --size 1024 --type f64 --verify"}, o,
      [o](application_run& f) { o->type == "f32" ? run_lud<float>(f, *o) : run_lud<double>(f, *o); });
  sub.add({number_option("--size", o->size, "rows and columns", 1, 32768),
           {"--matrix", &o->matrix, "FILE", "n and the matrix; instead of --size", {.excludes = {"--size"}}},
           type_option(o->type, {"f32", "f64"})});
}

}  // namespace tessera::apps::rodinia
