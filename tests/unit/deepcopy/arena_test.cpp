// A graph as blocks: pointers for another address, what is brought back, and arenas that have moved.
#include "hierarchy/deepcopy/arena.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/unit/deepcopy/structures.hpp"

namespace deepcopy_test {
namespace {

using namespace tessera::hierarchy;
using tessera::copy_form;
using tessera::detail::open_arena;

std::uint64_t number_of(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

/// A ring of three with arrays, and an arena that holds it.
struct arena : testing::Test {
  std::vector<std::vector<double>> values{{1, 2, 3}, {4}, {5, 6}};
  link ring[3];
  std::unique_ptr<object_graph> graph;
  std::unique_ptr<arena_layout> layout;
  std::vector<std::uint64_t> memory;
  std::uint64_t number = 0;

  arena() {
    for (int k = 0; k < 3; ++k)
      ring[k] = {values[std::size_t(k)].data(), &ring[(k + 1) % 3], &ring[0], int(values[std::size_t(k)].size()), k};
    graph = std::make_unique<object_graph>(&ring[0], tessera::detail::type_of<link>(), tessera::paths{});
    layout = std::make_unique<arena_layout>(*graph, copy_form::one_arena);
    std::vector<std::uint64_t> offsets;
    for (const graph_pointer& p : graph->pointers()) offsets.push_back(layout->place_of(p.where).offset);
    number = arena_numbers::add(std::move(offsets));
    memory.resize(layout->bytes_of(0) / 8 + 1);
  }
  ~arena() override { arena_numbers::remove(number); }
  std::byte* begin() { return reinterpret_cast<std::byte*>(memory.data()); }
  void write_for(std::uint64_t base) {
    std::byte* const to = begin();
    layout->write(*graph, std::span(&to, 1), std::span(&base, 1), number);
  }
  static void expect_ring(const link& root) {
    const link* at = &root;
    for (int k = 0; k < 3; ++k, at = at->next) {
      ASSERT_EQ(at->number, k);
      EXPECT_EQ(at->first, &root);
    }
    EXPECT_EQ(at, &root);
    EXPECT_EQ(root.values[2], 3.0);
    EXPECT_EQ(root.next->next->values[1], 6.0);
  }
};

TEST_F(arena, holds_a_structure_of_its_own) {
  write_for(number_of(begin()));
  std::vector<std::uint64_t> scratch;
  auto& root = *static_cast<link*>(open_arena(begin(), layout->bytes_of(0), true, scratch));
  for (auto& v : values) std::fill(v.begin(), v.end(), -1.0);  // the originals have nothing to do with it
  expect_ring(root);
  EXPECT_TRUE(scratch.empty());
  EXPECT_EQ(layout->pointers(), 9u);
}

TEST_F(arena, is_made_for_where_it_lies_when_it_is_opened_elsewhere) {
  for (const std::uint64_t base : {std::uint64_t{0}, std::uint64_t{0x7000'0000'0000}}) {
    write_for(base);
    std::vector<std::uint64_t> scratch;
    expect_ring(*static_cast<link*>(open_arena(begin(), layout->bytes_of(0), true, scratch)));
    EXPECT_TRUE(scratch.empty());
    write_for(base);
    const std::vector<std::uint64_t> before = memory;
    expect_ring(*static_cast<link*>(open_arena(begin(), layout->bytes_of(0), false, scratch)));
    EXPECT_EQ(memory, before) << "a reader has changed it";
  }
}

TEST_F(arena, keeps_pointers_that_tasks_have_changed) {
  write_for(0);
  std::vector<std::uint64_t> scratch;
  auto& root = *static_cast<link*>(open_arena(begin(), layout->bytes_of(0), true, scratch));
  root.next->values = root.values;
  root.first = nullptr;
  std::vector<std::uint64_t> elsewhere = memory;
  auto& moved = *static_cast<link*>(
      open_arena(reinterpret_cast<std::byte*>(elsewhere.data()), layout->bytes_of(0), true, scratch));
  EXPECT_NE(moved.values, root.values);
  EXPECT_EQ(moved.next->values, moved.values);
  EXPECT_EQ(moved.first, nullptr);
}

TEST_F(arena, is_refused_when_its_copy_has_ended) {
  write_for(0);
  arena_numbers::remove(number);
  std::vector<std::uint64_t> scratch;
  EXPECT_THAT(tessera::test_support::message_of([&] { open_arena(begin(), layout->bytes_of(0), true, scratch); },
                                                tessera::error_kind::usage),
              testing::HasSubstr("has ended"));
}

TEST_F(arena, brings_numbers_and_elements_back_and_no_pointers) {
  write_for(0);
  std::vector<std::uint64_t> scratch;
  auto& root = *static_cast<link*>(open_arena(begin(), layout->bytes_of(0), true, scratch));
  root.values[1] = 20;
  root.next->number = 77;
  root.next->next = &root;
  layout->bring_back(*graph, 0, begin());
  EXPECT_EQ(values[0], (std::vector<double>{1, 20, 3}));
  EXPECT_EQ(ring[1].number, 77);
  EXPECT_EQ(ring[1].next, &ring[2]);
  EXPECT_EQ(ring[0].values, values[0].data());
}

TEST_F(arena, in_a_block_per_piece_has_pointers_from_block_to_block) {
  const arena_layout apart(*graph, copy_form::block_per_object);
  ASSERT_EQ(apart.blocks(), 6u);
  std::vector<std::vector<std::uint64_t>> blocks;
  std::vector<std::byte*> to;
  std::vector<std::uint64_t> bases;
  for (std::size_t k = 0; k < apart.blocks(); ++k) {
    blocks.emplace_back(apart.bytes_of(k) / 8 + 1);
    to.push_back(reinterpret_cast<std::byte*>(blocks.back().data()));
    bases.push_back(number_of(to.back()));
  }
  apart.write(*graph, to, bases, number);
  expect_ring(*reinterpret_cast<link*>(to[0] + apart.place_of(graph->root()).offset));
}

TEST_F(arena, that_is_copied_for_a_reader_is_aligned_as_blocks_are) {
  for (std::size_t words = 0; words < 40; ++words) {
    write_for(0);
    const std::vector<std::uint64_t> other_places(words);  // so that the copies lie elsewhere
    std::vector<std::uint64_t> scratch;
    const auto* const root = static_cast<std::byte*>(open_arena(begin(), layout->bytes_of(0), false, scratch));
    ASSERT_EQ(number_of(root - layout->place_of(graph->root()).offset) % 256, 0u);
  }
}

struct alignas(64) wide_element {
  double values[8];
};
struct pool_user {
  std::uint8_t* pool = nullptr;
  wide_element* elements = nullptr;
};
void describe(pool_user& p, tessera::description& to) {
  to.array("pool", p.pool, 1024);
  to.array("elements", p.elements, 2);
}

TEST(arena_layout, aligns_elements_in_a_pool_of_bytes) {
  alignas(64) std::uint8_t memory[2048];
  for (const std::size_t begin : {0, 8, 16, 48}) {
    pool_user user{memory + begin, reinterpret_cast<wide_element*>(memory + 128)};
    const object_graph graph(&user, tessera::detail::type_of<pool_user>(), {});
    for (const copy_form form : {copy_form::one_arena, copy_form::block_per_object}) {
      const arena_layout layout(graph, form);
      EXPECT_EQ(layout.place_of(*graph.find(user.elements)).offset % 64, 0u) << begin;
      EXPECT_EQ(layout.place_of(*graph.find(user.elements)).offset - layout.place_of(*graph.find(user.pool)).offset,
                128 - begin);
    }
  }
}

TEST(arena_layout, brings_nothing_back_to_constants) {
  double table[2] = {1, 2}, own[2] = {3, 4};
  table_user user{table, own, 2, 2, 5};
  const object_graph graph(&user, tessera::detail::type_of<table_user>(), {});
  const arena_layout layout(graph, copy_form::one_arena);
  std::vector<std::uint64_t> memory(layout.bytes_of(0) / 8 + 1);
  auto* to = reinterpret_cast<std::byte*>(memory.data());
  const std::uint64_t base = number_of(to);
  layout.write(graph, std::span(&to, 1), std::span(&base, 1), 0);
  auto& copy = *reinterpret_cast<table_user*>(to + layout.place_of(graph.root()).offset);
  EXPECT_EQ(copy.undescribed, 5);
  const_cast<double&>(copy.table[0]) = 9;
  copy.own[0] = 9;
  copy.undescribed = 9;
  layout.bring_back(graph, 0, to);
  EXPECT_EQ(table[0], 1);
  EXPECT_EQ(own[0], 9);
  EXPECT_EQ(user.undescribed, 5);
}

/// A few elements are inside of the object; and bytes that a second array of objects shares.
struct small_buffer {
  double inside[3] = {1, 2, 3};
  double* values = inside;
  std::int64_t undescribed = 5;
};
void describe(small_buffer& b, tessera::description& to) { to.array("values", b.values, 3); }
struct pool_of_objects {
  std::uint8_t* pool = nullptr;
  small_buffer* objects = nullptr;
};
void describe(pool_of_objects& p, tessera::description& to) {
  to.array("pool", p.pool, 256);
  to.array("objects", p.objects, 2);
}

TEST(arena_layout, brings_back_elements_that_lie_among_objects) {
  alignas(64) std::uint8_t memory[256] = {};
  auto* const objects = new (memory + 64) small_buffer[2];
  pool_of_objects user{memory, objects};
  const object_graph graph(&user, tessera::detail::type_of<pool_of_objects>(), {});
  const arena_layout layout(graph, copy_form::one_arena);
  std::vector<std::uint64_t> room(layout.bytes_of(0) / 8 + 1);
  auto* to = reinterpret_cast<std::byte*>(room.data());
  const std::uint64_t base = number_of(to);
  layout.write(graph, std::span(&to, 1), std::span(&base, 1), 0);
  auto& copy = *reinterpret_cast<pool_of_objects*>(to + layout.place_of(graph.root()).offset);
  EXPECT_EQ(copy.objects[1].values, copy.objects[1].inside);
  copy.objects[1].values[2] = 30;
  copy.objects[0].undescribed = 9;
  copy.pool[0] = 7;
  copy.pool[255] = 8;
  layout.bring_back(graph, 0, to);
  EXPECT_EQ(objects[1].inside[2], 30);
  EXPECT_EQ(objects[1].values, objects[1].inside) << "pointers stay";
  EXPECT_EQ(objects[0].undescribed, 5);
  EXPECT_EQ(memory[0], 7);
  EXPECT_EQ(memory[255], 8);
}

}  // namespace
}  // namespace deepcopy_test
