// The kernels of GPU plugins (on the emulator, on OpenCL) against the host plugin: what the conformance suite has no
// shapes for. TESSERA_TEST_SEED repeats a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#include "tests/unit/plugins/gpu/plugins.hpp"
#include "tests/unit/plugins/opened_plugin.hpp"

namespace tessera {
namespace {

using test::at;
using test::flat_copy;
using test::opened_plugin;
using test::owned_stream;

template <class T>
constexpr tsr_type type_of = TSR_TYPE_NONE;
template <>
constexpr tsr_type type_of<float> = TSR_F32;
template <>
constexpr tsr_type type_of<double> = TSR_F64;
template <>
constexpr tsr_type type_of<std::complex<float>> = TSR_C64;
template <>
constexpr tsr_type type_of<std::complex<double>> = TSR_C128;
template <>
constexpr tsr_type type_of<std::int32_t> = TSR_I32;
template <>
constexpr tsr_type type_of<std::int64_t> = TSR_I64;

/// One device with a stream, and memory that goes with it.
class rig {
 public:
  explicit rig(const std::string& plugin) : m_plugin(plugin), m_stream(device()) {}
  ~rig() {
    for (tsr_memory* memory : m_memory) device().table->mem_free(device().handle, memory);
  }
  rig(const rig&) = delete;
  rig& operator=(const rig&) = delete;

  const opened_plugin::device& device() const { return m_plugin.devices[0]; }
  tsr_stream* stream() const { return m_stream.handle; }

  /// The values in device memory, `offset` bytes into an allocation.
  template <class T>
  tsr_address put(const std::vector<T>& values, std::uint64_t offset = 0) {
    tsr_memory* memory = nullptr;
    opened_plugin::check(device().table->mem_alloc(
        device().handle, 0, offset + std::max<std::uint64_t>(values.size() * sizeof(T), 1), &memory));
    m_memory.push_back(memory);
    const auto copy =
        flat_copy({device().handle, 0}, at(memory, offset), {nullptr, 0}, at(values.data()), values.size() * sizeof(T));
    if (!values.empty()) opened_plugin::check(device().table->copy(device().handle, stream(), &copy));
    m_stream.finish();
    return at(memory, offset);
  }
  template <class T>
  std::vector<T> get(tsr_address from, std::size_t count) {
    std::vector<T> values(count);
    const auto copy = flat_copy({nullptr, 0}, at(values.data()), {device().handle, 0}, from, count * sizeof(T));
    if (count != 0) opened_plugin::check(device().table->copy(device().handle, stream(), &copy));
    m_stream.finish();
    return values;
  }

 private:
  opened_plugin m_plugin;
  owned_stream m_stream;
  std::vector<tsr_memory*> m_memory;
};

std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const char* text = std::getenv("TESSERA_TEST_SEED");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : std::random_device{}();
  }();
  return value;
}

class gpu_kernels : public testing::TestWithParam<std::string> {
 protected:
  gpu_kernels() : random(seed()) { RecordProperty("seed", std::to_string(seed())); }

  template <class T>
  T number() {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(random());
    else if constexpr (std::is_floating_point_v<T>)
      return std::uniform_real_distribution<T>(-1, 1)(random);
    else
      return {number<typename T::value_type>(), number<typename T::value_type>()};
  }
  template <class T>
  std::vector<T> numbers(std::size_t count) {
    std::vector<T> made(count);
    for (T& one : made) one = number<T>();
    return made;
  }
  std::int64_t size(std::int64_t most) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
  }

  std::mt19937_64 random;
  rig gpu{GetParam()}, host{"host"};
  const testing::ScopedTrace trace{__FILE__, __LINE__, "seed " + std::to_string(seed())};
};

INSTANTIATE_TEST_SUITE_P(plugins, gpu_kernels, testing::ValuesIn(test::gpu_plugins()),
                         [](const auto& test) { return test.param; });

template <class T>
void expect_alike(const std::vector<T>& got, const std::vector<T>& wanted, double tolerance) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    if constexpr (std::is_integral_v<T>)
      ASSERT_EQ(got[i], wanted[i]) << "element " << i;
    else
      ASSERT_LE(std::abs(got[i] - wanted[i]), tolerance)
          << "element " << i << ": " << std::abs(got[i]) << " and " << std::abs(wanted[i]);
  }
}

/// Calls function(T{}) for all types of TENSOR tables.
template <class Function>
void each_type(Function&& function) {
  function(float{});
  function(double{});
  function(std::complex<float>{});
  function(std::complex<double>{});
  function(std::int32_t{});
  function(std::int64_t{});
}

TEST_P(gpu_kernels, permute_all_types_all_ranks) {
  each_type([&](auto zero) {
    using T = decltype(zero);
    for (int round = 0; round < 24; ++round) {
      tsr_permute p{};
      p.struct_size = sizeof p;
      p.type = type_of<T>;
      p.rank = static_cast<std::uint32_t>(random() % (TSR_MAX_RANK + 1));
      std::size_t count = 1;
      const std::int64_t longest = p.rank <= 2 ? 90 : p.rank <= 4 ? 12 : 4;
      for (std::uint32_t d = 0; d < p.rank; ++d) {
        p.extents[d] = random() % 20 == 0 ? 0 : 1 + size(longest);
        if (round % 4 == 0 && d == 0) p.extents[d] = 2;  // rows that move as one word
        count *= static_cast<std::size_t>(p.extents[d]);
      }
      std::iota(p.permutation, p.permutation + p.rank, 0u);
      std::shuffle(p.permutation + (round % 4 == 0 && p.rank > 0 ? 1 : 0), p.permutation + p.rank, random);
      const T one(1), none(0), some = number<T>(), other = number<T>();
      p.alpha = round % 2 == 0 ? &one : &some;
      p.beta = round % 2 == 0 ? &none : &other;
      const auto source = numbers<T>(count), target = numbers<T>(count);
      const std::uint64_t offset = round % 3 == 0 ? sizeof(T) : 0;  // words that do not lie on words
      std::vector<T> results[2];
      for (rig* one_rig : {&gpu, &host}) {
        p.source = one_rig->put(source, offset);
        p.destination = one_rig->put(target, offset);
        opened_plugin::check(one_rig->device().tensor->permute(one_rig->device().handle, one_rig->stream(), &p));
        results[one_rig == &host] = one_rig->get<T>(p.destination, count);
      }
      expect_alike(results[0], results[1], 1e-5);
    }
  });
}

TEST_P(gpu_kernels, sums_of_more_arrays_than_one_launch_takes) {
  each_type([&](auto zero) {
    using T = decltype(zero);
    for (const std::size_t parts : {0u, 1u, 16u, 17u, 40u}) {
      const auto count = static_cast<std::size_t>(size(700));
      const auto target = numbers<T>(count);
      std::vector<std::vector<T>> given;
      for (std::size_t s = 0; s < parts; ++s) given.push_back(numbers<T>(count));
      std::vector<T> results[2];
      for (rig* one : {&gpu, &host}) {
        const tsr_address to = one->put(target);
        std::vector<tsr_address> sources;
        for (const auto& part : given) sources.push_back(one->put(part));
        opened_plugin::check(one->device().tensor->reduce_add(one->device().handle, one->stream(), type_of<T>,
                                                              static_cast<std::int64_t>(count), to, sources.data(),
                                                              static_cast<std::uint32_t>(parts)));
        results[one == &host] = one->get<T>(to, count);
      }
      expect_alike(results[0], results[1], 1e-4);
    }
  });
}

TEST_P(gpu_kernels, vectors_that_run_backwards) {
  for (const auto& [incx, incy] : {std::pair<std::int64_t, std::int64_t>{-1, 1}, {2, -3}, {-2, -1}}) {
    using T = std::complex<double>;
    tsr_vector_operation v{};
    v.struct_size = sizeof v;
    v.type = TSR_C128;
    v.n = size(900);
    v.incx = incx, v.incy = incy;
    const auto n = static_cast<std::size_t>(v.n);
    const auto x = numbers<T>(n * static_cast<std::size_t>(std::abs(incx)) + 1),
               y = numbers<T>(n * static_cast<std::size_t>(std::abs(incy)) + 1);
    const T alpha = number<T>();
    v.alpha = &alpha;
    std::vector<T> ys[2], dots[2];
    for (rig* one : {&gpu, &host}) {
      v.x = one->put(x), v.y = one->put(y), v.result = one->put(std::vector<T>(1));
      opened_plugin::check(one->device().blas->dot(one->device().handle, one->stream(), &v));
      dots[one == &host] = one->get<T>(v.result, 1);
      opened_plugin::check(one->device().blas->axpy(one->device().handle, one->stream(), &v));
      ys[one == &host] = one->get<T>(v.y, y.size());
    }
    expect_alike(dots[0], dots[1], 1e-10);
    expect_alike(ys[0], ys[1], 1e-14);
  }
}

TEST_P(gpu_kernels, norms_neither_overflow_nor_vanish_and_do_not_depend_on_workspace_being_there) {
  for (const double magnitude : {1e-200, 1.0, 1e200}) {
    const std::size_t n = 20000;
    auto x = numbers<double>(n);
    for (double& one : x) one *= magnitude;
    tsr_vector_operation v{};
    v.struct_size = sizeof v;
    v.type = TSR_F64;
    v.n = static_cast<std::int64_t>(n);
    v.incx = v.incy = 1;
    v.x = v.y = gpu.put(x);
    long double squares = 0;
    for (const double one : x) squares += static_cast<long double>(one) * one;
    const double wanted = static_cast<double>(std::sqrt(squares));
    for (const bool with_workspace : {false, true}) {
      v.result = gpu.put(std::vector<double>(1));
      v.workspace = {};
      if (with_workspace) {
        opened_plugin::check(gpu.device().blas->workspace(gpu.device().handle, TSR_BLAS_NRM2, &v, &v.workspace.bytes));
        ASSERT_GT(v.workspace.bytes, 0u);
        v.workspace.address = gpu.put(std::vector<char>(v.workspace.bytes));
      }
      opened_plugin::check(gpu.device().blas->nrm2(gpu.device().handle, gpu.stream(), &v));
      EXPECT_NEAR(gpu.get<double>(v.result, 1)[0] / wanted, 1, 1e-12) << "magnitude " << magnitude;
    }
  }
}

TEST_P(gpu_kernels, batches_of_more_products_than_one_launch_takes) {
  using T = float;
  const std::int64_t m = 5, n = 3, k = 7, batch = 70;
  const auto a = numbers<T>(static_cast<std::size_t>(m * k * batch)),
             b = numbers<T>(static_cast<std::size_t>(k * n * batch));
  const auto c = numbers<T>(static_cast<std::size_t>(m * n * batch));
  const T alpha = 2, beta = -1;
  std::vector<T> results[2];
  for (rig* one : {&gpu, &host}) {
    tsr_gemm g{};
    g.struct_size = sizeof g;
    g.type = TSR_F32;
    g.m = m, g.n = n, g.k = k, g.lda = m, g.ldb = k, g.ldc = m;
    g.alpha = &alpha, g.beta = &beta;
    g.batch = batch;
    const tsr_address at_a = one->put(a), at_b = one->put(b), at_c = one->put(c);
    std::vector<tsr_address> as, bs, cs;
    for (std::int64_t i = 0; i < batch; ++i) {
      const auto moved = [&](tsr_address base, std::int64_t elements) {
        return tsr_address{base.memory, base.offset + static_cast<std::uint64_t>(i * elements) * sizeof(T)};
      };
      as.push_back(moved(at_a, m * k)), bs.push_back(moved(at_b, k * n)), cs.push_back(moved(at_c, m * n));
    }
    g.a_array = as.data(), g.b_array = bs.data(), g.c_array = cs.data();
    opened_plugin::check(one->device().blas->gemm_batched(one->device().handle, one->stream(), &g));
    results[one == &host] = one->get<T>(at_c, c.size());
  }
  expect_alike(results[0], results[1], 1e-4);
}

/// Tiny, odd and empty ones, all types and transposes, into a part of a larger matrix.
TEST_P(gpu_kernels, products_of_random_shapes) {
  const auto round = [&](auto zero) {
    using T = decltype(zero);
    for (int i = 0; i < 12; ++i) {
      tsr_gemm g{};
      g.struct_size = sizeof g;
      g.type = type_of<T>;
      g.transpose_a = static_cast<tsr_transpose>(random() % 3),
      g.transpose_b = static_cast<tsr_transpose>(random() % 3);
      const std::int64_t most = i < 6 ? 5 : 70;
      g.m = size(most), g.n = size(most), g.k = size(most);
      const bool plain_a = g.transpose_a == TSR_NO_TRANSPOSE, plain_b = g.transpose_b == TSR_NO_TRANSPOSE;
      g.lda = std::max<std::int64_t>(plain_a ? g.m : g.k, 1) + size(3),
      g.ldb = std::max<std::int64_t>(plain_b ? g.k : g.n, 1) + size(3);
      g.ldc = std::max<std::int64_t>(g.m, 1) + size(3);
      const auto a = numbers<T>(static_cast<std::size_t>(g.lda * (plain_a ? g.k : g.m))),
                 b = numbers<T>(static_cast<std::size_t>(g.ldb * (plain_b ? g.n : g.k)));
      const auto c = numbers<T>(static_cast<std::size_t>(g.ldc * g.n));
      const T alpha = i % 4 == 3 ? T(0) : number<T>(), beta = i % 3 == 2 ? T(0) : number<T>();
      g.alpha = &alpha, g.beta = &beta;
      std::vector<T> results[2];
      for (rig* one : {&gpu, &host}) {
        g.a = one->put(a), g.b = one->put(b), g.c = one->put(c);
        opened_plugin::check(one->device().blas->gemm(one->device().handle, one->stream(), &g));
        results[one == &host] = one->get<T>(g.c, c.size());
      }
      expect_alike(results[0], results[1], type_of<T> == TSR_F32 || type_of<T> == TSR_C64 ? 1e-4 : 1e-12);
    }
  };
  round(float{});
  round(double{});
  round(std::complex<float>{});
  round(std::complex<double>{});
}

/// Updates of one triangle, solutions from either side, factors: tiny and empty ones.
TEST_P(gpu_kernels, small_triangles) {
  using T = double;
  for (std::int64_t n = 0; n < 6; ++n) {
    const auto elements = static_cast<std::size_t>(n * n);
    auto a = numbers<T>(elements);
    for (std::int64_t i = 0; i < n; ++i) a[static_cast<std::size_t>(i * n + i)] = 10;
    const auto b = numbers<T>(elements);
    const T alpha = number<T>(), beta = number<T>();
    for (const tsr_triangle triangle : {TSR_LOWER, TSR_UPPER}) {
      std::vector<T> results[2];
      for (rig* one : {&gpu, &host}) {
        tsr_potrf p{};
        p.struct_size = sizeof p;
        p.type = TSR_F64;
        p.triangle = triangle;
        p.n = n, p.lda = std::max<std::int64_t>(n, 1);
        p.a = one->put(a);
        p.info = one->put(std::vector<std::int32_t>{-1});
        opened_plugin::check(one->device().blas->potrf(one->device().handle, one->stream(), &p));
        EXPECT_EQ(one->get<std::int32_t>(p.info, 1)[0], 0);
        tsr_trsm t{};
        t.struct_size = sizeof t;
        t.type = TSR_F64;
        t.triangle = triangle;
        t.side = n % 2 == 0 ? TSR_LEFT : TSR_RIGHT;
        t.m = t.n = n, t.lda = t.ldb = p.lda;
        t.alpha = &alpha;
        t.a = p.a, t.b = one->put(b);
        opened_plugin::check(one->device().blas->trsm(one->device().handle, one->stream(), &t));
        tsr_syrk s{};
        s.struct_size = sizeof s;
        s.type = TSR_F64;
        s.triangle = triangle;
        s.n = n, s.k = n, s.lda = s.ldc = p.lda;
        s.alpha = &alpha, s.beta = &beta;
        s.a = t.b, s.c = p.a;
        opened_plugin::check(one->device().blas->syrk(one->device().handle, one->stream(), &s));
        results[one == &host] = one->get<T>(p.a, elements);
      }
      expect_alike(results[0], results[1], 1e-10);
    }
  }
}

/// Sizes beyond several tiles and panels, both triangles, both sides.
TEST_P(gpu_kernels, large_triangles) {
  using T = std::complex<double>;
  const std::int64_t n = 130, columns = 150;
  const auto elements = static_cast<std::size_t>(n * n);
  for (const tsr_triangle triangle : {TSR_LOWER, TSR_UPPER}) {
    auto a = numbers<T>(elements);
    for (std::int64_t i = 0; i < n; ++i)
      a[static_cast<std::size_t>(i * n + i)] = T(2.0 * static_cast<double>(n));  // only its real part counts
    const auto b = numbers<T>(static_cast<std::size_t>(n * columns));
    const T alpha = number<T>();
    std::vector<T> factors[2], solved[2][2];
    for (rig* one : {&gpu, &host}) {
      const bool is_host = one == &host;
      tsr_potrf p{};
      p.struct_size = sizeof p;
      p.type = TSR_C128;
      p.triangle = triangle;
      p.n = p.lda = n;
      p.a = one->put(a);
      p.info = one->put(std::vector<std::int32_t>{-1});
      opened_plugin::check(one->device().blas->potrf(one->device().handle, one->stream(), &p));
      EXPECT_EQ(one->get<std::int32_t>(p.info, 1)[0], 0);
      factors[is_host] = one->get<T>(p.a, elements);
      for (const tsr_side side : {TSR_LEFT, TSR_RIGHT}) {
        tsr_trsm t{};
        t.struct_size = sizeof t;
        t.type = TSR_C128;
        t.side = side;
        t.triangle = triangle;
        t.transpose = TSR_CONJUGATE_TRANSPOSE;
        t.m = side == TSR_LEFT ? n : columns;
        t.n = side == TSR_LEFT ? columns : n;
        t.alpha = &alpha;
        t.lda = n, t.ldb = t.m;
        t.a = p.a, t.b = one->put(b);
        opened_plugin::check(one->device().blas->trsm(one->device().handle, one->stream(), &t));
        solved[is_host][side] = one->get<T>(t.b, b.size());
      }
    }
    expect_alike(factors[0], factors[1], 1e-11);
    for (const tsr_side side : {TSR_LEFT, TSR_RIGHT}) expect_alike(solved[0][side], solved[1][side], 1e-11);
  }
}

TEST_P(gpu_kernels, refuses_operands_that_are_not_the_devices_own) {
  const std::vector<double> there(8);
  tsr_vector_operation v{};
  v.struct_size = sizeof v;
  v.type = TSR_F64;
  v.n = 8;
  v.incx = v.incy = 1;
  const double alpha = 1;
  v.alpha = &alpha;
  v.x = at(there.data());
  EXPECT_EQ(gpu.device().blas->scal(gpu.device().handle, gpu.stream(), &v), TSR_INVALID_ARGUMENT);
  EXPECT_NE(opened_plugin::last_error().find("host pointer"), std::string::npos);
  v.x = gpu.put(std::vector<double>(7));
  EXPECT_EQ(gpu.device().blas->scal(gpu.device().handle, gpu.stream(), &v), TSR_OUT_OF_RANGE);
  v.type = TSR_I32;
  EXPECT_EQ(gpu.device().blas->scal(gpu.device().handle, gpu.stream(), &v), TSR_UNIMPLEMENTED);
}

}  // namespace
}  // namespace tessera
