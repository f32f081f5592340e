#pragma once
// Matrices in tiles for the benchmark programs: filled by tasks, checked with a random vector.
#include <cmath>
#include <string>
#include <vector>

#include "bench/common/random_graph.hpp"
#include "tessera/machine.hpp"
#include "tessera/tessera.hpp"

namespace bench {

using matrix = tessera::tiled_matrix<double>;
using column = std::vector<double>;

/// Sets element (i, j) of every tile to f(i, j), by tasks.
template <class Element>
void fill(tessera::runtime& rt, matrix& a, Element f) {
  const std::int64_t tile = a.block_extents()[0];
  for (std::int64_t tj = 0; tj < a.counts()[1]; ++tj)
    for (std::int64_t ti = 0; ti < a.counts()[0]; ++ti)
      rt.submit(
          "noise",
          [=](tessera::matrix_view<double> t) {
            for (std::int64_t j = 0; j < t.extent(1); ++j)
              for (std::int64_t i = 0; i < t.extent(0); ++i) t(i, j) = f(ti * tile + i, tj * tile + j);
          },
          tessera::write(a(ti, tj)));
  rt.fence();
}

/// Calls visit(i, j, element) for all elements of the tiles that `wanted(ti, tj)` names.
template <class Wanted, class Visit>
void for_each_element(matrix& a, Wanted wanted, Visit visit) {
  const std::int64_t tile = a.block_extents()[0];
  for (std::int64_t tj = 0; tj < a.counts()[1]; ++tj)
    for (std::int64_t ti = 0; ti < a.counts()[0]; ++ti) {
      if (!wanted(ti, tj)) continue;
      const auto t = a(ti, tj).read();
      for (std::int64_t j = 0; j < t.extent(1); ++j)
        for (std::int64_t i = 0; i < t.extent(0); ++i) visit(ti * tile + i, tj * tile + j, t(i, j));
    }
}

inline column test_vector(std::int64_t n) {
  column x(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) x[std::size_t(i)] = noise(long(i), 77777);
  return x;
}

inline column times(matrix& a, const column& x) {
  column y(x.size(), 0.0);
  for_each_element(
      a, [](auto, auto) { return true; },
      [&](std::int64_t i, std::int64_t j, double v) { y[std::size_t(i)] += v * x[std::size_t(j)]; });
  return y;
}

/// Largest difference over largest value; the run fails above a bound that rounding cannot reach.
inline void compare(const char* what, const column& got, const column& expected) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    difference = std::max(difference, std::abs(got[i] - expected[i]));
    size = std::max(size, std::abs(expected[i]));
  }
  if (!(difference <= 1e-9 * size)) fail(std::string(what) + ": wrong result");
}

/// The lower triangle of `l` against the matrix of which it should be the Cholesky factor.
template <class Element>
void check_factor(matrix& l, Element element) {
  const std::int64_t n = l.extents()[0];
  const column x = test_vector(n);
  column ltx(x.size(), 0.0), got(x.size(), 0.0), expected(x.size(), 0.0);
  const auto lower = [](std::int64_t ti, std::int64_t tj) { return ti >= tj; };
  for_each_element(l, lower, [&](std::int64_t i, std::int64_t j, double v) {
    if (i >= j) ltx[std::size_t(j)] += v * x[std::size_t(i)];
  });
  for_each_element(l, lower, [&](std::int64_t i, std::int64_t j, double v) {
    if (i >= j) got[std::size_t(i)] += v * ltx[std::size_t(j)];
  });
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) expected[std::size_t(i)] += element(i, j) * x[std::size_t(j)];
  compare("potrf", got, expected);
}

}  // namespace bench
