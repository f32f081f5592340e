// Two names of one file.
#include "core/base/same_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/plugin/folder.hpp"

namespace tessera {
namespace {

TEST(same_file, by_every_name) {
  const plugin_test::folder folder;
  const std::filesystem::path at = folder.path(), one = at / "one", other = at / "other";
  std::ofstream(one) << "1";
  std::ofstream(other) << "1";
  std::filesystem::create_symlink("one", at / "link");
  std::filesystem::create_hard_link(one, at / "hard");
  EXPECT_TRUE(is_same_file(one, at / "." / "one"));
  EXPECT_TRUE(is_same_file(at / "link", one));
  EXPECT_TRUE(is_same_file(at / "hard", one));
  EXPECT_FALSE(is_same_file(one, other));
}

TEST(same_file, that_is_not_there_yet) {
  const plugin_test::folder folder;
  const std::filesystem::path at = folder.path();
  std::filesystem::create_symlink("missing", at / "link");
  std::filesystem::create_symlink(at / "link", at / "far");
  EXPECT_TRUE(is_same_file(at / "missing", at / "." / "missing"));
  EXPECT_TRUE(is_same_file(at / "link", at / "missing"));
  EXPECT_TRUE(is_same_file(at / "missing", at / "far"));
  EXPECT_FALSE(is_same_file(at / "missing", at / "another"));
}

TEST(same_file, is_no_device) {
  EXPECT_FALSE(is_same_file("/dev/null", "/dev/null"));
  EXPECT_FALSE(is_same_file("/dev/null", "/dev/stdout"));
}

}  // namespace
}  // namespace tessera
