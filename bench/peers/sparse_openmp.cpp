// The steps of apps/sparse's LOBPCG under OpenMP, executed in three ways: `blas`, one library call per operation over
// all rows; `tuned`, a parallel loop over panels per operation, with the kernels of apps/sparse; `fused`, the two
// passes over the rows that data flow allows, written by hand with the same kernels. All solve the same small problems,
// so that they iterate alike.
#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include "bench/common/measure.hpp"
#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/matrix/row_panels.hpp"
#include "libraries/sparse/product/compressed_rows.hpp"
#include "libraries/sparse/program/kernels.hpp"
#include "libraries/sparse/solver/conjugate_step.hpp"

extern "C" void openblas_set_num_threads(int);

using namespace bench;
using namespace tessera::sparse;

namespace {

using table = std::vector<double>;

struct free_memory {
  void operator()(double* p) const { std::free(p); }
};
using numbers = std::unique_ptr<double[], free_memory>;

class lobpcg_by_hand {
 public:
  lobpcg_by_hand(const csr_matrix& matrix, std::string how, int block, int threads, long panel_rows)
      : a(matrix),
        mode(std::move(how)),
        b(block),
        workers(threads),
        panels(balanced_panels(matrix, panel_rows, 8)),
        products(b * b) {
    for (numbers* v : {&x, &ax, &r, &ar, &p, &ap, &next_x, &next_p}) *v = make();
    unsigned long state = 1;
    for (long k = 0; k < a.rows * b; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      x[k] = double(state >> 11) * 0x1.0p-52 - 1;
    }
    multiply(x, ax);
    const ritz_step start = rayleigh_ritz({b, gram(x, ax), gram(x, x)}, b, spectrum_end::smallest, used(b));
    values = start.values;
    combine_one(x, start.vectors);
    combine_one(ax, start.vectors);
    if (mode == "fused")
      measure_fused(false);
    else
      residual();
  }

  void step() {
    table with_a, plain;
    if (mode == "fused")
      first_pass(with_a, plain);
    else
      all_products(with_a, plain);
    if (mode == "blas") openblas_set_num_threads(1);  // a small problem never profits from threads
    ritz =
        conjugate_step_of({3 * b, with_a, plain}, b, spectrum_end::smallest, used(3 * b), table(std::size_t(2 * b), 1));
    if (mode == "blas") openblas_set_num_threads(workers);
    values = ritz.values;
    coefficients.assign(std::size_t(6 * b * b), 0);
    for (long i = 0; i < 3 * b; ++i)
      for (long j = 0; j < b; ++j) {
        coefficients[std::size_t(i * 2 * b + j)] = ritz.vectors[std::size_t(i * b + j)];
        coefficients[std::size_t(i * 2 * b + b + j)] = ritz.directions[std::size_t(i * b + j)];
      }
    if (mode == "fused") return measure_fused(true);
    combine_all(x, r, p);
    combine_all(ax, ar, ap);
    residual();
  }

  double largest_residual() const { return std::sqrt(*std::max_element(squares.begin(), squares.end())); }

 private:
  numbers make() const {
    const std::size_t page = 2u << 20, bytes = (std::size_t(a.rows * b) * sizeof(double) + page - 1) / page * page;
    numbers made(static_cast<double*>(std::aligned_alloc(page, bytes)));
    std::fill_n(made.get(), a.rows * b, 0.0);
    return made;
  }
  static std::vector<bool> used(long m) { return std::vector<bool>(std::size_t(m), true); }

  /// loop(thread, begin, end) for strips of rows, a panel on one thread.
  void over(const std::function<void(int, long, long)>& loop, long strip = 256) const {
#pragma omp parallel for schedule(static) num_threads(workers)
    for (long k = 0; k < panels.count(); ++k)
      for (long row = panels.begin(k); row < panels.end(k); row += strip)
        loop(omp_get_thread_num(), row, std::min(row + strip, long(panels.end(k))));
  }
  double* at(const numbers& v, long row) const { return v.get() + row * b; }

  void multiply(const numbers& from, const numbers& to) const {
    over([&](int, long begin, long end) { multiply_rows(a, begin, end, b, from.get(), at(to, begin)); });
  }
  table gram(const numbers& u, const numbers& v) const {
    table g(std::size_t(products), 0);
    if (mode == "blas") {
      cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, b, b, int(a.rows), 1, u.get(), b, v.get(), b, 0, g.data(),
                  b);
      return g;
    }
    std::vector<table> parts(std::size_t(workers), table(std::size_t(products + 8), 0));
    over([&](int thread, long begin, long end) {
      kernels::add_gram(at(u, begin), b, at(v, begin), b, end - begin, parts[std::size_t(thread)].data());
    });
    for (const table& part : parts)
      for (std::size_t k = 0; k < g.size(); ++k) g[k] += part[k];
    return g;
  }
  void combine_one(numbers& v, const table& c) {
    const kernels::factor from{v.get(), b};
    kernels::combine({&from, 1}, c.data(), b, next_x.get(), b, a.rows);
    std::swap(v, next_x);
  }
  /// [u w] = [u v w] coefficients.
  void combine_all(numbers& u, const numbers& v, numbers& w) {
    if (mode == "blas") {
      const numbers* from[] = {&u, &v, &w};
      numbers* to[] = {&next_x, &next_p};
      for (int side = 0; side < 2; ++side)
        for (int k = 0; k < 3; ++k)
          cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, int(a.rows), b, b, 1, from[k]->get(), b,
                      coefficients.data() + k * 2 * products + side * b, 2 * b, k > 0, to[side]->get(), b);
      cblas_dcopy(int(a.rows * b), next_x.get(), 1, u.get(), 1);
      cblas_dcopy(int(a.rows * b), next_p.get(), 1, w.get(), 1);
      return;
    }
    for (int side = 0; side < 2; ++side)
      over([&](int, long begin, long end) {
        const kernels::factor from[] = {{at(u, begin), b}, {at(v, begin), b}, {at(w, begin), b}};
        kernels::combine(from, coefficients.data() + side * b, 2 * b, at(side == 0 ? next_x : next_p, begin), b,
                         end - begin);
      });
    std::swap(u, next_x);
    std::swap(w, next_p);
  }
  void residual_rows(long begin, long end, double* to_squares) {
    for (long row = begin; row < end; ++row)
      for (long j = 0; j < b; ++j) at(r, row)[j] = at(ax, row)[j] - at(x, row)[j] * values[std::size_t(j)];
    kernels::add_dots(at(r, begin), at(r, begin), b, end - begin, to_squares);
  }
  void residual() {
    std::vector<table> parts(std::size_t(workers), table(std::size_t(b + 8), 0));
    over([&](int thread, long begin, long end) { residual_rows(begin, end, parts[std::size_t(thread)].data()); });
    squares.assign(std::size_t(b), 0);
    for (const table& part : parts)
      for (std::size_t k = 0; k < squares.size(); ++k) squares[k] += part[k];
  }

  void put(table& whole, long i, long j, const double* part) const {
    for (long k = 0; k < b; ++k)
      for (long l = 0; l < b; ++l)
        whole[std::size_t((i * b + k) * 3 * b + j * b + l)] = whole[std::size_t((j * b + l) * 3 * b + i * b + k)] =
            part[k * b + l];
  }
  void all_products(table& with_a, table& plain) {
    multiply(r, ar);
    with_a.assign(std::size_t(9 * products), 0), plain = with_a;
    const numbers *left[] = {&x, &r, &p}, *right[] = {&ax, &ar, &ap};
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) {
        put(with_a, i, j, gram(*left[i], *right[j]).data());
        put(plain, i, j, gram(*left[i], *left[j]).data());
      }
  }

  // Fused: the products of [X R P] in the order of `measured`, some from the last pass.
  enum measured {
    xx,
    xax,
    xp,
    xap,
    pp,
    pap,
    rr,
    xar,
    rar,
    par,
    xr,
    rp,
    count
  };
  struct sums {
    explicit sums(long of_products, long of_squares)
        : grams(std::size_t(of_products * count), 0), squares(std::size_t(of_squares), 0) {}
    table grams, squares;
  };
  void add(sums& to, measured which, const numbers& u, const numbers& v, long begin, long end) const {
    kernels::add_gram(at(u, begin), b, at(v, begin), b, end - begin, to.grams.data() + which * products);
  }
  sums added(const std::vector<sums>& parts) const {
    sums all(products, b);
    for (const sums& part : parts) {
      for (std::size_t k = 0; k < all.grams.size(); ++k) all.grams[k] += part.grams[k];
      for (std::size_t k = 0; k < all.squares.size(); ++k) all.squares[k] += part.squares[k];
    }
    return all;
  }
  void first_pass(table& with_a, table& plain) {
    std::vector<sums> parts(std::size_t(workers), sums(products, b));
    over([&](int thread, long begin, long end) {
      sums& to = parts[std::size_t(thread)];
      multiply_rows(a, begin, end, b, r.get(), at(ar, begin));
      add(to, xar, x, ar, begin, end), add(to, rar, r, ar, begin, end), add(to, par, p, ar, begin, end);
      add(to, xr, x, r, begin, end), add(to, rp, r, p, begin, end);
    });
    const sums all = added(parts);
    for (long k = xar * products; k < count * products; ++k) grams[std::size_t(k)] = all.grams[std::size_t(k)];
    with_a.assign(std::size_t(9 * products), 0), plain = with_a;
    const auto of = [&](measured which) { return grams.data() + which * products; };
    put(with_a, 0, 0, of(xax)), put(with_a, 0, 1, of(xar)), put(with_a, 0, 2, of(xap)), put(with_a, 1, 1, of(rar));
    put(with_a, 2, 1, of(par)), put(with_a, 2, 2, of(pap));
    put(plain, 0, 0, of(xx)), put(plain, 0, 1, of(xr)), put(plain, 0, 2, of(xp)), put(plain, 1, 1, of(rr));
    put(plain, 1, 2, of(rp)), put(plain, 2, 2, of(pp));
  }
  void measure_fused(bool combine) {
    std::vector<sums> parts(std::size_t(workers), sums(products, b));
    over([&](int thread, long begin, long end) {
      sums& to = parts[std::size_t(thread)];
      static thread_local table kept;
      kept.resize(std::size_t(2 * 256 * b));
      const long size = (end - begin) * b;
      const auto update = [&](const numbers& u, const numbers& v, const numbers& w) {
        const kernels::factor from[] = {{at(u, begin), b}, {at(v, begin), b}, {at(w, begin), b}};
        kernels::combine(from, coefficients.data(), 2 * b, kept.data(), b, end - begin);
        kernels::combine(from, coefficients.data() + b, 2 * b, kept.data() + size, b, end - begin);
        std::copy_n(kept.data(), size, at(u, begin));
        std::copy_n(kept.data() + size, size, at(w, begin));
      };
      if (combine) update(x, r, p), update(ax, ar, ap);
      residual_rows(begin, end, to.squares.data());
      add(to, xx, x, x, begin, end), add(to, xax, x, ax, begin, end), add(to, xp, x, p, begin, end);
      add(to, xap, x, ap, begin, end), add(to, pp, p, p, begin, end), add(to, pap, p, ap, begin, end);
      add(to, rr, r, r, begin, end);
    });
    const sums all = added(parts);
    grams = all.grams;
    squares = all.squares;
  }

  const csr_matrix& a;
  std::string mode;
  int b, workers;
  row_panels panels;
  long products;
  numbers x, ax, r, ar, p, ap, next_x, next_p;
  table values, squares, coefficients, grams;
  conjugate_step ritz;
};

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"mode", "matrix", "block", "workers", "iterations", "reps", "panel"});
  const std::string mode = args.text("mode", "fused"), family = args.text("matrix", "lap3d:60");
  if (mode != "blas" && mode != "tuned" && mode != "fused") fail("modes are blas, tuned and fused");
  const auto workers = static_cast<int>(args.number("workers", 2)), block = static_cast<int>(args.number("block", 8));
  const csr_matrix a = generate(family);
  openblas_set_num_threads(mode == "blas" ? workers : 1);
  omp_set_num_threads(workers);
  std::vector<double> times;
  for (long rep = 0; rep < args.number("reps", 3); ++rep) {
    lobpcg_by_hand solver(a, mode, block, workers, args.number("panel", 4096));
    double best = 1e99;
    for (long k = 0; k < args.number("iterations", 20); ++k) {
      const double began = now();
      solver.step();
      if (k >= 2) best = std::min(best, now() - began);
    }
    if (!(solver.largest_residual() < 1e6)) fail("sparse: the iteration diverges");
    times.push_back(best * 1e3);
  }
  row("sparse", "OpenMP " + mode, family + "_b" + std::to_string(block), workers, "milliseconds", median(times));
}
