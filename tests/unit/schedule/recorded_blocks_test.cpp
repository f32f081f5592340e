// Which array a recording can no longer be replayed without.
#include "core/schedule/recorded_blocks.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/block/table.hpp"

namespace tessera::schedule {
namespace {

/// Three arrays of one block each, and recordings of any of them.
struct arrays {
  arrays() {
    for (const std::string name : {"a", "b", "c"}) {
      const block::origin* const from = table.make_origin(name, {1});
      blocks.push_back(&table.create(element_type::f64, shape{4}, from));
    }
  }
  ~arrays() {
    for (block::record* b : blocks) table.destroy(*b);
  }
  std::unique_ptr<task::recording> recording_of(const std::vector<std::size_t>& which) {
    auto made = std::make_unique<task::recording>();
    for (const std::size_t k : which) made->blocks.emplace_back().block = blocks[k];
    return made;
  }
  block::record& block(std::size_t k) { return *blocks[k]; }

  block::table table;
  std::vector<block::record*> blocks;
  recorded_blocks followed;
};

TEST(recorded_blocks, a_recording_whose_arrays_are_there_has_lost_nothing) {
  arrays a;
  const auto one = a.recording_of({0, 1});
  EXPECT_EQ(a.followed.ended_array_of(*one), "") << "nobody follows it";
  a.followed.follow(*one);
  EXPECT_EQ(a.followed.ended_array_of(*one), "");
  a.followed.ended(a.block(2));
  EXPECT_EQ(a.followed.ended_array_of(*one), "") << "it does not use that one";
}

TEST(recorded_blocks, the_first_array_that_ended_is_named_to_those_that_use_it_alone) {
  arrays a;
  const auto first = a.recording_of({0, 1}), second = a.recording_of({1, 2});
  a.followed.follow(*first);
  a.followed.follow(*second);
  a.followed.ended(a.block(0));
  EXPECT_EQ(a.followed.ended_array_of(*first), "array 'a'");
  EXPECT_EQ(a.followed.ended_array_of(*second), "");
  a.followed.ended(a.block(1));
  EXPECT_EQ(a.followed.ended_array_of(*first), "array 'a'");
  EXPECT_EQ(a.followed.ended_array_of(*second), "array 'b'");
}

TEST(recorded_blocks, a_hidden_block_is_named_by_its_number) {
  arrays a;
  block::record& hidden = a.table.create(element_type::f64, shape{4});
  task::recording one;
  one.blocks.emplace_back().block = &hidden;
  a.followed.follow(one);
  a.followed.ended(hidden);
  EXPECT_EQ(a.followed.ended_array_of(one), block::name_of(hidden));
  a.table.destroy(hidden);
}

TEST(recorded_blocks, a_record_that_another_block_has_later_is_another_block) {
  arrays a;
  const auto one = a.recording_of({0});
  a.followed.follow(*one);
  a.followed.ended(a.block(0));
  const auto later = a.recording_of({0});  // the same record, of a new array
  a.followed.follow(*later);
  EXPECT_EQ(a.followed.ended_array_of(*later), "");
  a.followed.ended(a.block(0));
  EXPECT_EQ(a.followed.ended_array_of(*later), "array 'a'");
}

TEST(recorded_blocks, what_was_exchanged_is_no_reason_any_more) {
  arrays a;
  const auto one = a.recording_of({0, 1});
  a.followed.follow(*one);
  a.followed.ended(a.block(0));
  a.followed.leave(*one);
  one->blocks[0].block = &a.block(2);
  a.followed.follow(*one);
  EXPECT_EQ(a.followed.ended_array_of(*one), "") << "it uses c instead of a now";
  a.followed.ended(a.block(2));
  EXPECT_EQ(a.followed.ended_array_of(*one), "array 'c'");
}

TEST(recorded_blocks, what_was_not_exchanged_stays_the_reason) {
  arrays a;
  const auto one = a.recording_of({0, 1});
  a.followed.follow(*one);
  a.followed.ended(a.block(0));
  a.followed.ended(a.block(1));
  a.followed.leave(*one);
  one->blocks[0].block = &a.block(2);
  a.followed.follow(*one);
  EXPECT_EQ(a.followed.ended_array_of(*one), "array 'b'");
}

TEST(recorded_blocks, those_of_a_recording_that_left_are_its_own_again) {
  arrays a;
  const auto one = a.recording_of({0, 1}), other = a.recording_of({0});
  a.followed.follow(*one);
  a.followed.follow(*other);
  a.followed.leave(*one);
  a.followed.ended(a.block(0));
  EXPECT_EQ(a.followed.ended_array_of(*one), "");
  EXPECT_EQ(a.followed.ended_array_of(*other), "array 'a'") << "who stays is followed";
}

TEST(recorded_blocks, a_recording_that_ended_is_forgotten_with_its_reasons) {
  arrays a;
  const auto one = a.recording_of({0});
  a.followed.follow(*one);
  a.followed.ended(a.block(0));
  a.followed.forget(*one);
  EXPECT_EQ(a.followed.ended_array_of(*one), "") << "another recording may be at its address";
  a.followed.ended(a.block(0));
  a.followed.forget(*one);
  EXPECT_EQ(a.followed.ended_array_of(*one), "");
}

}  // namespace
}  // namespace tessera::schedule
