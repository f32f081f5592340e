// Checks of initialization data, segments, and files on the disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "languages/sial/data/init_file.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_init.hpp"

namespace tessera::sial {
namespace {

using test_support::message_of;
using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

class sial_init : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(m_folder); }
  void TearDown() override { fs::remove_all(m_folder); }
  fs::path m_folder = fs::path(testing::TempDir()) / ("sial_init_" + std::to_string(::getpid()));
};

std::string complaint(const init_data& data) {
  return message_of([&] { check_init(data, "job"); }, error_kind::input);
}

TEST_F(sial_init, lengths_of_segments_are_positive) {
  init_data data;
  data.segments[index_kind::moa] = {3, 0, 2};
  EXPECT_THAT(complaint(data), AllOf(HasSubstr("segment 2 of kind moa has the length 0"), HasSubstr("at: job")));
  data.segments[index_kind::moa] = {-3};
  EXPECT_THAT(complaint(data), HasSubstr("segment 1 of kind moa has the length -3"));
  data.segments[index_kind::moa] = {2147483647, 1};
  EXPECT_THAT(complaint(data), HasSubstr("more than 2147483647 elements"));
}

TEST_F(sial_init, everything_wrong_is_told_at_once) {
  init_data data;
  data.segments[index_kind::ao] = {0};
  data.ints["Norb"] = 1;
  data.float_arrays["a"] = {{2, 2}, {1.0}};
  data.int_arrays["b"] = {{-2}, {}};
  data.programs = {""};
  EXPECT_THAT(complaint(data), AllOf(HasSubstr("kind ao"), HasSubstr("'Norb' is not in lower case"),
                                     HasSubstr("float array 'a' has 1 values, dims [2, 2] make 4"),
                                     HasSubstr("int array 'b': an extent is -2"), HasSubstr("a program has no name")));
}

TEST_F(sial_init, offsets_of_segments) {
  init_data data;
  data.segments[index_kind::moa] = {1, 4, 6};
  EXPECT_EQ(data.offset_of(index_kind::moa, 1), 0);
  EXPECT_EQ(data.offset_of(index_kind::moa, 3), 5);
  EXPECT_EQ(data.offset_of(index_kind::moa, 4), 11);
  EXPECT_EQ(data.offset_of(index_kind::simple, 17), 16);
  EXPECT_EQ(data.offset_of(index_kind::simple, -1), -2);
  for (const std::int64_t segment : {0, 5, -1})
    EXPECT_THAT(message_of([&] { data.offset_of(index_kind::moa, segment); }, error_kind::input),
                HasSubstr("the initialization data have 3"));
  EXPECT_THAT(message_of([&] { data.offset_of(index_kind::ao, 2); }, error_kind::input),
              HasSubstr("no segment 2 of kind ao"));
}

TEST_F(sial_init, files_of_both_forms) {
  std::mt19937_64 random(11);
  const init_data data = test_support::random_init(random);
  for (const char* name : {"job.dat", "job.toml", "job.TOML", "job"}) {
    write_init(data, m_folder / name);
    EXPECT_EQ(read_init(m_folder / name), data) << name;
  }
  write_init(data, m_folder / "job.dat");  // over the one that is there
  EXPECT_EQ(std::distance(fs::directory_iterator(m_folder), {}), 4);
}

TEST_F(sial_init, files_that_cannot_be_read) {
  EXPECT_THAT(message_of([&] { read_init(m_folder / "none.dat"); }, error_kind::input),
              AllOf(HasSubstr("none.dat"), HasSubstr("No such file")));
  EXPECT_THAT(message_of([&] { read_init(m_folder); }, error_kind::input), HasSubstr("it is a directory"));
  std::ofstream(m_folder / "empty.dat");
  EXPECT_THAT(message_of([&] { read_init(m_folder / "empty.dat"); }, error_kind::input),
              HasSubstr("the initialization file is empty"));
  init_data wrong;
  wrong.segments[index_kind::la] = {0};
  write_init(wrong, m_folder / "wrong.dat");
  EXPECT_THAT(message_of([&] { read_init(m_folder / "wrong.dat"); }, error_kind::input),
              AllOf(HasSubstr("kind la"), HasSubstr("wrong.dat")));
}

TEST_F(sial_init, files_that_cannot_be_written) {
  EXPECT_THAT(message_of([&] { write_init({}, m_folder / "no/such/folder.dat"); }, error_kind::output),
              HasSubstr("cannot write the file"));
  fs::create_directory(m_folder / "taken.dat");
  EXPECT_THAT(message_of([&] { write_init({}, m_folder / "taken.dat"); }, error_kind::output),
              HasSubstr("cannot write the file"));
  EXPECT_EQ(std::distance(fs::directory_iterator(m_folder), {}), 1);  // nothing half written is left
}

}  // namespace
}  // namespace tessera::sial
