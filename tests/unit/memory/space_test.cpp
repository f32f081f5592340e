// One memory space: reservation, limits, reuse, trimming, foreign memory, waiters, residents.
#include "core/memory/space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "core/block/table.hpp"
#include "tests/support/fake_device.hpp"

namespace tessera::memory {
namespace {

using testing::fake_device;
using testing::fake_world;

constexpr std::uint64_t unit = 256;  // the granule

struct one_space {
  explicit one_space(std::uint64_t limit, std::uint64_t slab, std::uint64_t capacity = 0, bool host = true,
                     std::vector<const plugin::device*> register_with = {}, registration_cache* cache = nullptr)
      : device(world, 0, host, capacity) {
    space_setup setup;
    setup.device = &device.device();
    setup.limit = limit;
    setup.slab_bytes = slab;
    setup.register_with = std::move(register_with);
    setup.registrations = cache;
    is = std::make_unique<space>(setup);
  }
  ~one_space() {
    is.reset();
    EXPECT_EQ(world.live_allocations, 0u) << "every slab is given back";
  }
  std::vector<block::chunk> take(const std::vector<std::uint64_t>& sizes) {
    std::vector<block::chunk> chunks(sizes.size());
    return is->reserve(sizes, chunks) ? chunks : std::vector<block::chunk>{};
  }
  fake_world world;
  fake_device device;
  std::unique_ptr<space> is;
};

TEST(space, reserves_all_or_nothing) {
  one_space s(8 * unit, 8 * unit);
  const auto first = s.take({3 * unit, unit});
  ASSERT_EQ(first.size(), 2u);
  std::vector<block::chunk> untouched(2);
  const std::vector<std::uint64_t> too_much{2 * unit, 3 * unit};
  EXPECT_FALSE(s.is->reserve(too_much, untouched));
  EXPECT_EQ(s.is->statistics().used_bytes, 4 * unit) << "nothing stays reserved";
  EXPECT_EQ(s.is->statistics().exhausted, 1u);
  EXPECT_EQ(s.take({2 * unit, 2 * unit}).size(), 2u);
  EXPECT_EQ(s.is->statistics().used_bytes, s.is->limit());
  EXPECT_TRUE(s.take({0}).empty()) << "even nothing takes a granule";
  EXPECT_EQ(s.is->statistics().peak_bytes, 8 * unit);
  EXPECT_TRUE(s.is->reserve({}, {}));
}

TEST(space, chunks_do_not_overlap_and_have_their_addresses) {
  one_space s(0, 4 * unit);
  EXPECT_EQ(s.is->limit(), ~std::uint64_t{0});
  std::set<std::pair<std::uintptr_t, std::uintptr_t>> ranges;
  for (int k = 1; k < 40; ++k) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(k) * 100;
    const auto chunk = s.take({bytes});
    ASSERT_EQ(chunk.size(), 1u);
    const auto begin = reinterpret_cast<std::uintptr_t>(s.is->host_pointer(chunk[0]));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(testing::resolve(s.is->address_of(chunk[0]))), begin);
    std::fill_n(static_cast<std::byte*>(s.is->host_pointer(chunk[0])), bytes, std::byte{1});
    ranges.emplace(begin, begin + s.is->allocated_size(bytes));
  }
  std::uintptr_t end = 0;
  for (const auto& [from, to] : ranges) {
    EXPECT_LE(end, from);
    end = to;
  }
}

TEST(space, a_device_space_has_no_host_pointers) {
  one_space s(0, unit, 0, false);
  const auto chunk = s.take({unit});
  EXPECT_FALSE(s.is->host_visible());
  EXPECT_EQ(s.is->host_pointer(chunk[0]), nullptr);
  EXPECT_NE(s.is->address_of(chunk[0]).memory, nullptr);
}

TEST(space, freed_chunks_of_one_size_are_reused_without_searching) {
  one_space s(0, 64 * unit);
  const auto chunk = s.take({3 * unit})[0];
  s.is->release(chunk, 3 * unit);
  for (int k = 0; k < 10; ++k) {
    const auto again = s.take({3 * unit - 7});  // rounds to the same
    EXPECT_EQ(again[0].word, chunk.word);
    s.is->release(again[0], 3 * unit - 7);
  }
  EXPECT_EQ(s.is->statistics().reuses, 10u);
  EXPECT_EQ(s.is->statistics().allocations, 11u);
  s.take({2 * unit});
  EXPECT_EQ(s.is->statistics().reuses, 10u) << "another size";
}

TEST(space, cached_pieces_join_when_a_larger_one_is_needed) {
  one_space s(8 * unit, 8 * unit);
  std::vector<std::uint64_t> eight(8, unit);
  const auto pieces = s.take(eight);
  ASSERT_EQ(pieces.size(), 8u);
  for (std::size_t k = 2; k < 6; ++k) s.is->release(pieces[k], unit);
  const auto joined = s.take({4 * unit});
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_EQ(joined[0].offset(), pieces[2].offset());
}

TEST(space, what_was_freed_in_other_sizes_is_used_before_there_is_another_slab) {
  one_space s(1024 * unit, 8 * unit);
  std::vector<block::chunk> small;
  for (int k = 0; k < 32; ++k) small.push_back(s.take({unit}).at(0));
  const std::uint64_t slabs = s.is->statistics().slabs;
  for (const block::chunk c : small) s.is->give_back(c, unit);
  for (int k = 0; k < 4; ++k) EXPECT_EQ(s.take({4 * unit}).size(), 1u);
  EXPECT_EQ(s.is->statistics().slabs, slabs);
}

TEST(space, of_much_memory_grows_with_its_use) {
  constexpr std::uint64_t slab = 64 * unit;
  one_space s(16 * slab, slab);
  std::vector<block::chunk> had;
  std::vector<std::uint64_t> asked;  // what each unit brought
  for (int k = 0; k < 3 * 64; ++k) {
    const std::uint64_t before = s.is->statistics().reserved_bytes;
    had.push_back(s.take({unit}).at(0));
    if (const std::uint64_t now = s.is->statistics().reserved_bytes; now != before)
      asked.push_back((now - before) / unit);
  }
  EXPECT_EQ(asked, (std::vector<std::uint64_t>{4, 4, 8, 16, 32, 64, 64}));
  had.push_back(s.take({80 * unit}).at(0));  // more than a slab
  EXPECT_EQ(s.is->statistics().used_bytes, (3 * 64 + 80) * unit);
  for (std::size_t k = 0; k + 1 < had.size(); ++k) s.is->release(had[k], unit);
  s.is->release(had.back(), 80 * unit);
}

TEST(space, of_little_memory_takes_whole_slabs) {
  constexpr std::uint64_t slab = 64 * unit;
  one_space s(16 * slab - 1, slab);
  const auto one = s.take({unit});
  EXPECT_EQ(s.is->statistics().reserved_bytes, slab);
  s.is->release(one.at(0), unit);
}

TEST(space, empty_slabs_make_room_for_another_size) {
  one_space s(8 * unit, 2 * unit);
  const auto small = s.take({2 * unit, 2 * unit, 2 * unit, 2 * unit});
  ASSERT_EQ(small.size(), 4u);
  for (std::size_t k = 0; k < 3; ++k) s.is->release(small[k], 2 * unit);
  EXPECT_EQ(s.is->statistics().reserved_bytes, 8 * unit);
  EXPECT_EQ(s.is->epoch(), 0u);
  const auto large = s.take({6 * unit});  // fits no slab: the three empty ones go back to the plugin
  ASSERT_EQ(large.size(), 1u);
  EXPECT_EQ(s.is->statistics().reserved_bytes, 8 * unit);
  EXPECT_EQ(s.world.live_allocations, 2u);
  EXPECT_EQ(s.is->statistics().slabs, 2u) << "those given back do not count";
  EXPECT_EQ(s.is->epoch(), 3u) << "their handles may come again and mean other memory";
  EXPECT_EQ(s.is->statistics().used_bytes, 8 * unit);
  s.is->release(large[0], 6 * unit);
  s.is->release(small[3], 2 * unit);
  EXPECT_EQ(s.take({8 * unit}).size(), 1u);
}

TEST(space, blocks_as_large_as_slabs_leave_no_room_between_them) {
  for (const bool host : {true, false}) {
    one_space s(64 * unit, 4 * unit, 0, host);
    EXPECT_EQ(s.is->is_own_slab(4 * unit), host);
    EXPECT_FALSE(s.is->is_own_slab(3 * unit));
    std::vector<block::chunk> had;  // 4, 6, 4, 6 ... units
    for (int k = 0; k < 12; ++k) had.push_back(s.take({(k % 2 == 0 ? 4u : 6u) * unit}).at(0));
    for (std::size_t k = 0; k < 12; k += 2) s.is->release(had[k], 4 * unit);
    EXPECT_EQ(s.is->statistics().used_bytes, 36 * unit);
    const auto large = s.take({28 * unit});
    EXPECT_EQ(large.size(), 1u) << "all that is free together, wherever it was";
    if (!host) continue;
    EXPECT_LE(s.is->statistics().reserved_bytes, s.is->limit());
    EXPECT_TRUE(s.take({unit}).empty());
  }
}

TEST(space, a_freed_slab_is_the_next_block_of_its_size) {
  one_space s(16 * unit, 4 * unit);
  const auto first = s.take({8 * unit, 8 * unit});
  s.is->release(first[0], 8 * unit);
  EXPECT_EQ(s.take({8 * unit}).at(0).word, first[0].word);
  EXPECT_EQ(s.is->statistics().reuses, 1u);
  s.is->release(first[0], 8 * unit);
  EXPECT_EQ(s.is->free_pieces().size(), 1u);
  EXPECT_EQ(s.is->give_slabs_back(), 8 * unit);
  EXPECT_EQ(s.world.live_allocations, 1u);
}

TEST(space, blocks_of_a_device_keep_to_pages_of_the_commonest_size) {
  one_space s(64 * unit, 64 * unit, 0, false);
  block::table table;
  std::vector<block::chunk> chunks;
  const auto hold = [&](std::uint64_t units) {
    s.is->residents().add(table.create(element_type::i64, shape{static_cast<std::int64_t>(units * unit / 8)}));
    chunks.push_back(s.take({units * unit}).at(0));
  };
  hold(3);
  for (int k = 0; k < 15; ++k) hold(4);
  EXPECT_EQ(s.is->grid().page, 0u);
  const auto last = s.take({unit});  // full: blocks at 3, 7, 11, ... and one unit at the end
  EXPECT_EQ(s.is->grid().page, 4 * unit);
  s.is->release(chunks[2], 4 * unit);
  s.is->release(chunks[3], 4 * unit);
  ASSERT_EQ(s.is->free_pieces().size(), 1u) << "joined at once, since nothing is put across pages again";
  EXPECT_EQ(s.is->free_pieces()[0].where.offset(), 7 * unit);
  const auto page = s.take({4 * unit}), rest = s.take({3 * unit});
  EXPECT_EQ(page.at(0).offset(), 8 * unit);
  EXPECT_EQ(rest.at(0).offset(), 12 * unit);
  s.is->release(chunks[6], 4 * unit);
  EXPECT_EQ(s.take({4 * unit}).at(0).offset(), 23 * unit) << "rather across pages than not at all";
  table.for_each([&](block::record& b) { s.is->residents().remove(b); });
}

TEST(space, lets_go_of_pages_for_blocks_that_fill_an_empty_memory_across_them) {
  one_space s(64 * unit, 64 * unit, 0, false);
  block::table table;
  std::vector<block::chunk> chunks;
  for (int k = 0; k < 16; ++k) {
    s.is->residents().add(table.create(element_type::i64, shape{static_cast<std::int64_t>(4 * unit / 8)}));
    chunks.push_back(s.take({4 * unit}).at(0));
  }
  EXPECT_TRUE(s.take({unit}).empty());
  ASSERT_EQ(s.is->grid().page, 4 * unit);
  for (const block::chunk c : chunks) s.is->release(c, 4 * unit);
  EXPECT_EQ(s.take(std::vector<std::uint64_t>(21, 3 * unit)).size(), 21u) << "one to a page are 16";
  table.for_each([&](block::record& b) { s.is->residents().remove(b); });
}

TEST(space, places_the_largest_first_where_they_do_not_fit_in_the_order_given) {
  one_space s(16 * unit, 16 * unit);
  const auto all = s.take({5 * unit, unit, 4 * unit, 6 * unit});
  s.is->release(all[0], 5 * unit);
  s.is->release(all[2], 4 * unit);
  EXPECT_EQ(s.take({3 * unit, unit, 5 * unit}).size(), 3u) << "3 and 1 go where 4 were, if 5 have their place";
}

TEST(space, says_what_is_free) {
  one_space s(16 * unit, 8 * unit);
  const auto all = s.take({2 * unit, unit, 5 * unit});
  s.is->release(all[0], 2 * unit);
  std::map<std::uint64_t, std::uint64_t> free;
  for (const piece& p : s.is->free_pieces()) free[p.where.word] = p.bytes;
  EXPECT_EQ(free, (std::map<std::uint64_t, std::uint64_t>{{all[0].word, 2 * unit}, {block::chunk{}.word, 8 * unit}}));
}

TEST(space, a_smaller_capacity_than_the_limit_counts) {
  one_space s(100 * unit, 4 * unit, 6 * unit);
  EXPECT_EQ(s.is->limit(), 6 * unit);
  EXPECT_EQ(s.take({4 * unit, 2 * unit}).size(), 2u);
  EXPECT_TRUE(s.take({unit}).empty());
}

TEST(space, a_plugin_that_gives_no_memory_makes_it_full_and_its_answer_is_kept) {
  one_space s(0, 4 * unit);
  s.device.state().fail_alloc = TSR_RESOURCE_EXHAUSTED;
  EXPECT_TRUE(s.take({unit}).empty());
  s.device.state().fail_alloc = TSR_OK;
  ASSERT_EQ(s.take({unit}).size(), 1u);
  s.device.state().fail_alloc = TSR_INTERNAL;
  std::vector<block::chunk> chunks(2);
  const std::vector<std::uint64_t> sizes{unit, 8 * unit};  // the second needs a new slab
  EXPECT_FALSE(s.is->reserve(sizes, chunks));
  EXPECT_THAT(s.is->alloc_trouble(), ::testing::HasSubstr("INTERNAL"));
  EXPECT_EQ(s.is->statistics().used_bytes, unit) << "the first of the two is given back";
  s.device.state().fail_alloc = TSR_OK;
  s.device.state().fail_mem_base = TSR_INTERNAL;
  EXPECT_FALSE(s.is->reserve(sizes, chunks));
  EXPECT_THAT(s.is->alloc_trouble(), ::testing::HasSubstr("address of a slab"));
  EXPECT_EQ(s.is->statistics().used_bytes, unit);
  EXPECT_EQ(s.world.live_allocations, 1u) << "a slab without an address is freed at once";
  s.device.state().fail_mem_base = TSR_OK;
  EXPECT_EQ(s.take(sizes).size(), 2u);
  EXPECT_EQ(s.is->alloc_trouble(), "");
}

/// A host space whose plugin aligns allocations to pages.
struct paged_space {
  explicit paged_space(std::uint64_t limit, std::uint64_t slab, bool host = true)
      : device(world, 0, host, 0, "fake", page) {
    space_setup setup;
    setup.device = &device.device();
    setup.limit = limit;
    setup.slab_bytes = slab;
    is = std::make_unique<space>(setup);
  }
  std::optional<block::chunk> take(std::uint64_t bytes) {
    block::chunk one;
    return is->reserve({&bytes, 1}, {&one, 1}) ? std::optional(one) : std::nullopt;
  }
  static constexpr std::uint64_t page = 4096;
  fake_world world;
  fake_device device;
  std::unique_ptr<space> is;
};

TEST(space, small_blocks_of_the_host_share_the_granule_of_large_ones) {
  paged_space s(0, 64 * paged_space::page);
  EXPECT_EQ(s.is->granule(), paged_space::page);
  EXPECT_EQ(s.is->allocated_size(0), 256u);
  EXPECT_EQ(s.is->allocated_size(257), 512u);
  EXPECT_EQ(s.is->allocated_size(2048), 2048u);
  EXPECT_EQ(s.is->allocated_size(2049), 4096u);
  EXPECT_EQ(s.is->allocated_size(4097), 8192u);
  std::set<std::uint64_t> words;
  for (int k = 0; k < 32; ++k) words.insert(s.take(8)->word);
  EXPECT_EQ(words.size(), 32u);
  EXPECT_EQ(*words.rbegin() - *words.begin(), 31 * 256u) << "two granules, without gaps";
  EXPECT_EQ(s.is->statistics().used_bytes, 32 * 256u);
  EXPECT_EQ(s.take(5000)->offset() % paged_space::page, 0u) << "large blocks lie on whole pages";

  paged_space device(0, 64 * paged_space::page, false);
  EXPECT_EQ(device.is->allocated_size(8), paged_space::page) << "a device's own rules are kept";
}

TEST(space, small_blocks_fill_the_limit_whatever_their_order) {
  // By halves, what is left of a granule is always less than what does not fit: as many as the limit has room for find
  // room.
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    paged_space s(4 * paged_space::page, 4 * paged_space::page);
    std::uint64_t left = 4 * paged_space::page;
    while (left >= 256) {
      const std::uint64_t bytes = std::min<std::uint64_t>(1 + random() % paged_space::page, left);
      if (s.is->allocated_size(bytes) > left) continue;
      ASSERT_TRUE(s.take(bytes)) << bytes << " bytes of " << left << ", round " << round;
      left -= s.is->allocated_size(bytes);
    }
    EXPECT_EQ(s.is->statistics().used_bytes, s.is->limit());
  }
}

TEST(space, freed_small_blocks_join_again) {
  paged_space s(4 * paged_space::page, 4 * paged_space::page);
  std::vector<block::chunk> small;
  for (int k = 0; k < 64; ++k) small.push_back(*s.take(100));
  EXPECT_FALSE(s.take(100));
  for (std::size_t k = 0; k < 64; ++k)
    if (k != 17) s.is->release(small[k], 100);
  EXPECT_FALSE(s.take(3 * paged_space::page + 1)) << "one of its pages is in use";
  const auto large = s.take(2 * paged_space::page);
  ASSERT_TRUE(large);
  EXPECT_TRUE(large->offset() > small[17].offset() || large->offset() + 2 * paged_space::page <= small[17].offset());
  s.is->release(*large, 2 * paged_space::page);
  s.is->release(small[17], 100);
  EXPECT_TRUE(s.take(4 * paged_space::page)) << "everything";
}

TEST(space, small_blocks_at_random_never_overlap) {
  paged_space s(64 * paged_space::page, 16 * paged_space::page);
  std::mt19937_64 random(11);
  std::map<std::uint64_t, std::uint64_t> held;  // first byte: bytes
  std::uint64_t used = 0;
  for (int k = 0; k < 20000; ++k) {
    if (random() % 2 == 0 || held.empty()) {
      const std::uint64_t bytes = 1 + random() % (random() % 4 == 0 ? 9000 : 1500), size = s.is->allocated_size(bytes);
      const auto c = s.take(bytes);
      if (!c) continue;
      const auto [place, fresh] = held.emplace(c->word, bytes);
      ASSERT_TRUE(fresh);
      ASSERT_EQ(c->offset() % std::min(size, paged_space::page), 0u);
      if (place != held.begin()) {
        ASSERT_LE(std::prev(place)->first + s.is->allocated_size(std::prev(place)->second), c->word);
      }
      if (std::next(place) != held.end()) {
        ASSERT_LE(c->word + size, std::next(place)->first);
      }
      used += size;
    } else {
      const auto which = std::next(held.begin(), static_cast<std::ptrdiff_t>(random() % held.size()));
      s.is->release({which->first}, which->second);
      used -= s.is->allocated_size(which->second);
      held.erase(which);
    }
    ASSERT_EQ(s.is->statistics().used_bytes, used);
  }
  for (const auto& [word, bytes] : held) s.is->release({word}, bytes);
  EXPECT_EQ(s.is->give_slabs_back(), 64 * paged_space::page) << "no rest of a page keeps a slab";
}

TEST(space, slabs_are_registered_with_devices_that_want_it) {
  fake_world world;
  fake_device wants(world, 1, false, 0), refuses(world, 2, false, 0);
  refuses.state().fail_register = TSR_RESOURCE_EXHAUSTED;
  {
    one_space s(8 * unit, 4 * unit, 0, true, {&wants.device(), &refuses.device()});
    const auto chunk = s.take({unit});
    ASSERT_EQ(wants.state().registered.size(), 1u);
    EXPECT_EQ(wants.state().registered[0].begin, reinterpret_cast<std::uintptr_t>(s.is->host_pointer(chunk[0])));
    EXPECT_EQ(wants.state().registered[0].end - wants.state().registered[0].begin, 4 * unit);
  }
  EXPECT_TRUE(wants.state().registered.empty());
}

TEST(space, foreign_memory_is_a_chunk_that_nobody_frees) {
  fake_world world;
  fake_device wants(world, 1, false, 0);
  registration_cache cache({&wants.device()}, 1 << 20);
  one_space s(4 * unit, 4 * unit, 0, true, {}, &cache);
  std::vector<std::byte> mine(1000);
  const std::uint64_t slabs = s.is->statistics().slabs;
  const block::chunk c = s.is->foreign().adopt(mine.data(), mine.size());
  EXPECT_EQ(s.is->statistics().slabs, slabs) << "memory of the program is no slab";
  EXPECT_EQ(s.is->host_pointer(c), mine.data());
  EXPECT_EQ(s.is->statistics().used_bytes, 0u) << "not from the limit";
  EXPECT_EQ(wants.state().registered.size(), 1u);
  const block::chunk own = s.take({4 * unit})[0];
  EXPECT_NE(own.slab(), c.slab());
  s.is->foreign().forget(c);
  EXPECT_TRUE(wants.state().registered.empty());
  const block::chunk next = s.is->foreign().adopt(mine.data() + 8, 8);
  EXPECT_EQ(next.slab(), c.slab()) << "entries are used again";
  EXPECT_EQ(s.is->host_pointer(next), mine.data() + 8);
  s.is->foreign().forget(next);
}

TEST(space, foreign_memory_in_many_parts_takes_one_entry_and_one_registration) {
  fake_world world;
  fake_device wants(world, 1, false, 0);
  registration_cache cache({&wants.device()}, 1 << 20);
  one_space s(4 * unit, 4 * unit, 0, true, {}, &cache);
  std::vector<std::byte> mine(100'000);
  const block::chunk all = s.is->foreign().adopt(mine.data(), mine.size(), 70'000);
  EXPECT_EQ(wants.state().registered.size(), 1u);
  EXPECT_EQ(s.is->statistics().adopted, 1u);
  const block::chunk one = block::chunk::at(all.slab(), 77);
  EXPECT_EQ(s.is->host_pointer(one), mine.data() + 77);
  EXPECT_TRUE(s.is->foreign().has(one));
  const block::chunk own = s.take({unit})[0];
  EXPECT_FALSE(s.is->foreign().has(own));
  s.is->foreign().forget(one, 69'999);
  EXPECT_EQ(wants.state().registered.size(), 1u) << "one part is left";
  EXPECT_EQ(s.is->host_pointer(all), mine.data());
  s.is->foreign().share(one, 2);
  s.is->foreign().forget(all);
  s.is->foreign().forget(one);
  EXPECT_EQ(wants.state().registered.size(), 1u) << "one of those that came later is left";
  s.is->foreign().forget(all);
  EXPECT_TRUE(wants.state().registered.empty());
  EXPECT_EQ(s.is->statistics().adopted, 0u);
}

// The error used to give back an entry that another block had: the next two shared one.
TEST(space, too_much_foreign_memory_is_refused_and_harms_nothing) {
  one_space s(4 * unit, 4 * unit, 0, true);
  std::vector<std::byte> mine(70'000);
  std::vector<block::chunk> had;
  std::string refused;
  try {
    for (std::byte& b : mine) had.push_back(s.is->foreign().adopt(&b, 1));
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::memory);
    refused = e.what() + e.hint();
  }
  EXPECT_NE(refused.find("65536 slabs and adopted arrays"), std::string::npos) << refused;
  EXPECT_NE(refused.find("fewer and larger arrays"), std::string::npos) << refused;
  ASSERT_EQ(had.size(), 65536u);
  EXPECT_EQ(s.is->statistics().adopted, 65536u);
  for (std::size_t k = 0; k < had.size(); ++k) ASSERT_EQ(s.is->host_pointer(had[k]), &mine[k]);
  s.is->foreign().forget(had.back());
  EXPECT_EQ(s.is->foreign().adopt(&mine[69'000], 1).slab(), had.back().slab()) << "there is room again";
}

// --- waiting ---------------------------------------------------------------------------------------------------------

struct recorder : memory_waiter {
  std::vector<std::uint64_t>* order = nullptr;
  recorder(std::uint64_t a, std::vector<std::uint64_t>& o) : order(&o) {
    age = a;
    wake = [](memory_waiter* self) { static_cast<recorder*>(self)->order->push_back(self->age); };
  }
};

TEST(space, waiters_wake_oldest_first) {
  one_space s(unit, unit);
  std::vector<std::uint64_t> order;
  std::vector<std::unique_ptr<recorder>> waiters;
  for (const std::uint64_t age : {30u, 10u, 20u, 50u, 40u}) {
    waiters.push_back(std::make_unique<recorder>(age, order));
    EXPECT_TRUE(s.is->waiters().wait(*waiters.back(), s.is->waiters().events()));
  }
  EXPECT_TRUE(s.is->waiters().any());
  EXPECT_EQ(s.is->waiters().take_oldest()->age, 10u);
  s.is->waiters().notify();
  EXPECT_EQ(order, (std::vector<std::uint64_t>{20, 30, 40, 50}));
  EXPECT_FALSE(s.is->waiters().any());
  EXPECT_EQ(s.is->waiters().take_oldest(), nullptr);
  s.is->waiters().notify();
  EXPECT_EQ(order.size(), 4u) << "once each";
}

TEST(space, an_event_between_the_failed_reservation_and_the_wait_is_not_lost) {
  one_space s(unit, unit);
  const auto held = s.take({unit});
  const std::uint64_t seen = s.is->waiters().events();
  ASSERT_TRUE(s.take({unit}).empty());
  s.is->release(held[0], unit);  // comes in between
  std::vector<std::uint64_t> order;
  recorder late(1, order);
  EXPECT_FALSE(s.is->waiters().wait(late, seen)) << "try again now";
  EXPECT_FALSE(s.is->waiters().any());
  EXPECT_EQ(s.take({unit}).size(), 1u);
}

TEST(space, no_waiter_sleeps_for_ever_when_threads_race) {
  one_space s(2 * unit, 2 * unit);
  constexpr int threads = 4, rounds = 3000;
  struct sleeper : memory_waiter {
    std::atomic<int> woken{0};
  };
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      sleeper me;
      me.age = static_cast<std::uint64_t>(t);
      me.wake = [](memory_waiter* self) {
        auto& mine = *static_cast<sleeper*>(self);
        mine.woken.store(1);
        mine.woken.notify_one();
      };
      for (int k = 0; k < rounds; ++k) {
        block::chunk chunk;
        for (;;) {
          const std::uint64_t seen = s.is->waiters().events();
          const std::uint64_t size = unit;
          if (s.is->reserve({&size, 1}, {&chunk, 1})) break;
          me.woken.store(0);
          if (s.is->waiters().wait(me, seen)) me.woken.wait(0);  // a lost wake-up hangs the test
        }
        s.is->release(chunk, unit);
      }
    });
  for (auto& t : all) t.join();
  EXPECT_EQ(s.is->statistics().used_bytes, 0u);
  EXPECT_EQ(s.is->statistics().allocations, static_cast<std::uint64_t>(threads * rounds));
}

TEST(space, residents_are_a_set) {
  one_space s(0, unit);
  block::table blocks;
  std::vector<block::record*> all;
  for (int k = 0; k < 5; ++k) all.push_back(&blocks.create(element_type::f64, shape{1}));
  for (auto* b : all) s.is->residents().add(*b);
  s.is->residents().add(*all[2]);
  EXPECT_EQ(s.is->residents().all().size(), 5u);
  s.is->residents().remove(*all[0]);
  s.is->residents().remove(*all[4]);
  s.is->residents().remove(*all[4]);
  std::vector<block::record*> left;
  for (const auto& r : s.is->residents().all()) left.push_back(r.block);
  EXPECT_THAT(left, ::testing::UnorderedElementsAre(all[1], all[2], all[3]));
  std::uint64_t arrival[4] = {};
  for (const auto& r : s.is->residents().all()) arrival[std::ranges::find(all, r.block) - all.begin()] = r.arrival;
  EXPECT_TRUE(arrival[1] < arrival[2] && arrival[2] < arrival[3]) << "in the order in which they came";
  for (auto* b : {all[3], all[1], all[2]}) s.is->residents().remove(*b);
  EXPECT_TRUE(s.is->residents().all().empty());
}

TEST(space, whoever_found_no_room_elsewhere_is_woken_too) {
  one_space child(4 * unit, unit), parent(4 * unit, unit);
  struct counting : memory_waiter {
    int woken = 0;
  } me;
  me.wake = [](memory_waiter* self) { ++static_cast<counting*>(self)->woken; };
  ASSERT_TRUE(child.is->waiters().wait(me, child.is->waiters().events()));
  parent.is->waiters().wake_too(child.is->waiters());
  parent.is->waiters().wake_too(child.is->waiters());  // once is enough
  EXPECT_TRUE(parent.is->waiters().any()) << "so that everybody who frees something there calls notify";
  parent.is->waiters().notify();
  EXPECT_EQ(me.woken, 1);
  EXPECT_FALSE(parent.is->waiters().any());
  parent.is->waiters().notify();
  EXPECT_EQ(me.woken, 1);
}

}  // namespace
}  // namespace tessera::memory
