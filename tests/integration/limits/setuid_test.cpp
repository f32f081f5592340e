// A program that has more rights than the user who starts it does not listen to that user's environment.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>

#include "integration/limits/limited.hpp"
#include "unit/plugin/folder.hpp"

namespace limits_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(setuid, variables_do_not_count) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make a program that runs as somebody else";
  const plugin_test::folder place;
  struct statvfs files {};
  if (::statvfs(place.path().c_str(), &files) != 0 || (files.f_flag & ST_NOSUID) != 0)
    GTEST_SKIP() << "no setuid programs on the file system of " << place.path();
  for (std::filesystem::path folder = TESSERA_BINARY_DIR "/lib"; folder != folder.root_path();
       folder = folder.parent_path()) {
    struct stat is {};
    if (::stat(folder.c_str(), &is) != 0 || (is.st_mode & S_IXOTH) == 0)
      GTEST_SKIP() << "somebody else cannot load the program's libraries: " << folder << " is not theirs to enter";
  }
  const std::string program = place.path() / "tessera";
  std::filesystem::copy_file(TESSERA_BINARY_DIR "/bin/tessera", program);
  constexpr uid_t nobody = 65534;
  ASSERT_EQ(::chmod(place.path().c_str(), 0755), 0);
  ASSERT_EQ(::chown(program.c_str(), nobody, static_cast<gid_t>(-1)), 0);
  const std::string set = "export TESSERA_RUNTIME_WORKERS=3 XDG_CACHE_HOME=" + place.path().string();
  const std::string line = "; exec " + program + " config explain; :";
  ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
  const outcome plain = run_behind(set + line, "");
  if (plain.code != 0) GTEST_SKIP() << "a copy of the program does not start here: " << plain.text;
  EXPECT_THAT(plain.text, HasSubstr("TESSERA_RUNTIME_WORKERS"));
  ASSERT_EQ(::chmod(program.c_str(), 04755), 0);
  const outcome raised = run_behind(set + line, "");
  EXPECT_EQ(raised.code, 0) << raised.text;
  EXPECT_THAT(raised.text, Not(HasSubstr("TESSERA_RUNTIME_WORKERS")));
  EXPECT_THAT(raised.text, HasSubstr("workers"));
}

}  // namespace
}  // namespace limits_test
