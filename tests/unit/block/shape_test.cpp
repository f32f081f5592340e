// Extents and what is refused.
#include "core/block/shape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tessera {
namespace {

using ::testing::HasSubstr;

error refusal_of(const std::vector<std::int64_t>& extents) {
  try {
    const shape made{std::span<const std::int64_t>(extents)};
  } catch (const error& e) {
    return e;
  }
  return error(error_kind::internal, "accepted");
}

TEST(shape, rank_zero_is_one_element) {
  const shape scalar;
  EXPECT_EQ(scalar.rank(), 0u);
  EXPECT_EQ(scalar.count(), 1);
  EXPECT_TRUE(scalar.extents().empty());
}

TEST(shape, keeps_its_extents) {
  const shape s{3, 1, 4, 1, 5, 9, 2, 6};
  EXPECT_EQ(s.rank(), max_rank);
  EXPECT_EQ(s[0], 3);
  EXPECT_EQ(s[7], 6);
  EXPECT_EQ(s.count(), 3 * 4 * 5 * 9 * 2 * 6);
  EXPECT_EQ(shape({0, 7}).count(), 0);
}

TEST(shape, equality_sees_rank_and_extents) {
  EXPECT_EQ((shape{2, 3}), (shape{2, 3}));
  EXPECT_NE((shape{2, 3}), (shape{3, 2}));
  EXPECT_NE((shape{2}), (shape{2, 0}));
  EXPECT_NE((shape{}), (shape{0}));
}

TEST(shape, refuses_what_cannot_be) {
  const error rank = refusal_of({1, 1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_EQ(rank.kind(), error_kind::usage);
  EXPECT_THAT(rank.message(), HasSubstr("rank 9"));
  EXPECT_THAT(rank.hint(), HasSubstr("8"));
  EXPECT_EQ(refusal_of({2, -3}).kind(), error_kind::usage);
  EXPECT_THAT(refusal_of({2, -3}).message(), HasSubstr("-3"));
  EXPECT_THAT(refusal_of({std::int64_t{1} << 31, std::int64_t{1} << 31, 2}).message(), HasSubstr("2^62"));
  EXPECT_THAT(refusal_of({std::int64_t{1} << 40, std::int64_t{1} << 40}).message(), HasSubstr("2^62"))
      << "overflow of 64 bits";
  EXPECT_EQ(shape({std::int64_t{1} << 31, std::int64_t{1} << 31}).count(), std::int64_t{1} << 62) << "the largest";
}

}  // namespace
}  // namespace tessera
