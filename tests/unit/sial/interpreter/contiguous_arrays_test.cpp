// Regions of contiguous local arrays.
#include "languages/sial/interpreter/contiguous_arrays.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sial/interpreter/sized_program.hpp"

namespace tessera::sial::test {
namespace {

class sial_contiguous_arrays : public ::testing::Test {
 protected:
  /// cl[low0:high0,low1:high1]
  const region& at(std::int64_t low0, std::int64_t high0, std::int64_t low1, std::int64_t high1) {
    values.integer(p.index(0)) = low0;
    values.integer(p.index(1)) = low1;
    values.integer(p.index(2)) = high0;
    values.integer(p.index(3)) = high1;
    return cl;
  }
  const sized_program p;
  const region cl = p.region_of("cl");
  registers values{p.sizes};
  contiguous_arrays regions{p.sizes};
};

TEST_F(sial_contiguous_arrays, give_a_part_of_what_was_allocated) {
  regions.allocate(at(1, 2, 1, 3), values);
  contiguous_arrays::memory& all = regions.only(cl.array);
  EXPECT_EQ(all.extents, (shape{5, 6}));
  EXPECT_EQ(all.data, std::vector<double>(30, 0.0));

  const contiguous_arrays::part part = regions.find(at(2, 2, 3, 3), values);
  EXPECT_EQ(part.whole, &all);
  EXPECT_EQ(part.count, 3);
  EXPECT_EQ(part.extents, (shape{3, 1}));
  const double one_two_three[] = {1, 2, 3};
  scatter(part.whole->data.data(), one_two_three, part.where);
  EXPECT_EQ(all.data[5 * 5 + 2], 1);  // behind five columns of five, the first segment has two
  EXPECT_EQ(all.data[5 * 5 + 4], 3);
  EXPECT_EQ(failure_of([&] { regions.find(at(2, 3, 3, 3), values); }), "cl[2:3,3] lies in no allocated region");
}

TEST_F(sial_contiguous_arrays, do_not_overlap) {
  regions.allocate(at(1, 2, 1, 1), values);
  EXPECT_EQ(failure_of([&] { regions.allocate(at(2, 3, 1, 2), values); }),
            "region cl[2:3,1:2] overlaps one that is allocated");
  regions.allocate(at(3, 3, 1, 2), values);
  EXPECT_EQ(failure_of([&] { regions.only(cl.array); }), "'cl' is handed over as a whole, and has 2 regions");
}

TEST_F(sial_contiguous_arrays, are_released_as_they_were_allocated) {
  regions.allocate(at(1, 2, 1, 2), values);
  EXPECT_EQ(failure_of([&] { regions.release(at(1, 2, 1, 1), values); }),
            "region cl[1:2,1] is deallocated and was not allocated as such");
  regions.release(at(1, 2, 1, 2), values);
  regions.allocate(at(2, 3, 2, 3), values);
}

}  // namespace
}  // namespace tessera::sial::test
