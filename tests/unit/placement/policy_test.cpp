// Placement as a table: policy, candidates, choice.
#include "core/placement/policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/base/error.hpp"

namespace tessera::placement {
namespace {

using policy = placement_policy;

TEST(placement, names) {
  EXPECT_EQ(parse_placement("eager"), policy::eager);
  EXPECT_EQ(parse_placement("locality"), policy::locality);
  EXPECT_EQ(parse_placement("pinned"), policy::pinned);
  EXPECT_EQ(parse_placement("cost"), policy::cost);
  try {
    parse_placement("localty");
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::configuration);
    EXPECT_THAT(e.hint(), ::testing::HasSubstr("'locality'"));
    EXPECT_EQ(e.where(), "runtime.placement");
  }
  EXPECT_THROW(parse_placement(""), error);
}

struct row {
  const char* why;
  policy how;
  std::vector<candidate> from;
  std::size_t choice;
};

class placement_table : public ::testing::TestWithParam<row> {};

TEST_P(placement_table, choice) {
  EXPECT_EQ(choose_place(GetParam().how, GetParam().from), GetParam().choice) << GetParam().why;
}

candidate at(double queue, double transfer, std::uint64_t resident = 0, std::uint32_t distance = 0,
             bool hinted = false) {
  candidate c;
  c.queue_seconds = queue;
  c.transfer_seconds = transfer;
  c.resident_bytes = resident;
  c.distance = distance;
  c.hinted = hinted;
  return c;
}

candidate taking(double execute, double queue, double transfer, std::uint64_t resident = 0, std::uint32_t distance = 0,
                 bool hinted = false) {
  candidate c = at(queue, transfer, resident, distance, hinted);
  c.execute_seconds = execute;
  return c;
}

INSTANTIATE_TEST_SUITE_P(
    all, placement_table,
    ::testing::Values(
        row{"the only one", policy::locality, {at(9, 9)}, 0},
        row{"eager: the shortest queue, whatever the data", policy::eager, {at(2, 0, 1000), at(1, 50)}, 1},
        row{"eager: ties go to the nearer", policy::eager, {at(1, 0, 0, 4), at(1, 9, 0, 2), at(1, 0, 0, 3)}, 1},
        row{"eager: then to the first", policy::eager, {at(1, 5, 0, 2), at(1, 0, 0, 2)}, 0},
        row{"locality: no transfer beats a transfer", policy::locality, {at(0, 1), at(0, 0, 100)}, 1},
        row{"locality: a long queue is worth a transfer", policy::locality, {at(3, 0, 100), at(0, 1)}, 1},
        row{"locality: a short one is not", policy::locality, {at(0.5, 0, 100), at(0, 1)}, 0},
        row{"locality: equal cost goes to more resident bytes", policy::locality, {at(1, 0, 10), at(0, 1, 20)}, 1},
        row{"locality: then to the nearer", policy::locality, {at(0, 0, 10, 5), at(0, 0, 10, 1)}, 1},
        row{"locality: then to the first", policy::locality, {at(0, 0, 10, 1), at(0, 0, 10, 1)}, 0},
        row{"a hint beats any cost", policy::locality, {at(0, 0, 100), at(100, 100, 0, 9, true)}, 1},
        row{"a hint beats any queue", policy::eager, {at(0, 0), at(100, 0, 0, 0, true)}, 1},
        row{"among hinted ones the policy decides",
            policy::locality,
            {at(0, 0), at(2, 0, 0, 0, true), at(1, 0, 0, 0, true)},
            2},
        row{"cost: the earliest end", policy::cost, {taking(5, 1, 0), taking(1, 2, 2)}, 1},
        row{"cost: a fast place behind a queue loses to a slow idle one",
            policy::cost,
            {taking(1, 9, 0), taking(5, 0, 1)},
            1},
        row{"cost: ties go to more resident bytes", policy::cost, {taking(1, 1, 1, 10), taking(2, 0, 1, 20)}, 1},
        row{"cost: then to the nearer", policy::cost, {taking(1, 1, 1, 10, 3), taking(3, 0, 0, 10, 2)}, 1},
        row{"cost: then to the first", policy::cost, {taking(1, 1, 1, 10, 2), taking(3, 0, 0, 10, 2)}, 0},
        row{"cost: a hint beats the earliest end", policy::cost, {taking(0, 0, 0), taking(9, 9, 9, 0, 9, true)}, 1},
        row{"pinned without a hint is locality", policy::pinned, {at(0, 1), at(0, 0)}, 1},
        row{"pinned with a hint follows it", policy::pinned, {at(0, 0), at(9, 9, 0, 9, true)}, 1}));

}  // namespace
}  // namespace tessera::placement
