// Permutations and the other tensor kernels against the plain definition, on random shapes.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <numeric>
#include <random>
#include <vector>

#include "plugins/kit/kernels/permute/kernels.hpp"
#include "plugins/kit/kernels/permute/permute.hpp"
#include "plugins/kit/kernels/tensor_call.hpp"

namespace tessera::kit {
namespace {

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

/// Small whole numbers: every product and sum below is exact in every type, so results are compared for equality.
template <class T>
T number(std::mt19937_64& random) {
  const auto draw = [&] { return static_cast<int>(random() % 19) - 9; };
  if constexpr (requires(T t) { t.imag(); })
    return T(static_cast<typename T::value_type>(draw()), static_cast<typename T::value_type>(draw()));
  else
    return static_cast<T>(draw());
}

class plain_operands final : public operand_resolver {
 public:
  tsr_status resolve(const char*, const tsr_address& address, std::uint64_t, void** out) override {
    *out = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address.offset));
    return TSR_OK;
  }
};

tsr_address address_of(const void* pointer) { return {nullptr, reinterpret_cast<std::uintptr_t>(pointer)}; }

/// destination[i_perm] = alpha source[i] + beta destination[i_perm], element by element.
template <class T>
std::vector<T> by_definition(const tsr_permute& p, const std::vector<T>& source, std::vector<T> destination) {
  const T alpha = *static_cast<const T*>(p.alpha);
  const T beta = p.beta != nullptr ? *static_cast<const T*>(p.beta) : T(0);
  std::vector<std::int64_t> index(p.rank, 0);
  for (std::size_t linear = 0; linear < source.size(); ++linear) {
    std::int64_t to = 0, stride = 1;
    for (std::uint32_t d = 0; d < p.rank; ++d) {
      to += index[p.permutation[d]] * stride;
      stride *= p.extents[p.permutation[d]];
    }
    auto& out = destination[static_cast<std::size_t>(to)];
    out = beta == T(0) ? static_cast<T>(alpha * source[linear]) : static_cast<T>(alpha * source[linear] + beta * out);
    for (std::uint32_t d = 0; d < p.rank && ++index[d] == p.extents[d]; ++d) index[d] = 0;
  }
  return destination;
}

template <class T>
class permute : public testing::Test {};
using all_types = testing::Types<float, double, std::complex<float>, std::complex<double>, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(permute, all_types);

TYPED_TEST(permute, agrees_with_its_definition_on_random_shapes) {
  using T = TypeParam;
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  plain_operands operands;
  for (int round = 0; round < 300; ++round) {
    tsr_permute p{};
    p.struct_size = sizeof p;
    p.type = type_of<T>;
    p.rank = static_cast<std::uint32_t>(random() % 9);
    std::int64_t elements = 1;
    for (std::uint32_t d = 0; d < p.rank; ++d) {
      const std::int64_t limit = p.rank <= 2 ? 90 : p.rank <= 4 ? 14 : 4;
      p.extents[d] = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
      if (random() % 40 == 0) p.extents[d] = 0;
      elements *= p.extents[d];
    }
    std::iota(p.permutation, p.permutation + p.rank, 0u);
    std::shuffle(p.permutation, p.permutation + p.rank, random);
    const T alpha = round % 3 == 0 ? T(1) : number<T>(random);
    const T beta = round % 2 == 0 ? T(0) : number<T>(random);
    p.alpha = &alpha;
    p.beta = round % 4 == 0 ? nullptr : &beta;
    std::vector<T> source(static_cast<std::size_t>(elements)), destination(source.size() + 1);
    for (auto& x : source) x = number<T>(random);
    for (auto& x : destination) x = number<T>(random);
    auto expected = by_definition(p, source, destination);
    p.source = address_of(source.data());
    p.destination = address_of(destination.data());
    permute_call call{};
    ASSERT_EQ(prepare(reporter(), operands, &p, call), TSR_OK);
    ASSERT_EQ(run(call), TSR_OK);
    ASSERT_EQ(destination, expected) << "round " << round << ", rank " << p.rank;
  }
}

TYPED_TEST(permute, with_beta_zero_the_destination_is_not_read) {
  using T = TypeParam;
  if constexpr (std::is_floating_point_v<T>) {
    std::vector<T> source(40 * 30, T(2)), destination(source.size(), std::numeric_limits<T>::quiet_NaN());
    tsr_permute p{};
    p.struct_size = sizeof p;
    p.type = type_of<T>;
    p.rank = 2;
    p.extents[0] = 40;
    p.extents[1] = 30;
    p.permutation[0] = 1;
    const T alpha = 3, beta = T(-0.0);
    p.alpha = &alpha;
    p.beta = &beta;
    p.source = address_of(source.data());
    p.destination = address_of(destination.data());
    plain_operands operands;
    permute_call call{};
    ASSERT_EQ(prepare(reporter(), operands, &p, call), TSR_OK);
    run(call);
    for (const T x : destination) ASSERT_EQ(x, T(6));
  }
}

/// Both compilations of the kernels, on sizes around their tiles, with strides longer than the rows.
template <class Word>
void check_transpose(transpose_kernel kernel) {
  for (const std::int64_t nx : {1, 3, 4, 8, 15, 16, 17, 33, 130})
    for (const std::int64_t ny : {1, 2, 7, 8, 16, 31, 64, 65, 129}) {
      const std::int64_t ss = nx + 3, ds = ny + 5;
      std::vector<Word> source(static_cast<std::size_t>(ss * ny)), destination(static_cast<std::size_t>(ds * nx));
      std::iota(reinterpret_cast<std::uint32_t*>(source.data()),
                reinterpret_cast<std::uint32_t*>(source.data() + source.size()), 1u);
      kernel(source.data(), ss, destination.data(), ds, nx, ny);
      const auto at = [](const std::vector<Word>& v, std::int64_t i) { return v[static_cast<std::size_t>(i)]; };
      for (std::int64_t x = 0; x < nx; ++x) {
        for (std::int64_t y = 0; y < ny; ++y)
          ASSERT_EQ(at(destination, x * ds + y), at(source, y * ss + x)) << nx << " x " << ny;
        for (std::int64_t y = ny; y < ds; ++y) ASSERT_EQ(at(destination, x * ds + y), Word{}) << "beyond the row";
      }
    }
}

TEST(transpose, baseline_kernels) {
  check_transpose<std::uint32_t>(baseline_kernels.transpose4);
  check_transpose<std::uint64_t>(baseline_kernels.transpose8);
  check_transpose<std::complex<double>>(baseline_kernels.transpose16);
}

TEST(transpose, avx2_kernels) {
  if (!permute_uses_avx2()) GTEST_SKIP() << "this processor has no AVX2";
  check_transpose<std::uint32_t>(avx2_kernels.transpose4);
  check_transpose<std::uint64_t>(avx2_kernels.transpose8);
  check_transpose<std::complex<double>>(avx2_kernels.transpose16);
}

TEST(permute_plan, fuses_what_stays_together) {
  const std::int64_t extents[] = {3, 4, 1, 5, 6};
  const std::uint32_t same[] = {0, 1, 2, 3, 4};
  EXPECT_EQ(plan_permute(TSR_F64, 5, extents, same, true).rank, 1u);
  const std::uint32_t halves[] = {3, 4, 2, 0, 1};  // (3 4)(1)(5 6) -> (5 6)(3 4)
  const auto plan = plan_permute(TSR_F64, 5, extents, halves, true);
  EXPECT_EQ(plan.rank, 2u);
  EXPECT_EQ(plan.extents[0], 30);
  EXPECT_EQ(plan.extents[1], 12);
  const std::int64_t pairs[] = {2, 7, 9};
  const std::uint32_t swap_outer[] = {0, 2, 1};
  EXPECT_EQ(plan_permute(TSR_F64, 3, pairs, swap_outer, true).element_bytes, 16u);  // a row of two doubles is one word
  EXPECT_EQ(plan_permute(TSR_F64, 3, pairs, swap_outer, false).element_bytes, 8u);  // but not when it is scaled
}

TEST(permute_plan, walks_in_the_order_that_is_wanted) {
  std::mt19937_64 random(5);
  bool differed = false;
  for (int round = 0; round < 300; ++round) {
    const auto rank = static_cast<std::uint32_t>(1 + random() % 5);
    std::int64_t extents[TSR_MAX_RANK] = {};
    std::uint32_t permutation[TSR_MAX_RANK] = {};
    std::iota(permutation, permutation + rank, 0u);
    std::shuffle(permutation, permutation + rank, random);
    std::size_t count = 1;
    for (std::uint32_t d = 0; d < rank; ++d)
      count *= static_cast<std::size_t>(extents[d] = static_cast<std::int64_t>(1 + random() % 7));
    std::vector<double> source(count), there[2];
    for (double& x : source) x = number<double>(random);
    permute_plan plans[2];
    for (const permute_walk along : {permute_walk::source, permute_walk::destination}) {
      const auto k = static_cast<std::size_t>(along);
      plans[k] = plan_permute(TSR_F64, rank, extents, permutation, true, along);
      there[k].assign(count, -1);
      run_permute(plans[k], TSR_F64, nullptr, nullptr, source.data(), there[k].data());
      const auto& strides = along == permute_walk::source ? plans[k].source_strides : plans[k].destination_strides;
      for (std::uint32_t at = 1; at < plans[k].rank; ++at)
        EXPECT_LT(strides[plans[k].walk[at - 1]], strides[plans[k].walk[at]]);
    }
    EXPECT_EQ(there[0], there[1]);
    differed = differed || !std::equal(plans[0].walk, plans[0].walk + plans[0].rank, plans[1].walk);
  }
  EXPECT_TRUE(differed);
}

TEST(permute_call, refuses_what_cannot_be) {
  double source[6] = {}, destination[6] = {};
  const double one = 1;
  plain_operands operands;
  permute_call call{};
  tsr_permute good{};
  good.struct_size = sizeof good;
  good.type = TSR_F64;
  good.rank = 2;
  good.extents[0] = 2;
  good.extents[1] = 3;
  good.permutation[0] = 1;
  good.alpha = &one;
  good.source = address_of(source);
  good.destination = address_of(destination);
  EXPECT_EQ(prepare(reporter(), operands, &good, call), TSR_OK);
  auto p = good;
  p.rank = 9;
  EXPECT_EQ(prepare(reporter(), operands, &p, call), TSR_INVALID_ARGUMENT);
  p = good;
  p.permutation[1] = 1;
  EXPECT_EQ(prepare(reporter(), operands, &p, call), TSR_INVALID_ARGUMENT);
  p = good;
  p.extents[0] = -1;
  EXPECT_EQ(prepare(reporter(), operands, &p, call), TSR_INVALID_ARGUMENT);
  p = good;
  p.destination = address_of(source + 5);
  EXPECT_EQ(prepare(reporter(), operands, &p, call), TSR_INVALID_ARGUMENT) << "overlap";
  p = good;
  p.type = TSR_BF16;
  EXPECT_EQ(prepare(reporter(), operands, &p, call), TSR_UNIMPLEMENTED);
  p = good;
  p.extents[0] = p.extents[1] = std::int64_t{1} << 40;
  EXPECT_EQ(prepare(reporter(), operands, &p, call), TSR_OUT_OF_RANGE);
  p = good;
  p.struct_size = 8;
  EXPECT_EQ(prepare(reporter(), operands, &p, call), TSR_INVALID_ARGUMENT);
}

TEST(reduce_add, adds_every_source) {
  constexpr std::size_t n = 100003;  // several pieces and an odd rest
  std::vector<std::int32_t> to(n, 5);
  std::vector<std::vector<std::int32_t>> from(3, std::vector<std::int32_t>(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t s = 0; s < 3; ++s) from[s][i] = static_cast<std::int32_t>(i * (s + 1));
  const tsr_address sources[] = {address_of(from[0].data()), address_of(from[1].data()), address_of(from[2].data())};
  plain_operands operands;
  reduce_call call{};
  ASSERT_EQ(prepare(reporter(), operands, TSR_I32, n, address_of(to.data()), sources, 3, call), TSR_OK);
  run(call);
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(to[i], static_cast<std::int32_t>(5 + 6 * i));
  EXPECT_EQ(prepare(reporter(), operands, TSR_I32, -1, address_of(to.data()), sources, 3, call), TSR_INVALID_ARGUMENT);
  EXPECT_EQ(prepare(reporter(), operands, TSR_F16, 1, address_of(to.data()), sources, 3, call), TSR_UNIMPLEMENTED);
}

}  // namespace
}  // namespace tessera::kit
