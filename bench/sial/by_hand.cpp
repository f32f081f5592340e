// bench_sial_by_hand: the program bench_contract.sialx as one would write it in C++ with plain dgemm, on one thread:
// the same blocks in the same order, nothing besides. What SIAL needs beyond it is the price of the interpreter and of
// the runtime; what it needs beyond products of blocks in the cache is the price of memory as well.
//
//   bench_sial_by_hand [--norb 8] [--extent 6]      rows of bench/common/measure.hpp
#include <cblas.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "bench/common/measure.hpp"

namespace {

using block = std::vector<double>;

/// norb^4 blocks, the first index fastest; each gets its elements when it is first assigned to.
struct array {
  explicit array(long norb) : count(norb), blocks(static_cast<std::size_t>(norb * norb * norb * norb)) {}
  block& at(long p, long q, long r, long s) {
    return blocks[static_cast<std::size_t>(p + count * (q + count * (r + count * s)))];
  }
  long count;
  std::vector<block> blocks;
};

template <class Body>
void over_four(long norb, const Body& body) {
  for (long l = 0; l < norb; ++l)
    for (long k = 0; k < norb; ++k)
      for (long j = 0; j < norb; ++j)
        for (long i = 0; i < norb; ++i) body(i, j, k, l);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::arguments args(argc, argv, {"norb", "extent"});
  const long norb = args.number("norb", 8), extent = args.number("extent", 6);
  if (norb < 1 || norb > 32 || extent < 1 || extent > 32) {
    std::fprintf(stderr, "--norb and --extent are from 1 to 32\n");
    return 2;
  }
  const int order = static_cast<int>(extent * extent);
  const long elements = static_cast<long>(order) * order;
  const double began = bench::now();
  array a(norb), b(norb), c(norb);
  block temporary(static_cast<std::size_t>(elements));
  over_four(norb, [&](long i, long j, long m, long n) {
    temporary.assign(temporary.size(),
                     1.0 + 0.01 * static_cast<double>((i + 1) + 2 * (j + 1) + 3 * (m + 1) + 4 * (n + 1)));
    a.at(i, j, m, n) = temporary;
  });
  over_four(norb, [&](long m, long n, long k, long l) {
    temporary.assign(temporary.size(),
                     1.0 - 0.01 * static_cast<double>((m + 1) + 2 * (n + 1) + 3 * (k + 1) + 4 * (l + 1)));
    b.at(m, n, k, l) = temporary;
  });
  over_four(norb, [&](long i, long j, long k, long l) {
    temporary.assign(temporary.size(), 0.0);
    for (long m = 0; m < norb; ++m)
      for (long n = 0; n < norb; ++n)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, order, order, order, 1.0, a.at(i, j, m, n).data(), order,
                    b.at(m, n, k, l).data(), order, 1.0, temporary.data(), order);
    c.at(i, j, k, l) = temporary;
  });
  double sum = 0;
  for (const block& one : c.blocks) sum += cblas_ddot(static_cast<int>(elements), one.data(), 1, one.data(), 1);
  const double seconds = bench::now() - began;
  // Elements of a block are alike, so that the sum follows from norb^6 numbers.
  double expected = 0;
  over_four(norb, [&](long i, long j, long k, long l) {
    double value = 0;
    for (long m = 0; m < norb; ++m)
      for (long n = 0; n < norb; ++n)
        value += (1.0 + 0.01 * static_cast<double>((i + 1) + 2 * (j + 1) + 3 * (m + 1) + 4 * (n + 1))) *
                 (1.0 - 0.01 * static_cast<double>((m + 1) + 2 * (n + 1) + 3 * (k + 1) + 4 * (l + 1)));
    expected += value * value * order * order * static_cast<double>(elements);
  });
  if (!(std::abs(sum - expected) <= 1e-10 * expected))
    bench::fail("the sum of squares is " + std::to_string(sum) + " and not " + std::to_string(expected));
  const std::string kase = "contract_e" + std::to_string(extent);
  bench::row("sial", "by hand", kase, 1, "seconds", seconds);
  bench::row("sial", "by hand", kase, 1, "sum_of_squares", sum);
  return 0;
}
