// Files that are handed to a driver from run to run.
#include "plugins/kit/system/kept_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iterator>
#include <thread>
#include <vector>

#include "tests/unit/plugin/folder.hpp"

namespace tessera::kit {
namespace {

namespace fs = std::filesystem;
using plugin_test::folder;

::mode_t mode_of(const fs::path& path) {
  struct stat is {};
  return ::lstat(path.c_str(), &is) == 0 ? is.st_mode & 07777 : 0;
}

TEST(kept_file, is_for_nobody_else) {
  const folder place;
  const fs::path file = place.path() / "above/kept/a.bin";
  EXPECT_EQ(read_kept(file), "");
  const ::mode_t mask = ::umask(0);
  const bool written = write_kept(file, {"head ", std::string_view("\0body", 5)});
  ::umask(mask);
  ASSERT_TRUE(written);
  EXPECT_EQ(read_kept(file), std::string("head \0body", 10));
  EXPECT_EQ(mode_of(file), 0600u);
  EXPECT_EQ(mode_of(file.parent_path()), 0700u);
  ASSERT_TRUE(write_kept(file, {"later"}));
  EXPECT_EQ(read_kept(file), "later");
  EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), {}), 1) << "something temporary is left";
}

TEST(kept_file, what_others_could_have_written_does_not_count) {
  const folder place;
  const fs::path file = place.path() / "kept/a.bin";
  ASSERT_TRUE(write_kept(file, {"code"}));
  ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
  EXPECT_EQ(read_kept(file), "");
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  EXPECT_EQ(read_kept(file), "code");
  ASSERT_EQ(::chmod(file.parent_path().c_str(), 0777), 0);
  EXPECT_EQ(read_kept(file), "");
  EXPECT_FALSE(write_kept(file, {"more"}));
  ASSERT_EQ(::chmod(file.parent_path().c_str(), 0700), 0);
  EXPECT_EQ(read_kept(file), "code");
}

TEST(kept_file, of_another_user_does_not_count) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const folder place;
  const fs::path file = place.path() / "kept/a.bin";
  ASSERT_TRUE(write_kept(file, {"code"}));
  ASSERT_EQ(::chown(file.c_str(), 54321, static_cast<gid_t>(-1)), 0);
  EXPECT_EQ(read_kept(file), "");
  ASSERT_EQ(::chown(file.c_str(), 0, static_cast<gid_t>(-1)), 0);
  ASSERT_EQ(::chown(file.parent_path().c_str(), 54321, static_cast<gid_t>(-1)), 0);
  EXPECT_EQ(read_kept(file), "");
  EXPECT_FALSE(write_kept(file, {"more"}));
}

TEST(kept_file, links_are_not_followed) {
  const folder place;
  const fs::path file = place.path() / "kept/a.bin", elsewhere = place.write("elsewhere", "theirs");
  ASSERT_TRUE(write_kept(place.path() / "kept/b.bin", {"x"}));
  fs::create_symlink(elsewhere, file);
  EXPECT_EQ(read_kept(file), "");
  ASSERT_TRUE(write_kept(file, {"ours"}));  // takes the link's place
  EXPECT_EQ(read_kept(file), "ours");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(std::ifstream(elsewhere).rdbuf()), {}), "theirs");
  fs::create_directory_symlink(place.path() / "kept", place.path() / "way");
  EXPECT_EQ(read_kept(place.path() / "way/a.bin"), "");
  EXPECT_FALSE(write_kept(place.path() / "way/a.bin", {"more"}));
  ASSERT_EQ(::mkfifo((place.path() / "kept/pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_kept(place.path() / "kept/pipe"), "");  // and nobody waits for a writer
}

TEST(kept_file, several_writers_leave_one_of_theirs) {
  const folder place;
  const fs::path file = place.path() / "kept/a.bin";
  std::vector<std::thread> writers;
  for (int w = 0; w < 4; ++w)
    writers.emplace_back([&, w] {
      const std::string text(20000, static_cast<char>('a' + w));
      for (int k = 0; k < 20; ++k) {
        EXPECT_TRUE(write_kept(file, {text}));
        const std::string seen = read_kept(file);
        EXPECT_EQ(seen, std::string(20000, seen.at(0)));
      }
    });
  for (std::thread& one : writers) one.join();
  EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), {}), 1);
}

}  // namespace
}  // namespace tessera::kit
