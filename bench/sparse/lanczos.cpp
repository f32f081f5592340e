#include <cmath>

#include "bench/common/measure.hpp"
#include "bench/sparse/cases.hpp"
#include "tessera/sparse.hpp"
#include "tessera/tessera.hpp"

namespace bench {

using namespace tessera;
using namespace tessera::sparse;

namespace {

using views = std::span<const small_view>;

/// V(j + 1) = A V(j), orthogonal to all before in two rounds of classical Gram-Schmidt, of length 1: three passes.
class steps_of_lanczos {
 public:
  steps_of_lanczos(runtime& rt, const csr_matrix& matrix, const sparse_case& c)
      : a(matrix), count(c.iterations), p(rt, matrix, {.panel_rows = c.panel, .columns = 1, .strip_rows = c.strip}) {
    for (long j = 0; j <= count; ++j) {
      v.push_back(p.vector("V" + std::to_string(j), 1));
      overlaps.push_back(p.small("overlap " + std::to_string(j), 1, 1));
      coefficients.push_back(p.small("coefficients " + std::to_string(j), j + 2, 1));
    }
    std::vector<double> first(static_cast<std::size_t>(a.rows));
    unsigned long state = 1;
    double first_square = 0;
    for (double& x : first) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      x = double(state >> 11) * 0x1.0p-52 - 1;
      first_square += x * x;
    }
    for (double& x : first) x /= std::sqrt(first_square);
    v[0].set(first);
  }

  /// Seconds of the fastest of `cycles`, three or more, from the end of one to the end of the next.
  double best_of(long cycles) {
    std::vector<double> ends;
    p.while_not([] { return false; },
                [this] {
                  for (long j = 0; j < count; ++j) step(static_cast<std::size_t>(j));
                },
                {.max_iterations = static_cast<int>(cycles), .after_each = [&](int) {
                   (void)coefficients.back().values();  // the last thing that a cycle makes
                   ends.push_back(now());
                 }});
    double best = 1e99;
    for (std::size_t k = 2; k < ends.size(); ++k)
      best = std::min(best, ends[k] - ends[k - 1]);  // the second is recorded
    return best;
  }

  double orthogonality() {
    double worst = 0;
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}, v.size() - 2}) {
      gram(v[k], v.back(), overlaps[0]);
      worst = std::max(worst, std::abs(overlaps[0].values()[0]));
    }
    gram(v.back(), v.back(), overlaps[0]);
    return std::max(worst, std::abs(overlaps[0].values()[0] - 1));
  }

 private:
  void step(std::size_t j) {
    apply(a, v[j], w);
    orthogonalize(j, false);
    orthogonalize(j, true);
  }
  void orthogonalize(std::size_t j, bool last) {
    std::vector<small_matrix> from;
    std::vector<block_vector> sources;
    for (std::size_t i = 0; i <= j; ++i) {
      gram(v[i], w, overlaps[i]);
      from.push_back(overlaps[i]), sources.push_back(v[i]);
    }
    sources.push_back(w);
    if (last) gram(w, w, square), from.push_back(square);
    small_operation("coefficients", from, {&coefficients[j], 1}, [last](views in, views out) {
      const std::size_t n = in.size() - last;
      double factor = 1;
      if (last) {
        double rest = in[n](0, 0);
        for (std::size_t i = 0; i < n; ++i) rest -= in[i](0, 0) * in[i](0, 0);
        factor = 1 / std::sqrt(rest);
      }
      for (std::size_t i = 0; i < n; ++i) out[0](static_cast<std::int64_t>(i), 0) = -in[i](0, 0) * factor;
      out[0](static_cast<std::int64_t>(n), 0) = factor;
    });
    combine(sources, coefficients[j], {last ? &v[j + 1] : &w, 1});
  }

  const csr_matrix& a;
  long count;
  program p;
  block_vector w = p.vector("W", 1);
  small_matrix square = p.small("W'W", 1, 1);
  std::vector<block_vector> v;
  std::vector<small_matrix> overlaps, coefficients;
};

}  // namespace

void measure_lanczos(const csr_matrix& a, const sparse_case& c) {
  runtime rt({.workers = static_cast<std::uint32_t>(c.workers)});
  steps_of_lanczos lanczos(rt, a, c);
  const double seconds = lanczos.best_of(c.reps + 2);
  if (!(lanczos.orthogonality() < 1e-10)) fail("sparse: the basis is not orthonormal");
  row("sparse", "Tessera", c.family + "_lanczos" + std::to_string(c.iterations), c.workers, "milliseconds",
      seconds / double(c.iterations) * 1e3);
}

}  // namespace bench
