// The schemes of `tessera deepcopy`: what they move, and that they are right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/deepcopy/cycle.hpp"
#include "settings.hpp"

namespace tessera {
namespace {

using namespace apps::deepcopy;
using testing::copy_setting;

/// Bytes of an arena: the header, and each piece at a multiple of 16.
std::uint64_t arena_bytes(std::initializer_list<std::pair<std::uint64_t, std::uint64_t>> pieces_and_sizes,
                          std::uint64_t last) {
  std::uint64_t bytes = 64;
  for (const auto& [count, size] : pieces_and_sizes) bytes += count * ((size + 15) / 16 * 16);
  return bytes - ((last + 15) / 16 * 16 - last);
}

class schemes : public ::testing::TestWithParam<copy_setting> {
 protected:
  template <class Structure>
  cycle_result run(const char* scheme, const typename Structure::size_type& size) {
    const destination where(rt, GetParam().destination);
    const cycle_setup setup{rt, where, true};
    const cycle_result once = run_cycle<Structure>(setup, scheme, size, true);
    EXPECT_EQ(once.wrong, 0) << scheme;
    const cycle_result again = run_cycle<Structure>({rt, where, false}, scheme, size, true);
    EXPECT_EQ(again.wrong, 0) << scheme;
    return again;
  }
  cycle_result list(const char* scheme, std::int64_t k, std::int64_t n, list_layout layout) {
    return run<linear>(scheme, {k, n, layout});
  }
  cycle_result tree(const char* scheme, std::int64_t q, std::int64_t n) { return run<dense>(scheme, {q, n}); }
  /// On a memory that the program's own is, nothing moves.
  void expect_moved(const traffic& seen, std::uint64_t transfers, std::uint64_t bytes) {
    EXPECT_EQ(seen.transfers, GetParam().moves ? transfers : 0);
    EXPECT_EQ(seen.bytes, GetParam().moves ? bytes : 0);
  }
  runtime rt{GetParam().make()};
};

TEST_P(schemes, chains_move_the_last_array_however_long_the_list_is) {
  for (const list_layout layout : {list_layout::all_last, list_layout::last_last})
    for (const std::int64_t k : {2, 7, 10}) {
      const cycle_result r = list("chain", k, 500, layout);
      expect_moved(r.moved_in, 1, 8 * 500);
      expect_moved(r.moved_back, 1, 8 * 500);
      EXPECT_EQ(r.pointers, 0u);
    }
}

TEST_P(schemes, chains_move_all_arrays_that_are_used) {
  const cycle_result r = list("chain", 6, 500, list_layout::all_all);
  expect_moved(r.moved_in, 6, 6 * 8 * 500);
  expect_moved(r.moved_back, 6, 6 * 8 * 500);
}

TEST_P(schemes, marshalling_moves_everything_at_once) {
  for (const list_layout layout : {list_layout::all_all, list_layout::all_last}) {
    const cycle_result r = list("marshalling", 6, 500, layout);
    const std::uint64_t bytes = arena_bytes({{6, 24}, {6, 8 * 500}}, 24);
    EXPECT_EQ(r.moved_in.transfers, GetParam().moves ? 1 : 0);
    // Which piece comes last, and so is not rounded up, depends on their addresses.
    EXPECT_LE(r.moved_in.bytes, bytes + 8);
    EXPECT_GE(r.moved_in.bytes, GetParam().moves ? bytes - 8 : 0);
    EXPECT_EQ(r.moved_back.transfers, r.moved_in.transfers);
    EXPECT_EQ(r.moved_back.bytes, r.moved_in.bytes);
    EXPECT_EQ(r.pointers, 11u);
  }
  EXPECT_EQ(list("marshalling", 6, 500, list_layout::last_last).pointers, 6u);
}

TEST_P(schemes, blocks_move_one_by_one_and_come_back_where_they_changed) {
  if (!GetParam().addresses || std::string(GetParam().name) == "validated") return;
  cycle_result r = list("block-by-block", 5, 500, list_layout::all_all);
  expect_moved(r.moved_in, 10, 64 + 5 * (24 + 8 * 500));
  expect_moved(r.moved_back, 5, 5 * 8 * 500);
  r = list("block-by-block", 5, 500, list_layout::last_last);
  expect_moved(r.moved_in, 6, 64 + 5 * 24 + 8 * 500);
  expect_moved(r.moved_back, 1, 8 * 500);
  r = tree("block-by-block", 2, 10);  // 15 arrays of numbers, 7 of nodes, the root
  expect_moved(r.moved_in, 23, 64 + 15 * 80 + 7 * 24 + 8 * 16);
  expect_moved(r.moved_back, 1, 80);
  EXPECT_EQ(r.pointers, 22u);
}

TEST_P(schemes, sharing_moves_nothing) {
  for (const cycle_result& r : {list("shared", 4, 500, list_layout::all_all), tree("shared", 3, 20)}) {
    expect_moved(r.moved_in, 0, 0);
    expect_moved(r.moved_back, 0, 0);
  }
}

TEST_P(schemes, of_the_tree) {
  const cycle_result chained = tree("chain", 4, 100);
  expect_moved(chained.moved_in, 1, 800);
  expect_moved(chained.moved_back, 1, 800);
  const cycle_result marshalled = tree("marshalling", 4, 100);
  EXPECT_EQ(marshalled.moved_in.transfers, GetParam().moves ? 1 : 0);
  EXPECT_GE(marshalled.moved_in.bytes, GetParam().moves ? tree_size({4, 100}).nominal_bytes() : 0);
  EXPECT_EQ(marshalled.pointers, 21u + 85u);
}

INSTANTIATE_TEST_SUITE_P(memories, schemes, testing::copy_settings, testing::name_of);
#if defined(TESSERA_TEST_OPENCL)
INSTANTIATE_TEST_SUITE_P(opencl, schemes, testing::copy_settings_opencl, testing::name_of);
#endif

TEST(nominal_bytes, are_those_of_the_formulas) {
  runtime rt(testing::host_only());
  const auto described = [&](auto& structure) {
    return deep_copy(structure.root(), to(rt, "machine")).report().nominal_bytes;
  };
  for (const std::int64_t k : {1, 2, 5})
    for (const std::int64_t n : {1, 10, 333}) {
      linear all({k, n, list_layout::all_all}), last({k, n, list_layout::last_last});
      EXPECT_EQ(all.size().nominal_bytes(), std::uint64_t(24 * k + 8 * n * k));
      EXPECT_EQ(last.size().nominal_bytes(), std::uint64_t(24 * k + 8 * n));
      EXPECT_EQ(described(all), all.size().nominal_bytes());
      EXPECT_EQ(described(last), last.size().nominal_bytes());
    }
  dense small({2, 10}), larger({3, 7});
  EXPECT_EQ(small.size().nominal_bytes(), 1464u);
  EXPECT_EQ(described(small), 1464u);
  EXPECT_EQ(described(larger), larger.size().nominal_bytes());
}

TEST(scenarios, know_wrong_elements) {
  linear list({3, 10, list_layout::all_last});
  list.initialise();
  EXPECT_EQ(list.wrong(), 10) << "the last array is not scaled yet";  // 2 + i is never 31 (2 + i)
  linear::scale(list.root(), false);
  EXPECT_EQ(list.wrong(), 0);
  linear::scale(list.root(), true);
  EXPECT_EQ(list.wrong(), 29) << "scaled where it should not be; 31 times 0 is 0";
  dense tree({2, 10});
  tree.initialise();
  EXPECT_EQ(tree.wrong(), 10);
  dense::scale(tree.root(), false);
  EXPECT_EQ(tree.wrong(), 0);
}

}  // namespace
}  // namespace tessera
