// What the disk plugin is made of, from the inside: checksums, and how copies are cut into requests.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "plugins/disk/cells.hpp"
#include "plugins/disk/crc32c.hpp"
#include "plugins/disk/pieces.hpp"

namespace tessera::disk {
namespace {

std::vector<unsigned char> random_bytes(std::mt19937_64& random, std::size_t count) {
  std::vector<unsigned char> bytes(count);
  for (auto& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

TEST(crc32c, gives_the_published_values) {
  EXPECT_EQ(crc32c("123456789", 9), 0xe3069283u);  // the check value of the catalogue of CRCs
  std::vector<unsigned char> bytes(32, 0);         // RFC 3720, B.4
  EXPECT_EQ(crc32c(bytes.data(), bytes.size()), 0x8a9136aau);
  std::fill(bytes.begin(), bytes.end(), 0xff);
  EXPECT_EQ(crc32c(bytes.data(), bytes.size()), 0x62a8ab43u);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i);
  EXPECT_EQ(crc32c(bytes.data(), bytes.size()), 0x46dd794eu);
  EXPECT_EQ(crc32c(nullptr, 0), 0u);
}

TEST(crc32c, is_the_same_by_tables_by_instruction_and_for_several_cells_at_once) {
  std::mt19937_64 random(20261121);
  for (std::size_t count = 0; count < 200; ++count) {
    const auto bytes = random_bytes(random, count);
    EXPECT_EQ(crc32c(bytes.data(), count), detail::crc32c_tables(bytes.data(), count)) << count << " bytes";
  }
  for (const std::size_t cells : {1u, 3u, 4u, 5u, 11u}) {
    const auto bytes = random_bytes(random, cells * cell_bytes);
    std::vector<std::uint32_t> sums(cells);
    crc32c_cells(bytes.data(), cell_bytes, cells, sums.data());
    for (std::size_t i = 0; i < cells; ++i)
      EXPECT_EQ(sums[i], detail::crc32c_tables(bytes.data() + i * cell_bytes, cell_bytes))
          << "cell " << i << " of " << cells;
  }
}

TEST(cell_table, keeps_a_sum_of_zero_apart_from_never_written) {
  cell_table table(2, true);
  EXPECT_FALSE(table.written(0));
  table.set(0, 0);
  EXPECT_TRUE(table.written(0));
  EXPECT_EQ(table.sum(0), cell_table::stored(0));
  EXPECT_FALSE(table.written(1));
  EXPECT_TRUE(cell_table(2, false).written(1)) << "without checksums nothing is known";
}

std::vector<piece> cut(const strided_range& range, std::uint64_t limit) {
  std::vector<piece> all;
  piece_cutter cutter(range, limit);
  for (piece one; cutter.next(one);) all.push_back(one);
  return all;
}

TEST(piece_cutter, makes_whole_pieces_of_aligned_rows_and_cuts_off_ragged_ends) {
  strided_range range;
  range.bytes = 1 << 20;
  range.disk = 8 * cell_bytes;
  auto pieces = cut(range, 256 << 10);
  ASSERT_EQ(pieces.size(), 4u);
  for (const auto& one : pieces) EXPECT_TRUE(one.whole());

  range.disk = 8 * cell_bytes + 100;
  pieces = cut(range, 256 << 10);
  ASSERT_GE(pieces.size(), 3u);
  EXPECT_EQ(pieces.front().cells, 1u) << "the head";
  EXPECT_EQ(pieces.front().segments[0].bytes, cell_bytes - 100);
  EXPECT_EQ(pieces.back().segments[0].bytes, 100u) << "the tail";
  for (std::size_t i = 1; i + 1 < pieces.size(); ++i) EXPECT_TRUE(pieces[i].whole()) << i;
}

TEST(piece_cutter, joins_rows_without_gaps_and_short_rows_that_are_near) {
  strided_range dense;
  dense.bytes = 64;
  dense.rows = 64;
  dense.planes = 16;
  dense.disk_stride[0] = dense.host_stride[0] = 64;
  dense.disk_stride[1] = dense.host_stride[1] = cell_bytes;
  auto pieces = cut(dense, 1 << 20);
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_TRUE(pieces[0].whole());

  strided_range near = dense;
  near.host_stride[0] = 100;
  near.host_stride[1] = 6400;
  pieces = cut(near, 1 << 20);
  ASSERT_EQ(pieces.size(), 1u) << "one request though the host's rows lie apart";
  EXPECT_EQ(pieces[0].segments.size(), 64u * 16u);

  strided_range far = dense;
  far.planes = 1;
  far.disk_stride[0] = 3 * cell_bytes;
  EXPECT_EQ(cut(far, 1 << 20).size(), 64u) << "no request reads cells that nobody asked for";
  EXPECT_TRUE(cut(strided_range{}, 1 << 20).empty());
}

TEST(piece_cutter, covers_every_byte_once_and_every_cell_in_one_piece) {
  const auto seed = std::random_device{}();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 2000; ++round) {
    strided_range range;
    const bool long_rows = random() % 4 == 0;
    range.bytes = 1 + random() % (long_rows ? 200000 : 9000);
    range.rows = 1 + random() % (long_rows ? 3 : 12);
    range.planes = 1 + random() % 4;
    range.disk = random() % 20000;
    for (auto* stride : {range.disk_stride, range.host_stride}) {
      const auto gap = [&] { return random() % 3 == 0 ? 0 : random() % 9000; };
      stride[0] = range.bytes + gap();
      stride[1] = stride[0] * (range.rows - 1) + range.bytes + gap();
    }
    const std::uint64_t limit = cell_bytes << (random() % 6);
    std::vector<segment> expected, got;
    for (std::uint64_t p = 0; p < range.planes; ++p)
      for (std::uint64_t r = 0; r < range.rows; ++r)
        expected.push_back({range.disk + p * range.disk_stride[1] + r * range.disk_stride[0],
                            p * range.host_stride[1] + r * range.host_stride[0], range.bytes});
    std::set<std::uint64_t> cells;
    for (const piece& one : cut(range, limit)) {
      ASSERT_LE(one.cells * cell_bytes, limit) << "seed " << seed << " round " << round;
      std::set<std::uint64_t> touched;
      for (const segment& s : one.segments) {
        got.push_back(s);
        for (auto c = s.disk / cell_bytes; c <= (s.disk + s.bytes - 1) / cell_bytes; ++c) touched.insert(c);
      }
      ASSERT_EQ(touched.size(), one.cells) << "a cell nobody touches; seed " << seed << " round " << round;
      ASSERT_EQ(*touched.begin(), one.first_cell);
      for (const auto c : touched)
        ASSERT_TRUE(cells.insert(c).second) << "cell twice; seed " << seed << " round " << round;
    }
    // What follows on both sides is one stretch, however it was cut.
    const auto joined = [](std::vector<segment> all) {
      std::vector<segment> out;
      for (const segment& s : all) {
        if (!out.empty() && out.back().disk + out.back().bytes == s.disk &&
            out.back().host + out.back().bytes == s.host)
          out.back().bytes += s.bytes;
        else
          out.push_back(s);
      }
      return out;
    };
    const auto want = joined(expected), have = joined(got);
    ASSERT_EQ(want.size(), have.size()) << "seed " << seed << " round " << round;
    for (std::size_t i = 0; i < want.size(); ++i) {
      ASSERT_EQ(want[i].disk, have[i].disk) << "seed " << seed << " round " << round;
      ASSERT_EQ(want[i].host, have[i].host) << "seed " << seed << " round " << round;
      ASSERT_EQ(want[i].bytes, have[i].bytes) << "seed " << seed << " round " << round;
    }
  }
}

}  // namespace
}  // namespace tessera::disk
