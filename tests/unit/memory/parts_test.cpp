// The parts of a memory, each by itself: entries, cached chunks, pages, residents, memory of the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "core/block/table.hpp"
#include "core/memory/chunk_cache.hpp"
#include "core/memory/foreign_memory.hpp"
#include "core/memory/page_grid.hpp"
#include "core/memory/resident_list.hpp"
#include "core/memory/slab_table.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/fake_device.hpp"

namespace tessera::memory {
namespace {

using test_support::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(slab_table, entries_are_given_out_once_and_again_when_they_are_free) {
  slab_table table;
  const std::uint32_t first = table.take("m"), second = table.take("m");
  EXPECT_NE(first, second);
  table.at(first).foreign_parts = 7;
  EXPECT_EQ(table.at(second).foreign_parts, 0u);
  table.give_back(first);
  EXPECT_EQ(table.take("m"), first);
}

TEST(slab_table, entries_never_move_while_the_table_grows) {
  slab_table table;
  std::vector<const slab*> known;
  for (std::size_t k = 0; k < 3 * slab_table::per_page; ++k) known.push_back(&table.at(table.take("m")));
  EXPECT_EQ(std::set<const slab*>(known.begin(), known.end()).size(), known.size());
  for (std::uint32_t k = 0; k < known.size(); ++k) EXPECT_EQ(&table.at(k), known[k]);
}

TEST(slab_table, is_full_after_its_last_entry_and_says_whose_it_is) {
  slab_table table;
  for (std::size_t k = 0; k < slab_table::most; ++k) (void)table.take("m");
  const error e = error_of([&] { (void)table.take("numa0"); });
  EXPECT_EQ(e.kind(), error_kind::memory);
  EXPECT_THAT(e.message(), HasSubstr("space numa0 has no room for more than 65536"));
  table.give_back(77);
  EXPECT_EQ(table.take("m"), 77u) << "what becomes free can be had";
}

TEST(slab_table, threads_never_get_the_same_entry) {
  slab_table table;
  constexpr std::size_t threads = 4, each = 500;
  std::array<std::vector<std::uint32_t>, threads> taken;
  std::vector<std::thread> all;
  for (auto& mine : taken)
    all.emplace_back([&] {
      for (std::size_t k = 0; k < each; ++k) {
        const std::uint32_t entry = table.take("m");
        if (k % 3 == 0)
          table.give_back(entry);
        else
          mine.push_back(entry);
      }
    });
  for (std::thread& one : all) one.join();
  std::set<std::uint32_t> different;
  std::size_t count = 0;
  for (const auto& mine : taken) {
    different.insert(mine.begin(), mine.end());
    count += mine.size();
  }
  EXPECT_EQ(different.size(), count);
}

constexpr std::uint64_t whole = 256, smallest = 64;
using sized_chunk = std::pair<std::uint64_t, std::uint64_t>;  // offset, size

/// What a cache gives when it is emptied.
std::vector<sized_chunk> emptied(chunk_cache& cache) {
  std::vector<sized_chunk> out;
  cache.empty([&](block::chunk c, std::uint64_t size) { out.emplace_back(c.offset(), size); });
  return out;
}

TEST(chunk_cache, gives_chunks_of_exactly_the_size_that_is_asked_for) {
  chunk_cache cache(whole, smallest);
  EXPECT_FALSE(cache.take(whole).has_value());
  cache.put(block::chunk::at(0, 512), whole);
  EXPECT_FALSE(cache.take(2 * whole).has_value());
  EXPECT_FALSE(cache.take(smallest).has_value());
  const auto found = cache.take(whole);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->offset(), 512u);
  EXPECT_FALSE(cache.take(whole).has_value());
}

TEST(chunk_cache, the_chunk_that_was_freed_last_comes_first) {
  chunk_cache cache(whole, smallest);
  for (const std::uint64_t at : {0u, 256u, 512u}) cache.put(block::chunk::at(0, at), whole);
  EXPECT_EQ(cache.take(whole)->offset(), 512u) << "it may still be in the processor's cache";
}

TEST(chunk_cache, is_emptied_of_whole_granules_and_again_only_when_something_was_freed) {
  chunk_cache cache(whole, smallest);
  EXPECT_FALSE(cache.empty([](block::chunk, std::uint64_t) {})) << "nothing was freed";
  cache.put(block::chunk::at(0, 0), whole);
  cache.put(block::chunk::at(0, 1024), 4 * whole);
  EXPECT_THAT(emptied(cache), UnorderedElementsAre(Pair(0, whole), Pair(1024, 4 * whole)));
  EXPECT_FALSE(cache.empty([](block::chunk, std::uint64_t) {}));
  cache.note_freed();
  EXPECT_TRUE(cache.empty([](block::chunk, std::uint64_t) {})) << "elsewhere: what lies beside it may join now";
}

TEST(chunk_cache, halves_join_up_to_a_granule) {
  chunk_cache cache(whole, smallest);
  for (const std::uint64_t at : {448u, 256u, 384u, 320u}) cache.put(block::chunk::at(0, at), smallest);
  EXPECT_THAT(emptied(cache), ElementsAre(Pair(256, whole)));
  EXPECT_FALSE(cache.take(smallest).has_value());
}

TEST(chunk_cache, pieces_join_with_their_other_halves_alone) {
  struct joining {
    const char* what;
    std::vector<sized_chunk> freed;        // offset, size
    std::vector<sized_chunk> whole;        // that come out
    std::map<std::uint64_t, int> remains;  // by size
  };
  const std::vector<joining> all{
      {"one half", {{0, 128}}, {}, {{128, 1}}},
      {"the second half and the first of the next", {{128, 128}, {256, 128}}, {}, {{128, 2}}},
      {"both halves", {{0, 128}, {128, 128}}, {{0, 256}}, {}},
      {"quarters of which one is in use", {{0, 64}, {64, 64}, {128, 64}}, {}, {{128, 1}, {64, 1}}},
      {"quarters and a half", {{128, 64}, {0, 128}, {192, 64}}, {{0, 256}}, {}},
  };
  for (const joining& one : all) {
    chunk_cache cache(whole, smallest);
    for (const auto& [at, size] : one.freed) cache.put(block::chunk::at(0, at), size);
    EXPECT_EQ(emptied(cache), one.whole) << one.what;
    for (const std::uint64_t size : {std::uint64_t{64}, std::uint64_t{128}}) {
      int count = 0;
      while (cache.take(size)) ++count;
      EXPECT_EQ(count, one.remains.contains(size) ? one.remains.at(size) : 0) << one.what << ": " << size;
    }
  }
}

TEST(chunk_cache, pieces_of_different_slabs_never_join) {
  chunk_cache cache(whole, smallest);
  cache.put(block::chunk::at(0, 0), 128);
  cache.put(block::chunk::at(1, 128), 128);
  EXPECT_THAT(emptied(cache), IsEmpty());
}

TEST(chunk_cache, the_rest_of_a_piece_that_was_cut_is_nothing_freed) {
  chunk_cache cache(whole, smallest);
  cache.put_rest(block::chunk::at(0, 128), 128);
  EXPECT_FALSE(cache.empty([](block::chunk, std::uint64_t) {}));
  EXPECT_EQ(cache.take(128)->offset(), 128u);
}

TEST(chunk_cache, shows_whole_granules) {
  chunk_cache cache(whole, smallest);
  cache.put(block::chunk::at(0, 0), 64);
  cache.put(block::chunk::at(2, 512), 3 * whole);
  std::vector<sized_chunk> seen;
  cache.for_each([&](block::chunk c, std::uint64_t size) { seen.emplace_back(c.offset(), size); });
  EXPECT_THAT(seen, ElementsAre(Pair(512, 3 * whole)));
}

TEST(page_grid, of_no_page_lets_blocks_lie_anywhere) {
  const page_grid any;
  for (const std::uint64_t at : {0u, 1u, 255u, 4096u}) {
    EXPECT_EQ(any.first_place(at, 1000), at);
    EXPECT_TRUE(any.allows(at, 1000));
  }
}

TEST(page_grid, small_blocks_lie_within_a_page_and_large_ones_begin_with_one) {
  const page_grid grid{.page = 1024};
  struct place {
    std::uint64_t begin, bytes, expected;
  };
  for (const place& one : {place{0, 1024, 0}, place{0, 5000, 0}, place{256, 768, 256}, place{256, 769, 1024},
                           place{1, 5000, 1024}, place{1023, 1, 1023}, place{1023, 2, 1024}, place{1024, 1, 1024},
                           place{2048, 3000, 2048}, place{2049, 1024, 3072}}) {
    EXPECT_EQ(grid.first_place(one.begin, one.bytes), one.expected) << one.begin << " " << one.bytes;
    EXPECT_EQ(grid.allows(one.begin, one.bytes), one.begin == one.expected) << one.begin << " " << one.bytes;
    EXPECT_TRUE(grid.allows(one.expected, one.bytes)) << "the first place is one";
  }
}

TEST(page_grid, has_pages_of_the_size_that_most_bytes_are_in) {
  using blocks = std::map<std::uint64_t, std::uint64_t>;  // by size
  struct choice {
    const char* what;
    blocks of;
    std::uint64_t page;
  };
  const std::vector<choice> all{
      {"none", {}, 0},
      {"one size", {{1024, 10}}, 1024},
      {"small ones that fill pages", {{256, 40}, {1024, 20}}, 1024},
      {"many bytes in small blocks", {{256, 400}, {1024, 20}}, 256},
      {"large ones that are multiples", {{1024, 20}, {2048, 3}}, 1024},
      {"sizes that would leave pages half empty", {{600, 100}, {1024, 60}}, 0},
      {"blocks that are just above a page", {{1024, 10}, {1025, 9}}, 0},
      {"a size of which there is no block", {{256, 0}, {1024, 4}}, 1024},
      {"sizes of which there are no blocks at all", {{256, 0}, {1024, 0}}, 0},
      {"blocks of nothing", {{0, 5}}, 0},
  };
  for (const choice& one : all) EXPECT_EQ(grid_for(one.of).page, one.page) << one.what;
}

TEST(page_grid, never_costs_more_than_an_eighth_of_the_memory) {
  std::mt19937 random(3);
  for (int tries = 0; tries < 200; ++tries) {
    std::map<std::uint64_t, std::uint64_t> blocks;
    const int sizes = 1 + static_cast<int>(random() % 4);
    for (int k = 0; k < sizes; ++k) blocks[256 * (1 + random() % 32)] += 1 + random() % 50;
    const page_grid grid = grid_for(blocks);
    if (grid.page == 0) continue;
    std::uint64_t end = 0, bytes = 0;
    for (const auto& [size, count] : blocks)
      for (std::uint64_t k = 0; k < count; ++k) {
        end = grid.first_place(end, size) + size;
        bytes += size;
      }
    const std::uint64_t pages = (end + grid.page - 1) / grid.page * grid.page;
    EXPECT_LE(pages, bytes + bytes / 8 + blocks.size() * grid.page) << tries << ": a last page of each size is open";
  }
}

TEST(resident_list, is_a_set_in_the_order_of_arrival) {
  block::table blocks;
  resident_list list;
  block::record &a = blocks.create(element_type::f64, shape{2}), &b = blocks.create(element_type::f64, shape{2}),
                &c = blocks.create(element_type::f64, shape{2});
  list.remove(a);
  for (block::record* const one : {&b, &a, &b, &c}) list.add(*one);
  std::vector<const block::record*> order;
  std::uint64_t last = 0;
  for (const resident_list::resident& r : list.all()) {
    order.push_back(r.block);
    EXPECT_GT(r.arrival, last);
    last = r.arrival;
  }
  EXPECT_THAT(order, ElementsAre(&b, &a, &c)) << "once is enough";
  list.remove(b);
  list.remove(b);
  list.add(b);
  EXPECT_EQ(list.all().size(), 3u);
  const auto all = list.all();
  EXPECT_GT(std::ranges::find(all, &b, &resident_list::resident::block)->arrival, last) << "it has come again";
  for (block::record* const one : {&a, &b, &c}) blocks.destroy(*one);
}

TEST(resident_list, is_right_after_any_comings_and_goings) {
  block::table blocks;
  resident_list list;
  std::vector<block::record*> all;
  for (int k = 0; k < 40; ++k) all.push_back(&blocks.create(element_type::f64, shape{2}));
  std::set<const block::record*> expected;
  std::mt19937 random(11);
  for (int step = 0; step < 2'000; ++step) {
    block::record& b = *all[random() % all.size()];
    if (random() % 2 == 0) {
      list.add(b);
      expected.insert(&b);
    } else {
      list.remove(b);
      expected.erase(&b);
    }
  }
  std::set<const block::record*> there;
  list.for_each([&](const block::record& b) { EXPECT_TRUE(there.insert(&b).second) << "twice"; });
  EXPECT_EQ(there, expected);
  for (block::record* const b : all) blocks.destroy(*b);
}

/// Memory of the program, and whom it belongs to.
struct taken_over {
  explicit taken_over(registration_cache* registrations = nullptr) : is(slabs, registrations, name) {}
  std::string name = "numa0";
  slab_table slabs;
  foreign_memory is;
  std::array<std::byte, 4096> memory{};
};

TEST(foreign_memory, has_the_address_that_the_program_gave) {
  taken_over t;
  const block::chunk c = t.is.adopt(t.memory.data(), t.memory.size());
  EXPECT_TRUE(t.is.has(c));
  EXPECT_EQ(c.offset(), 0u);
  EXPECT_EQ(t.slabs.at(c.slab()).base, t.memory.data());
  EXPECT_EQ(t.slabs.at(c.slab()).memory, nullptr) << "no plugin has given it";
  EXPECT_EQ(t.is.pieces(), 1u);
  t.is.forget(c);
  EXPECT_EQ(t.is.pieces(), 0u);
  EXPECT_FALSE(t.is.has(c)) << "it is the program's alone again";
}

TEST(foreign_memory, stays_until_the_last_of_its_chunks_and_lets_its_owner_go_then) {
  taken_over t;
  auto owner = std::make_shared<int>(1);
  const std::weak_ptr<int> alive = owner;
  const block::chunk c = t.is.adopt(t.memory.data(), t.memory.size(), 2, std::move(owner));
  t.is.share(c, 3);
  t.is.forget(c, 4);
  EXPECT_TRUE(t.is.has(c));
  EXPECT_FALSE(alive.expired());
  t.is.forget(c);
  EXPECT_FALSE(t.is.has(c));
  EXPECT_TRUE(alive.expired());
}

TEST(foreign_memory, its_entry_is_used_again) {
  taken_over t;
  const block::chunk first = t.is.adopt(t.memory.data(), 64);
  t.is.forget(first);
  const block::chunk second = t.is.adopt(t.memory.data() + 64, 64);
  EXPECT_EQ(second.slab(), first.slab());
  EXPECT_EQ(t.slabs.at(second.slab()).base, t.memory.data() + 64);
  t.is.forget(second);
}

TEST(foreign_memory, its_owner_may_take_over_memory_itself_when_it_is_let_go) {
  taken_over t;
  struct last_words {
    taken_over* of;
    explicit last_words(taken_over* t) : of(t) {}
    ~last_words() { of->is.forget(of->is.adopt(of->memory.data(), 16)); }
  };
  const block::chunk c = t.is.adopt(t.memory.data(), 64, 1, std::make_shared<last_words>(&t));
  t.is.forget(c);  // would wait for itself if a lock were held
  EXPECT_EQ(t.is.pieces(), 0u);
}

TEST(foreign_memory, that_finds_no_entry_is_not_taken_over) {
  taken_over t;
  for (std::size_t k = 0; k < slab_table::most; ++k) (void)t.slabs.take("numa0");
  auto owner = std::make_shared<int>(1);
  const std::weak_ptr<int> alive = owner;
  const error e = error_of([&] { (void)t.is.adopt(t.memory.data(), t.memory.size(), 1, std::move(owner)); });
  EXPECT_EQ(e.kind(), error_kind::memory);
  EXPECT_EQ(t.is.pieces(), 0u);
}

TEST(foreign_memory, parts_may_end_on_several_threads) {
  taken_over t;
  constexpr std::size_t threads = 4, each = 500;
  const block::chunk c = t.is.adopt(t.memory.data(), t.memory.size(), threads * each);
  std::vector<std::thread> all;
  for (std::size_t k = 0; k < threads; ++k)
    all.emplace_back([&] {
      for (std::size_t n = 0; n < each; ++n) t.is.forget(c);
    });
  for (std::thread& one : all) one.join();
  EXPECT_EQ(t.is.pieces(), 0u);
}

}  // namespace
}  // namespace tessera::memory
