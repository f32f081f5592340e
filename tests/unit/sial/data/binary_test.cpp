// The binary form of initialization data: what is written is read again, and what cannot be is told with its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "languages/sial/data/init_file.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_init.hpp"

namespace tessera::sial {
namespace {

using test_support::error_of;
using testing::AllOf;
using testing::HasSubstr;

const std::filesystem::path small_file = std::filesystem::path(TESSERA_SOURCE_DIR) / "tests/data/sial/small.dat";

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string i4(std::initializer_list<std::int32_t> values) {
  std::string bytes(values.size() * 4, '\0');
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}
std::string name(const std::string& text) { return i4({static_cast<std::int32_t>(text.size() + 1)}) + text + '\0'; }

/// Fields 1 and 2, then what is given.
std::string file_with(const std::string& fields) { return i4({23121991, 1}) + fields; }

std::string complaint(const std::string& bytes) {
  const error e = error_of([&] { from_binary(bytes, "x.dat"); });
  EXPECT_EQ(e.kind(), error_kind::input) << e.what();
  EXPECT_THAT(e.where(), testing::StartsWith("x.dat, byte "));
  return e.what();
}

TEST(sial_binary, a_file_of_another_writer) {
  const init_data data = read_init(small_file);
  EXPECT_THAT(data.programs, testing::ElementsAre("scf_rhf.siox", "Second.siox"));
  EXPECT_EQ(data.ints, (std::map<std::string, std::int64_t>{{"baocc", 1}, {"norb", 2}, {"minus", -7}}));
  EXPECT_EQ(data.scalars, (std::map<std::string, double>{{"nn_repulsion", 9.1877}, {"scf_conv", 1e-10}}));
  EXPECT_EQ(data.segments.size(), 2u);
  EXPECT_THAT(data.segments_of(index_kind::ao), testing::ElementsAre(5, 6));
  EXPECT_THAT(data.segments_of(index_kind::moa), testing::ElementsAre(1, 4, 6));
  EXPECT_THAT(data.segments_of(index_kind::mob), testing::IsEmpty());
  EXPECT_EQ(data.float_arrays.at("coords"), (init_array<double>{{3, 2}, {0.0, 0.1, -0.2, 1.5, -1.5, 1e300}}));
  EXPECT_EQ(data.float_arrays.at("empty"), (init_array<double>{{0}, {}}));
  EXPECT_EQ(data.int_arrays.at("int_array_data"), (init_array<std::int64_t>{{8}, {1, 2, 3, 4, 5, 6, 7, 8}}));
  EXPECT_EQ(data.options.at("scf_rhf.siox"), (std::map<std::string, std::string>{{"no_servers", "f"}, {"note", ""}}));
}

TEST(sial_binary, the_writer_makes_the_same_fields) {
  // The other writer's file has its ints out of order and a capital letter: the rest is byte for byte the same.
  const std::string theirs = bytes_of(small_file), ours = to_binary(read_init(small_file));
  ASSERT_EQ(ours.size(), theirs.size());
  const std::size_t ints = theirs.find("baocc"), scalars = theirs.find("nn_repulsion");
  EXPECT_EQ(ours.substr(0, ints), theirs.substr(0, ints));
  EXPECT_EQ(ours.substr(scalars), theirs.substr(scalars));
}

TEST(sial_binary, random_contents_come_back) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    const init_data data = test_support::random_init(random);
    const std::string bytes = to_binary(data);
    ASSERT_EQ(from_binary(bytes, "x.dat"), data);
    check_init(data, "x.dat");
  }
}

TEST(sial_binary, every_shorter_file_is_told_where_it_ends) {
  const std::string whole = bytes_of(small_file);
  ASSERT_GT(whole.size(), 400u);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<char> part(
        whole.begin(),
        whole.begin() + static_cast<std::ptrdiff_t>(size));  // no byte more, for the address sanitizer
    const error e = error_of([&] { from_binary(part, "x.dat"); });
    ASSERT_EQ(e.kind(), error_kind::input);
    ASSERT_THAT(std::string(e.what()), testing::AnyOf(HasSubstr("the file ends in"), HasSubstr("that takes"))) << size;
    const std::size_t at = std::stoul(e.where().substr(std::strlen("x.dat, byte ")));
    ASSERT_LE(at, size);
  }
}

TEST(sial_binary, damaged_files_are_refused_or_read) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  const std::string whole = bytes_of(small_file);
  std::size_t refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = whole;
    for (std::size_t edits = 1 + random() % 3; edits > 0; --edits)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    try {
      from_binary(bytes, "x.dat");
    } catch (const error& e) {
      ++refused;
      ASSERT_EQ(e.kind(), error_kind::input);
      ASSERT_THAT(e.where(), HasSubstr("byte"));
    }
  }
  EXPECT_GT(refused, 1000u);
}

TEST(sial_binary, another_magic_number) {
  EXPECT_THAT(complaint(i4({23121992, 1})),
              AllOf(HasSubstr("the magic number is 23121992, not 23121991"), HasSubstr("byte 0")));
  EXPECT_THAT(complaint(""), HasSubstr("the file ends in the magic number: 4 bytes are expected, 0 are left"));
}

TEST(sial_binary, another_version) {
  EXPECT_THAT(complaint(i4({23121991, 2})),
              AllOf(HasSubstr("the version is 2"), HasSubstr("version 1 is expected"), HasSubstr("byte 4")));
}

TEST(sial_binary, bytes_after_the_end) {
  EXPECT_THAT(complaint(bytes_of(small_file) + "ab"), HasSubstr("goes on for 2 bytes after its last field"));
}

TEST(sial_binary, negative_counts) {
  EXPECT_THAT(complaint(file_with(i4({-1}))),
              AllOf(HasSubstr("the number of programs is -1, which is negative"), HasSubstr("byte 8")));
  EXPECT_THAT(complaint(file_with(i4({0, -2}))),
              AllOf(HasSubstr("the number of int constants is -2"), HasSubstr("byte 12")));
  EXPECT_THAT(complaint(file_with(i4({0, 0, -3}))), HasSubstr("the number of scalar constants is -3"));
  EXPECT_THAT(complaint(file_with(i4({0, 0, 0, 1, 1001, -4}))),
              HasSubstr("the count of the lengths of the segments of kind ao is -4"));
  EXPECT_THAT(complaint(file_with(i4({1, -5, 0}))), HasSubstr("the length of the name of program 1 is -5"));
}

// Less memory than such a count asks for is there, so that an allocation before the check would throw something else.
TEST(sial_binary, counts_that_the_file_has_no_room_for) {
  constexpr std::int32_t most = 2147483647;
  EXPECT_THAT(complaint(file_with(i4({most}))),
              HasSubstr("the number of programs is 2147483647: that takes 10737418235 bytes at least, and 0 are left"));
  EXPECT_THAT(complaint(file_with(i4({0, 0, 0, most, 1001, 0}))),
              HasSubstr("the number of segment tables is 2147483647"));
  EXPECT_THAT(complaint(file_with(i4({0, 0, 0, 0, 1}) + name("alphas") + i4({1, 1, most, most}))),
              HasSubstr("the count of the values of float array 'alphas' is 2147483647"));
  EXPECT_THAT(complaint(file_with(i4({1, most}) + "ab")),
              HasSubstr("the length of the name of program 1 is 2147483647"));
}

TEST(sial_binary, texts_without_their_end) {
  EXPECT_THAT(complaint(file_with(i4({1, 3}) + "abc")), HasSubstr("the name of program 1 does not end with a null"));
  EXPECT_THAT(complaint(file_with(i4({1, 3}) + std::string("a\0\0", 3))),
              HasSubstr("the name of program 1 has a null inside"));
  EXPECT_THAT(complaint(file_with(i4({1, 0}) + std::string(5, '\0'))),
              HasSubstr("the length of the name of program 1 is 0"));
}

TEST(sial_binary, names_given_twice) {
  EXPECT_THAT(complaint(file_with(i4({0, 2}) + name("norb") + i4({1}) + name("NORB") + i4({2}))),
              AllOf(HasSubstr("int constant 'norb' is there twice"), HasSubstr("byte 29")));
  EXPECT_THAT(complaint(file_with(i4({0, 0, 0, 2, 1001, 0, 1001, 0}))),
              HasSubstr("the segment table ao is there twice"));
}

TEST(sial_binary, kinds_that_are_none) {
  EXPECT_THAT(complaint(file_with(i4({0, 0, 0, 1, 1008, 0}))),
              AllOf(HasSubstr("the kind of segment table 1 is 1008"), HasSubstr("1001 to 1007")));
  EXPECT_THAT(complaint(file_with(i4({0, 0, 0, 1, 0, 0}))), HasSubstr("is 0"));
}

TEST(sial_binary, arrays_that_do_not_fit_together) {
  const auto array = [](const std::string& rest) { return file_with(i4({0, 0, 0, 0, 0, 1}) + name("n") + rest); };
  EXPECT_THAT(complaint(array(i4({2, 1, 3, 3, 7, 8, 9}))),
              HasSubstr("the rank of int array 'n' is 2, and it has 1 dims"));
  EXPECT_THAT(complaint(array(i4({1, 1, 3, 2, 7, 8}))),
              AllOf(HasSubstr("int array 'n' has 2 values"), HasSubstr("dims [3] make 3")));
  EXPECT_THAT(complaint(array(i4({1, 1, -3, 0}))), HasSubstr("an extent is -3"));
  EXPECT_THAT(complaint(array(i4({-1, 0, 0, 0}))), HasSubstr("the rank of int array 'n' is -1"));
  EXPECT_THAT(complaint(array(i4({3, 3, 2147483647, 2147483647, 2147483647, 0}))), HasSubstr("too large a product"));
}

TEST(sial_binary, the_writer_refuses_what_has_no_room) {
  init_data data;
  data.ints["big"] = std::int64_t{1} << 40;
  EXPECT_THAT(error_of([&] { to_binary(data); }).what(), HasSubstr("int constant 'big' is 1099511627776"));
  data.ints.clear();
  data.programs = {std::string("a\0b", 3)};
  EXPECT_THAT(error_of([&] { to_binary(data); }).what(), HasSubstr("null inside"));
}

}  // namespace
}  // namespace tessera::sial
