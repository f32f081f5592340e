// Static arrays of a worker.
#include "languages/sial/interpreter/static_arrays.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/sial/interpreter/sized_program.hpp"

namespace tessera::sial::test {
namespace {

init_data with_ps2(std::size_t elements) {
  init_data data;
  init_array<double>& ps2 = data.float_arrays["ps2"];
  ps2.values.resize(elements);
  std::iota(ps2.values.begin(), ps2.values.end(), 0.0);
  return data;
}

TEST(sial_static_arrays, begin_with_the_data_or_zeros) {
  const sized_program p("", with_ps2(36));
  static_arrays statics(p.program, p.sizes, p.data);
  EXPECT_EQ(statics.values(p.array("st")), std::vector<double>(36, 0.0));
  EXPECT_EQ(statics.values(p.array("ps2"))[35], 35);
  EXPECT_TRUE(statics.values(p.array("t1")).empty());
}

TEST(sial_static_arrays, refuse_data_of_another_size) {
  const sized_program p("", with_ps2(35));
  EXPECT_EQ(failure_of([&] { static_arrays(p.program, p.sizes, p.data); }),
            "the initialization data have 35 elements for static array 'ps2', which has 36");
}

TEST(sial_static_arrays, know_where_a_block_is) {
  const sized_program p("", with_ps2(36));
  static_arrays statics(p.program, p.sizes, p.data);
  const std::uint32_t ps2 = p.array("ps2");
  std::vector<double> block(2);
  gather(block.data(), statics.values(ps2).data(), statics.part_of(ps2, {1, 3}));
  EXPECT_EQ(block, (std::vector<double>{30, 31}));  // the last column, its first segment
}

}  // namespace
}  // namespace tessera::sial::test
