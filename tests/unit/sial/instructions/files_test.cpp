// Blocks in files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/error_of.hpp"
#include "tests/support/sial_call.hpp"

namespace tessera::sial {
namespace {

using test_support::block;
using test_support::call_site;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

class sial_files : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(m_folder);
    fs::current_path(m_folder);
  }
  void TearDown() override {
    fs::current_path(m_before);
    fs::remove_all(m_folder);
  }
  std::string complaint(const std::string& name, block& x) {
    return test_support::message_of([&] { call(name, name.starts_with("write") ? "r" : "w", {&x}); }, error_kind::task);
  }
  call_site call;

 private:
  fs::path m_before = fs::current_path(),
           m_folder = fs::path(testing::TempDir()) / ("sial_files_" + std::to_string(::getpid()));
};

TEST_F(sial_files, text) {
  block x("a", {2, 2});
  x.at({3, 12}, {0, 0});
  std::ofstream("a[3.12].txt") << " 1.5 -2\n\t+3e2\r\n4";
  call("read_block_from_text_file", "w", {&x});
  EXPECT_THAT(x.values, ElementsAre(1.5, -2, 300, 4));
  std::ofstream("a[3.12].txt") << "1 2 3";
  EXPECT_THAT(complaint("read_block_from_text_file", x),
              HasSubstr("a[3.12].txt has 3 numbers, a[3,12] has 4 elements"));
  std::ofstream("a[3.12].txt") << "1 2 3 4 5";
  EXPECT_THAT(complaint("read_block_from_text_file", x), HasSubstr("has more than the 4 numbers"));
  std::ofstream("a[3.12].txt") << "1 2 x3 4";
  EXPECT_THAT(complaint("read_block_from_text_file", x), HasSubstr("'x3' is not a number"));
  fs::remove("a[3.12].txt");
  EXPECT_THAT(complaint("read_block_from_text_file", x), HasSubstr("cannot read the file 'a[3.12].txt': No such file"));
}

TEST_F(sial_files, written_blocks_are_read_again) {
  block x("a", {2, 3}, {1, 2, 3, 4, 5, 1e-300}), y("a", {2, 3}), other("a", {3, 2}), s = block::scalar("s", 1);
  call("write_block_to_file", "r", {&x});
  call("read_block_from_file", "w", {&y});
  EXPECT_EQ(x.values, y.values);
  EXPECT_EQ(std::distance(fs::directory_iterator("."), {}), 1);
  EXPECT_THAT(complaint("read_block_from_file", other),
              HasSubstr("holds a block of other extents than a[1,1], which is 3 x 2"));
  EXPECT_THAT(complaint("write_block_to_file", s), HasSubstr("s is a scalar, and a block is expected"));
  fs::resize_file("a[1.1].block", fs::file_size("a[1.1].block") - 1);
  EXPECT_THAT(complaint("read_block_from_file", y), HasSubstr("bytes, and"));
  std::ofstream("a[1.1].block") << "nothing";
  EXPECT_THAT(complaint("read_block_from_file", y), HasSubstr("is no file of a block"));
  block elsewhere("../a", {1});
  EXPECT_THAT(complaint("write_block_to_file", elsewhere), HasSubstr("cannot be the name of a file"));
}

}  // namespace
}  // namespace tessera::sial
