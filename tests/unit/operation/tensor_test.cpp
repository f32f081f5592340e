// Permutations of up to eight dimensions and fills, against loops, on the host and on a device.
#include "core/operation/tensor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/operation/machines.hpp"

namespace tessera {
namespace {

using namespace tessera::testing;
using ::testing::HasSubstr;

template <class T>
class tensors : public ::testing::Test {
 protected:
  std::mt19937_64 random{77};
};
using types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(tensors, types);

TYPED_TEST(tensors, permute_every_rank) {
  using T = TypeParam;
  for (const bool device : {false, true}) {
    place at(device);
    for (std::size_t rank = 0; rank <= max_rank; ++rank)
      for (int round = 0; round < 6; ++round) {
        std::vector<std::int64_t> extents(rank), permuted(rank);
        for (auto& e : extents) e = 1 + static_cast<std::int64_t>(this->random() % (rank > 5 ? 3 : 5));
        std::vector<std::uint8_t> order(rank);
        std::iota(order.begin(), order.end(), std::uint8_t{0});
        std::ranges::shuffle(order, this->random);
        for (std::size_t d = 0; d < rank; ++d) permuted[d] = extents[order[d]];
        const auto count = std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>{});
        const auto source = dense_matrix<T>::random(count, 1, this->random),
                   before = dense_matrix<T>::random(count, 1, this->random);
        const float alpha = 0.75f, beta = round % 2 == 0 ? 0.0f : -0.5f;
        auto from = array_of(at.rt, "from", extents, source.values),
             to = array_of(at.rt, "to", permuted, before.values);
        permute(at.rt, alpha, from.block(0), std::span<const std::uint8_t>(order), beta, to.block(0), at.here);
        const auto result = to.block(0).read();
        std::vector<std::int64_t> index(rank, 0);  // of the destination
        for (std::int64_t k = 0; k < count; ++k) {
          std::int64_t position = 0;
          for (std::size_t d = rank; d-- > 0;) {  // source dimension d is destination dimension j with order[j] == d
            const std::size_t j = static_cast<std::size_t>(std::ranges::find(order, d) - order.begin());
            position = position * extents[d] + index[j];
          }
          const wide<T> expected = double(alpha) * wide<T>(source(position, 0)) + double(beta) * wide<T>(before(k, 0));
          ASSERT_LE(std::abs(wide<T>(result[k]) - expected), tolerance<T>(1)) << "rank " << rank << " element " << k;
          for (std::size_t d = 0; d < rank && ++index[d] == permuted[d]; ++d) index[d] = 0;
        }
      }
  }
}

TYPED_TEST(tensors, fill_every_element) {
  using T = TypeParam;
  for (const bool device : {false, true}) {
    place at(device);
    for (const std::int64_t n : {1, 7, 1025}) {
      const T value = random_value<T>(this->random);
      auto a = at.rt.template make_array<T>("a", {n}, {n});
      fill(at.rt, a.block(0), value, at.here);
      const auto result = a.block(0).read();
      for (const T& v : result) ASSERT_EQ(v, value);
    }
  }
}

TEST(tensor_operations, fill_of_integers) {
  for (const bool device : {false, true}) {
    place at(device);
    auto a = at.rt.make_array<std::int32_t>("a", {33}, {33});
    auto b = at.rt.make_array<std::int64_t>("b", {33}, {33});
    auto c = at.rt.make_array<std::uint8_t>("c", {33}, {33});
    fill(at.rt, a.block(0), -5, at.here);
    fill(at.rt, b.block(0), std::int64_t{1} << 40, at.here);
    fill(at.rt, c.block(0), std::uint8_t{200}, at.here);
    EXPECT_EQ(a.block(0).read()[32], -5);
    EXPECT_EQ(b.block(0).read()[32], std::int64_t{1} << 40);
    EXPECT_EQ(c.block(0).read()[32], 200);
  }
}

TEST(tensor_operations, permutations_that_do_not_fit_are_refused_before_a_device_sees_them) {
  for (const bool device : {false, true}) {
    place at(device);
    auto from = array_of(at.rt, "from", dense_matrix<double>(3, 3));
    auto to = array_of(at.rt, "to", dense_matrix<double>(3, 3));
    auto wide_to = array_of(at.rt, "wide", {3, 3, 2}, std::vector<double>(18));
    auto half = array_of(at.rt, "half", dense_matrix<float>(3, 3));
    const auto fails = [&](const block::access& into, std::array<std::uint8_t, 8> order, const std::string& text) {
      operation::permute_arguments arguments;
      arguments.permutation = order;
      const std::vector<block_access> accesses{read(from.block(0)), into};
      at.rt.submit_operation(*at.rt.builtin().permute, &arguments, sizeof arguments, accesses, at.here);
      try {
        at.rt.fence();
        ADD_FAILURE() << "accepted: " << text;
      } catch (const error& e) {
        EXPECT_EQ(e.kind(), error_kind::usage);
        EXPECT_THAT(e.what(), HasSubstr(text));
      }
    };
    fails(write(to.block(0)), {0, 0}, "not a permutation of 2 dimensions");
    fails(write(to.block(0)), {0, 2}, "not a permutation of 2 dimensions");
    fails(write(wide_to.block(0)), {1, 0}, "rank 3");
    fails(write(half.block(0)), {1, 0}, "type f32");
  }
}

}  // namespace
}  // namespace tessera
