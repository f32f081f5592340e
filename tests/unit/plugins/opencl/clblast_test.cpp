// Products by CLBlast, where it is installed: against loops, and against our own kernels.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "tests/unit/plugins/opened_plugin.hpp"

namespace tessera {
namespace {

using test::at;
using test::given_option;
using test::opened_plugin;
using test::owned_stream;

template <class Number>
constexpr tsr_type type_of = sizeof(Number) == 8 ? TSR_F64 : TSR_C128;

/// C = alpha op(A) op(B) + beta C, `batch` times, with gaps between columns.
template <class Number>
struct problem {
  tsr_transpose transpose_a, transpose_b;
  std::int64_t m, n, k, batch = 1;
  Number alpha, beta;
  std::int64_t lda = (transpose_a == TSR_NO_TRANSPOSE ? m : k) + 3, ldb = (transpose_b == TSR_NO_TRANSPOSE ? k : n) + 1,
               ldc = m + 2;
  std::int64_t each_a = lda * (transpose_a == TSR_NO_TRANSPOSE ? k : m),
               each_b = ldb * (transpose_b == TSR_NO_TRANSPOSE ? n : k), each_c = ldc * n;
  std::vector<Number> a{}, b{}, c{};

  void fill() {
    std::mt19937_64 random(12);
    std::uniform_real_distribution<double> part(-1, 1);
    const auto number = [&] {
      if constexpr (sizeof(Number) == 8)
        return part(random);
      else
        return Number(part(random), part(random));
    };
    for (auto [to, each] : {std::pair{&a, each_a}, {&b, each_b}, {&c, each_c}}) {
      to->resize(static_cast<std::size_t>(each * batch));
      for (Number& one : *to) one = number();
    }
  }
  static Number element(const Number* of, std::int64_t ld, tsr_transpose how, std::int64_t row, std::int64_t column) {
    if (how == TSR_NO_TRANSPOSE) return of[row + column * ld];
    const Number it = of[column + row * ld];
    if constexpr (sizeof(Number) == 16)
      return how == TSR_CONJUGATE_TRANSPOSE ? std::conj(it) : it;
    else
      return it;
  }
  std::vector<Number> expected() const {
    std::vector<Number> out = c;
    for (std::int64_t which = 0; which < batch; ++which)
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i) {
          Number sum{};
          for (std::int64_t l = 0; l < k; ++l)
            sum += element(&a[static_cast<std::size_t>(which * each_a)], lda, transpose_a, i, l) *
                   element(&b[static_cast<std::size_t>(which * each_b)], ldb, transpose_b, l, j);
          Number& to = out[static_cast<std::size_t>(which * each_c + i + j * ldc)];
          to = beta == Number{} ? alpha * sum : alpha * sum + beta * to;
        }
    return out;
  }
};

template <class Number>
std::vector<Number> by_plugin(const problem<Number>& p, const char* use) {
  const opened_plugin plugin("opencl", {{"clblast", TSR_OPTION_STRING, 0, 0, use}});
  const opened_plugin::device& device = plugin.devices.at(0);
  const owned_stream stream(device);
  tsr_memory* memory = nullptr;
  const std::uint64_t bytes_a = p.a.size() * sizeof(Number), bytes_b = p.b.size() * sizeof(Number),
                      bytes_c = p.c.size() * sizeof(Number);
  opened_plugin::check(device.table->mem_alloc(device.handle, 0, bytes_a + bytes_b + bytes_c, &memory));
  const auto copy = [&](bool in, std::uint64_t offset, const void* host, std::uint64_t bytes) {
    const tsr_space_ref there{device.handle, 0}, here{nullptr, 0};
    const auto what = in ? test::flat_copy(there, at(memory, offset), here, at(host), bytes)
                         : test::flat_copy(here, at(host), there, at(memory, offset), bytes);
    opened_plugin::check(device.table->copy(device.handle, stream.handle, &what));
  };
  copy(true, 0, p.a.data(), bytes_a);
  copy(true, bytes_a, p.b.data(), bytes_b);
  copy(true, bytes_a + bytes_b, p.c.data(), bytes_c);
  tsr_gemm g{};
  g.struct_size = sizeof g;
  g.type = type_of<Number>;
  g.transpose_a = p.transpose_a;
  g.transpose_b = p.transpose_b;
  g.m = p.m, g.n = p.n, g.k = p.k;
  g.alpha = &p.alpha, g.beta = &p.beta;
  g.a = at(memory), g.b = at(memory, bytes_a), g.c = at(memory, bytes_a + bytes_b);
  g.lda = p.lda, g.ldb = p.ldb, g.ldc = p.ldc;
  g.batch = p.batch;
  const auto size = static_cast<std::int64_t>(sizeof(Number));
  g.stride_a = p.each_a * size, g.stride_b = p.each_b * size, g.stride_c = p.each_c * size;
  opened_plugin::check(
      (p.batch == 1 ? device.blas->gemm : device.blas->gemm_strided)(device.handle, stream.handle, &g));
  std::vector<Number> out(p.c.size());
  copy(false, bytes_a + bytes_b, out.data(), bytes_c);
  stream.finish();
  device.table->mem_free(device.handle, memory);
  return out;
}

template <class Number>
void compare(problem<Number> p) {
  if (void* const there = ::dlopen("libclblast.so.1", RTLD_NOW | RTLD_LOCAL))
    ::dlclose(there);
  else
    GTEST_SKIP() << "CLBlast is not installed (apt: libclblast1)";
  p.fill();
  if (p.beta == Number{})  // C is not read then
    for (std::int64_t j = 0; j < p.n * p.batch; ++j)
      for (std::int64_t i = 0; i < p.m; ++i)
        p.c[static_cast<std::size_t>(i + j * p.ldc)] = Number(std::numeric_limits<double>::quiet_NaN());
  const std::vector<Number> right = p.expected(), library = by_plugin(p, "always"), ours = by_plugin(p, "never");
  const double most = 4e-16 * static_cast<double>(p.k) * 4;
  for (std::size_t at = 0; at < right.size(); ++at) {
    ASSERT_LE(std::abs(library[at] - right[at]), most * (1 + std::abs(right[at]))) << at;
    ASSERT_LE(std::abs(ours[at] - right[at]), most * (1 + std::abs(right[at]))) << at;
  }
  EXPECT_NE(library, ours) << "the same roundings everywhere: did the library compute it?";
}

TEST(opencl_clblast, products_with_gaps_and_transposed_operands) {
  compare<double>({TSR_NO_TRANSPOSE, TSR_TRANSPOSE, 130, 67, 301, 1, 1.5, -0.5});
  compare<double>({TSR_TRANSPOSE, TSR_NO_TRANSPOSE, 64, 200, 300, 1, -1, 0});
}

TEST(opencl_clblast, batches) { compare<double>({TSR_NO_TRANSPOSE, TSR_NO_TRANSPOSE, 70, 65, 300, 3, 1, 0}); }

TEST(opencl_clblast, complex_numbers_conjugated) {
  compare<std::complex<double>>({TSR_CONJUGATE_TRANSPOSE, TSR_NO_TRANSPOSE, 65, 66, 200, 1, {1, 0.5}, {0.25, -1}});
}

}  // namespace
}  // namespace tessera
