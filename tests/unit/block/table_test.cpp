// Creation, reuse and names of blocks.
#include "core/block/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace tessera::block {
namespace {

TEST(table, records_start_clean) {
  table blocks;
  record& b = blocks.create(element_type::c128, shape{3, 5});
  EXPECT_EQ(b.bytes, 3u * 5 * 16);
  EXPECT_EQ(b.type, element_type::c128);
  EXPECT_EQ(*b.extents, (shape{3, 5}));
  EXPECT_EQ(b.committed, 0u);
  EXPECT_TRUE(b.valid_spaces.empty());
  EXPECT_EQ(b.flow.next_version, 1u);
  EXPECT_EQ(b.sums, nullptr);
  EXPECT_EQ(b.poison, nullptr);
  EXPECT_FALSE(b.foreign);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&b) % 64, 0u);
}

TEST(table, records_are_reused_and_forget_their_last_life) {
  table blocks;
  record& first = blocks.create(element_type::f64, shape{8});
  const std::uint32_t slot = first.slot;
  first.committed = 17;
  first.valid_spaces.add(0).add(127);
  first.foreign = true;
  first.flow.next_version = 18;
  first.flow.is_private = true;
  first.flow.reader_count = 3;
  first.flow.more = std::make_unique<flow_lists>();
  first.flow.more->readers.assign(4, task_reference{1});
  first.flow.more->commuters.assign(2, task_reference{1});
  first.flow.commuting = commuting::open;
  first.poison = new std::shared_ptr<const failure>(std::make_shared<failure>(failure{"it failed"}));
  blocks.destroy(first);
  EXPECT_EQ(blocks.size(), 0u);

  record& second = blocks.create(element_type::u8, shape{});
  EXPECT_EQ(&second, &first) << "the address is used again";
  EXPECT_EQ(second.slot, slot);
  EXPECT_EQ(second.bytes, 1u);
  EXPECT_EQ(second.committed, 0u);
  EXPECT_TRUE(second.valid_spaces.empty());
  EXPECT_FALSE(second.foreign);
  EXPECT_EQ(second.flow.next_version, 1u);
  EXPECT_FALSE(second.flow.is_private);
  EXPECT_EQ(second.flow.reader_count, 0u);
  EXPECT_TRUE(second.flow.more->readers.empty());
  EXPECT_TRUE(second.flow.more->commuters.empty());
  EXPECT_EQ(second.flow.commuting, commuting::none);
  EXPECT_EQ(second.poison, nullptr);
}

TEST(table, destroyed_records_can_be_kept_from_reuse) {
  table blocks;
  blocks.keep_destroyed(2);
  std::vector<record*> gone;
  for (int k = 0; k < 3; ++k) gone.push_back(&blocks.create(element_type::f64, shape{8}));
  for (record* b : gone) blocks.destroy(*b);  // the third one lets go of the first
  EXPECT_EQ(blocks.size(), 0u) << "kept records are not in use";
  EXPECT_EQ(&blocks.create(element_type::f64, shape{8}), gone[0]);
  std::set<record*> others;
  for (int k = 0; k < 2000; ++k) others.insert(&blocks.create(element_type::f64, shape{8}));
  EXPECT_FALSE(others.contains(gone[1]));
  EXPECT_FALSE(others.contains(gone[2]));
  EXPECT_EQ(others.size(), 2000u);
}

TEST(table, slots_are_unique_and_in_order_and_addresses_stay) {
  table blocks;
  std::vector<record*> all;
  for (int k = 0; k < 2500; ++k) {  // across several chunks
    all.push_back(&blocks.create(element_type::f32, shape{k % 7 + 1}));
    EXPECT_EQ(all.back()->slot, static_cast<std::uint32_t>(k));
  }
  EXPECT_EQ(blocks.size(), 2500u);
  for (int k = 0; k < 2500; ++k)
    EXPECT_EQ(all[static_cast<std::size_t>(k)]->bytes, static_cast<std::uint64_t>(k % 7 + 1) * 4);
  EXPECT_EQ(all[0]->extents, all[7]->extents) << "equal shapes are shared";
  EXPECT_NE(all[0]->extents, all[1]->extents);

  for (std::size_t k = 0; k < all.size(); k += 2) blocks.destroy(*all[k]);
  std::vector<std::uint32_t> seen;
  blocks.for_each([&](record& b) { seen.push_back(b.slot); });
  EXPECT_EQ(seen.size(), 1250u);
  for (std::size_t k = 0; k < seen.size(); ++k) EXPECT_EQ(seen[k], 2 * k + 1);
}

TEST(table, shapes_of_different_rank_are_not_confused) {
  table blocks;
  EXPECT_EQ(blocks.create(element_type::f64, shape{2}).extents->rank(), 1u);
  EXPECT_EQ(blocks.create(element_type::f64, shape{2, 0}).extents->rank(), 2u);
  EXPECT_EQ(blocks.create(element_type::f64, shape{}).extents->rank(), 0u);
  EXPECT_EQ(blocks.create(element_type::f64, shape{2, 0}).bytes, 0u);
}

TEST(table, a_block_of_more_bytes_than_an_address_space_is_refused) {
  table blocks;
  try {
    blocks.create(element_type::c128, shape{std::int64_t{1} << 60});  // 2^64 bytes: 0 in 64 bits
    FAIL() << "accepted";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_THAT(e.message(), ::testing::HasSubstr("bytes"));
  }
  EXPECT_EQ(blocks.size(), 0u) << "nothing was taken";
}

TEST(table, names_of_blocks) {
  table blocks;
  const origin* a = blocks.make_origin("A", {4, 3});
  EXPECT_EQ(name_of(blocks.create(element_type::f64, shape{1}, a, 0)), "A(0,0)");
  EXPECT_EQ(name_of(blocks.create(element_type::f64, shape{1}, a, 7)), "A(3,1)") << "first index fastest";
  EXPECT_EQ(name_of(blocks.create(element_type::f64, shape{1}, a, 11)), "A(3,2)");
  EXPECT_EQ(name_of(blocks.create(element_type::f64, shape{1}, blocks.make_origin("v", {9}), 8)), "v(8)");
  EXPECT_EQ(name_of(blocks.create(element_type::f64, shape{}, blocks.make_origin("s", {}), 0)), "s");
  EXPECT_EQ(name_of(blocks.create(element_type::f64, shape{}, blocks.make_origin("none", {0, 2}), 0)), "none(0,0)");
  record& hidden = blocks.create(element_type::f64, shape{1});
  EXPECT_EQ(name_of(hidden), "block " + std::to_string(hidden.slot));
}

TEST(table, a_name_goes_with_the_last_block_of_its_array) {
  table blocks;
  for (int round = 0; round < 3; ++round) {
    const origin* from = blocks.make_origin("A", {2});
    record& first = blocks.create(element_type::f64, shape{1}, from, 0);
    record& second = blocks.create(element_type::f64, shape{1}, from, 1);
    blocks.destroy(first);
    EXPECT_EQ(name_of(second), "A(1)");
    EXPECT_EQ(blocks.origins(), 1u);
    blocks.destroy(second);
    EXPECT_EQ(blocks.origins(), 0u);
  }
}

TEST(table, several_threads_create_and_destroy) {
  table blocks;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<record*> mine;
      for (int k = 0; k < 3000; ++k) {
        record& b = blocks.create(element_type::i64, shape{t + 1});
        EXPECT_EQ(b.bytes, static_cast<std::uint64_t>(t + 1) * 8);
        b.position = static_cast<std::uint32_t>(t * 10000 + k);
        mine.push_back(&b);
        if (k % 3 == 2) {
          EXPECT_EQ(mine.front()->bytes, static_cast<std::uint64_t>(t + 1) * 8) << "nobody else got it";
          blocks.destroy(*mine.front());
          mine.erase(mine.begin());
        }
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(blocks.size(), 4u * 2000);
  std::set<std::uint32_t> positions;
  blocks.for_each([&](record& b) { EXPECT_TRUE(positions.insert(b.position).second); });
}

}  // namespace
}  // namespace tessera::block
