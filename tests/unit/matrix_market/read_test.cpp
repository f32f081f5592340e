// What a Matrix Market file may say, and where each mistake in one is found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/error.hpp"
#include "libraries/matrix_market/read.hpp"

namespace tessera::matrix_market {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

TEST(matrix_market_read, a_symmetric_file_gives_its_lower_triangle) {
  const matrix m = parse(
      "%%MatrixMarket matrix coordinate real symmetric\n"
      "% a comment\n"
      "\n"
      "3 3 4\n"
      "1 1 4.5\n"
      "  2 1\t-1e-3\r\n"
      "% another\n"
      "+3 3 +2.5D+1\n"
      "2 2 7",
      "m.mtx");
  EXPECT_EQ(m.rows, 3);
  EXPECT_EQ(m.columns, 3);
  EXPECT_EQ(m.kind, symmetry::symmetric);
  EXPECT_FALSE(m.dense);
  ASSERT_EQ(m.entries.size(), 4u);
  EXPECT_EQ(m.entries[1].row, 1);
  EXPECT_EQ(m.entries[1].column, 0);
  EXPECT_EQ(m.entries[1].value, -1e-3);
  EXPECT_EQ(m.entries[2].value, 25.0);
  EXPECT_EQ(m.entries[3].value, 7.0);
  EXPECT_EQ(m.place_of(0), "m.mtx:5");
  EXPECT_EQ(m.place_of(3), "m.mtx:9");
}

TEST(matrix_market_read, the_banner_does_not_mind_case) {
  const matrix m = parse("%%matrixmarket MATRIX Coordinate Integer General\n2 3 1\n2 3 -9\n", "m");
  EXPECT_EQ(m.kind, symmetry::general);
  EXPECT_EQ(m.columns, 3);
  EXPECT_EQ(m.entries.at(0).value, -9);
}

TEST(matrix_market_read, a_dense_file_goes_column_by_column) {
  const matrix m = parse("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n", "m");
  ASSERT_EQ(m.entries.size(), 6u);
  EXPECT_TRUE(m.dense);
  EXPECT_EQ(m.entries[1].row, 1);
  EXPECT_EQ(m.entries[1].column, 0);
  EXPECT_EQ(m.entries[4].row, 0);
  EXPECT_EQ(m.entries[4].column, 2);

  const matrix half = parse("%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", "m");
  ASSERT_EQ(half.entries.size(), 6u);
  EXPECT_EQ(half.entries[3].row, 1);  // the diagonal begins each column
  EXPECT_EQ(half.entries[3].column, 1);
  EXPECT_EQ(half.entries[5].row, 2);
  EXPECT_EQ(half.entries[5].column, 2);
}

TEST(matrix_market_read, values_that_are_too_small_become_what_the_machine_has) {
  const matrix m = parse("%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 1e-400\n1 2 4e-320\n", "m");
  EXPECT_EQ(m.entries[0].value, 0);
  EXPECT_EQ(m.entries[1].value, 4e-320);
}

TEST(matrix_market_read, entries_given_twice_may_be_more_than_the_matrix_has_room_for) {
  const matrix m = parse("%%MatrixMarket matrix coordinate real general\n1 2 3\n1 1 1\n1 1 2\n1 1 4\n", "m");
  ASSERT_EQ(m.entries.size(), 3u);
  EXPECT_EQ(m.entries[2].value, 4);
}

struct wrong_file {
  const char* name;
  std::string text;
  const char* message;  // part of what is said
  const char* place;
};
void PrintTo(const wrong_file& f, std::ostream* out) { *out << f.name; }

class matrix_market_mistake : public testing::TestWithParam<wrong_file> {};

TEST_P(matrix_market_mistake, is_found_at_its_line) {
  try {
    (void)parse(GetParam().text, "m.mtx");
    FAIL() << "it was read";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::input);
    EXPECT_THAT(e.message(), HasSubstr(GetParam().message));
    EXPECT_EQ(e.where(), GetParam().place);
  }
}

/// A symmetric file with these lines behind the banner.
std::string symmetric(const char* lines) {
  return std::string("%%MatrixMarket matrix coordinate real symmetric\n") + lines;
}

INSTANTIATE_TEST_SUITE_P(
    files, matrix_market_mistake,
    testing::Values(
        wrong_file{"empty", "", "the file is empty", "m.mtx:1"},
        wrong_file{"no_banner", "3 3 1\n1 1 1\n", "does not begin with %%MatrixMarket", "m.mtx:1"},
        wrong_file{"vector", "%%MatrixMarket vector coordinate real general\n", "'vector', not 'matrix'", "m.mtx:1"},
        wrong_file{"form", "%%MatrixMarket matrix sparse real general\n", "the form is 'sparse'", "m.mtx:1"},
        wrong_file{"pattern", "%%MatrixMarket matrix coordinate pattern general\n", "no values", "m.mtx:1"},
        wrong_file{"complex", "%%MatrixMarket matrix coordinate complex general\n", "complex", "m.mtx:1"},
        wrong_file{"field", "%%MatrixMarket matrix coordinate quad general\n", "the field is 'quad'", "m.mtx:1"},
        wrong_file{"skew", "%%MatrixMarket matrix coordinate real skew-symmetric\n", "'skew-symmetric'", "m.mtx:1"},
        wrong_file{"no_sizes", symmetric("% nothing\n"), "before the line of sizes", "m.mtx:2"},
        wrong_file{"two_sizes", symmetric("3 3\n"), "the number of entries is missing", "m.mtx:2"},
        wrong_file{"four_sizes", symmetric("3 3 1 9\n"), "'9' is more", "m.mtx:2"},
        wrong_file{"negative", symmetric("-3 -3 1\n"), "the matrix is -3 x -3", "m.mtx:2"},
        wrong_file{"zero", symmetric("0 0 0\n"), "the matrix is 0 x 0", "m.mtx:2"},
        wrong_file{"absurd", symmetric("99999999999 99999999999 1\n"), "99999999999 x 99999999999", "m.mtx:2"},
        wrong_file{"overflow", symmetric("99999999999999999999 1 1\n"), "has too many digits", "m.mtx:2"},
        wrong_file{"not_square", symmetric("3 4 1\n1 1 1\n"), "3 x 4 and cannot be symmetric", "m.mtx:2"},
        wrong_file{"negative_count", symmetric("3 3 -1\n"), "the number of entries is -1", "m.mtx:2"},
        wrong_file{"more_than_it_has", symmetric("1 1 3\n1 1 1\n1 1 1\n"), "ends after 2 of 3 entries", "m.mtx:4"},
        wrong_file{"huge_count_in_a_short_file", symmetric("2000000000 2000000000 2000000000000\n1 1 1\n"),
                   "after 1 of 2000000000000 entries", "m.mtx:3"},
        wrong_file{"largest_count", symmetric("3 3 9223372036854775807\n1 1 1\n"),
                   "after 1 of 9223372036854775807 entries", "m.mtx:3"},
        wrong_file{"count_that_is_too_large", symmetric("3 3 9223372036854775808\n1 1 1\n"),
                   "'9223372036854775808', which has too many digits", "m.mtx:2"},
        wrong_file{"truncated", symmetric("3 3 3\n1 1 1\n2 2 1\n"), "ends after 2 of 3 entries", "m.mtx:4"},
        wrong_file{"half_a_line", symmetric("3 3 1\n1 1"), "the value is missing", "m.mtx:3"},
        wrong_file{"row_zero", symmetric("3 3 1\n0 1 1\n"), "row 0 is outside of 1 to 3", "m.mtx:3"},
        wrong_file{"row_four", symmetric("3 3 1\n4 1 1\n"), "row 4 is outside of 1 to 3", "m.mtx:3"},
        wrong_file{"column_four", symmetric("3 3 1\n1 4 1\n"), "column 4 is outside of 1 to 3", "m.mtx:3"},
        wrong_file{"above", symmetric("3 3 1\n1 2 1\n"), "(1, 2) is above the diagonal", "m.mtx:3"},
        wrong_file{"word", symmetric("3 3 1\n1 1 one\n"), "'one', which is not a number", "m.mtx:3"},
        wrong_file{"tail", symmetric("3 3 1\n1 1 1x\n"), "'1x', which is not a number", "m.mtx:3"},
        wrong_file{"two_signs", symmetric("3 3 1\n1 1 +-5\n"), "'+-5', which is not a number", "m.mtx:3"},
        wrong_file{"nan", symmetric("3 3 1\n1 1 nan\n"), "'nan', which is not finite", "m.mtx:3"},
        wrong_file{"infinite", symmetric("3 3 1\n1 1 1e999\n"), "'1e999', which is not finite", "m.mtx:3"},
        wrong_file{"fraction", symmetric("3 3 1\n1.5 1 1\n"), "'1.5', which is not a whole number", "m.mtx:3"},
        wrong_file{"sign_alone", symmetric("3 3 1\n+ 1 1\n"), "'+', which is not a whole number", "m.mtx:3"},
        wrong_file{"half_in_integers", "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 1 2e1\n2 2 1.5\n",
                   "the value is 1.5, and the first line says that all are integers", "m.mtx:4"},
        wrong_file{"half_in_an_array_of_integers", "%%MatrixMarket matrix array integer general\n1 2\n1\n0.25\n",
                   "the value is 0.25", "m.mtx:4"},
        wrong_file{"gzip", "\x1f\x8b\x08\x08 rubbish\n", "the file is compressed by gzip", "m.mtx:1"},
        wrong_file{"xz",
                   "\xfd"
                   "7zXZ rubbish",
                   "the file is compressed by xz", "m.mtx:1"},
        wrong_file{"imaginary_part", symmetric("3 3 1\n1 1 1 2\n"), "'2' is more", "m.mtx:3"},
        wrong_file{"goes_on", symmetric("3 3 1\n1 1 1\n2 2 1\n"), "goes on after its 1 entries", "m.mtx:4"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(matrix_market_read, files_that_cannot_be_read) {
  const auto message_of = [](const fs::path& file) -> std::string {
    try {
      (void)read(file);
    } catch (const error& e) {
      EXPECT_EQ(e.kind(), error_kind::input);
      EXPECT_THAT(e.where(), HasSubstr(file.string()));
      return e.message();
    }
    return "it was read";
  };
  EXPECT_EQ(message_of("/no/such/matrix.mtx"), "there is no such matrix file");
  EXPECT_THAT(message_of("/tmp"), HasSubstr("is a directory"));
}

TEST(matrix_market_read, every_truncation_of_a_file_is_refused_or_reads_the_same) {
  const std::string whole = "%%MatrixMarket matrix coordinate real symmetric\n% c\n4 4 3\n1 1 10.25\n2 1 -3\n4 4 8\n";
  const std::size_t complete = whole.size() - 1;  // the last line break may be missing
  for (std::size_t length = 0; length < complete; ++length) {
    bool refused = false;
    try {
      (void)parse(whole.substr(0, length), "m");
    } catch (const error&) {
      refused = true;
    }
    EXPECT_TRUE(refused) << "the first " << length << " bytes were read as a whole matrix";
  }
  EXPECT_EQ(parse(whole.substr(0, complete), "m").entries.size(), 3u);
}

/// A file of so many entries, with a comment between them that crosses from one piece of the file to the next.
std::string long_file(int entries) {
  std::string text = "%%MatrixMarket matrix coordinate real general\n" + std::to_string(entries) + " 7 " +
                     std::to_string(entries) + "\n";
  for (int k = 1; k <= entries; ++k) {
    text += std::to_string(k) + " " + std::to_string(1 + k % 7) + " " + std::to_string(k) + ".125\n";
    if (k == entries / 2) text += "%" + std::string(700'000, 'x') + "\n";
  }
  return text;
}

TEST(matrix_market_read, a_file_is_read_piece_by_piece_as_text_in_memory_is) {
  const std::string text = long_file(100'000);  // more than two pieces of 1 MiB
  const fs::path file = fs::temp_directory_path() / ("tessera_long_" + std::to_string(::getpid()) + ".mtx");
  std::ofstream(file) << text;
  const matrix whole = parse(text, "whole"), pieces = read(file);
  std::size_t handed_out = 0;
  bool same = true;
  header first;
  open_file(file).entries([&](const header& h) { first = h; },
                          [&](const entry& e) {
                            const entry& known = whole.entries.at(handed_out++);
                            same = same && e.row == known.row && e.column == known.column && e.value == known.value;
                          });
  fs::remove(file);
  EXPECT_TRUE(same);
  EXPECT_EQ(handed_out, 100'000u);
  EXPECT_EQ(first.rows, 100'000);
  EXPECT_EQ(first.columns, 7);
  EXPECT_EQ(first.entries, 100'000);
  EXPECT_EQ(pieces.lines, whole.lines);
  ASSERT_EQ(pieces.entries.size(), 100'000u);
  EXPECT_EQ(pieces.entries.back().value, 100'000.125);
}

TEST(matrix_market_read, a_file_without_lines_is_refused_before_it_is_in_memory) {
  const fs::path file = fs::temp_directory_path() / ("tessera_no_lines_" + std::to_string(::getpid()) + ".mtx");
  std::ofstream(file) << "%%MatrixMarket matrix coordinate real general\n" << std::string(5'000'000, '1');
  try {
    read(file);
    ADD_FAILURE() << "a line of five megabytes was taken";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr("the line has more than 1048576 characters"));
    EXPECT_THAT(e.what(), HasSubstr(".mtx:2"));
  }
  fs::remove(file);
}

}  // namespace
}  // namespace tessera::matrix_market
