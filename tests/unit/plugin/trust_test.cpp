// Whose files are loaded: what the registry's tests cannot reach, asked directly.
#include "core/plugin/trust.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/plugin/library.hpp"
#include "tests/support/error_of.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace tessera::plugin {
namespace {

using plugin_test::folder;
using test_support::message_of;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

TEST(trust, files_and_folders_of_other_users_are_refused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const folder place;
  const auto file = place.write("a.so", "x");
  EXPECT_NO_THROW(check_trust(file));
  constexpr uid_t stranger = 54321;
  ASSERT_EQ(::chown(file.c_str(), stranger, static_cast<gid_t>(-1)), 0);
  EXPECT_THAT(message_of([&] { check_trust(file); }, error_kind::plugin),
              HasSubstr("belongs to user 54321, who is neither root nor you (user 0)"));
  ASSERT_EQ(::chown(file.c_str(), 0, static_cast<gid_t>(-1)), 0);
  ASSERT_EQ(::chown(place.path().c_str(), stranger, static_cast<gid_t>(-1)), 0);
  EXPECT_THAT(message_of([&] { check_trust(file); }, error_kind::plugin),
              HasSubstr("the directory " + place.path().string()));
}

TEST(trust, what_is_not_there_or_no_file_is_refused) {
  const folder place;
  EXPECT_THAT(message_of([&] { check_trust(place.path() / "missing.so"); }, error_kind::plugin),
              HasSubstr("cannot be found"));
  EXPECT_THAT(message_of([&] { check_trust(place.path()); }, error_kind::plugin), HasSubstr("not a file"));
  EXPECT_THAT(message_of([&] { check_trust(place.write("a.so", "x") / "b.so"); }, error_kind::plugin),
              HasSubstr("Not a directory"));
  ASSERT_EQ(::mkfifo((place.path() / "pipe.so").c_str(), 0600), 0);
  EXPECT_THAT(message_of([&] { check_trust(place.path() / "pipe.so"); }, error_kind::plugin),
              HasSubstr("not a file"));  // and nobody waits for a writer
  fs::create_symlink("round.so", place.path() / "round.so");
  EXPECT_THAT(message_of([&] { check_trust(place.path() / "round.so"); }, error_kind::plugin),
              HasSubstr("symbolic links"));
}

TEST(trust, every_directory_on_the_way_counts) {
  const folder place;
  fs::create_directories(place.path() / "open/inner/plugins");
  const fs::path file = place.path() / "open/inner/plugins/a.so";
  std::ofstream(file) << "x";
  EXPECT_NO_THROW(check_trust(file));
  ASSERT_EQ(::chmod((place.path() / "open").c_str(), 0777), 0);  // anybody can put another `inner` there
  EXPECT_THAT(message_of([&] { check_trust(file); }, error_kind::plugin),
              HasSubstr("the directory " + (place.path() / "open").string() + " is writable by everybody"));
  ASSERT_EQ(::chmod((place.path() / "open").c_str(), 01777), 0);  // as /tmp: only what is one's own can be replaced
  EXPECT_NO_THROW(check_trust(file));
  ASSERT_EQ(::chmod((place.path() / "open").c_str(), 0775), 0);  // a group of administrators
  EXPECT_NO_THROW(check_trust(file));
}

TEST(trust, directories_of_links_count_too) {
  const folder place;
  fs::create_directories(place.path() / "safe/plugins");
  fs::create_directories(place.path() / "open/links");
  std::ofstream(place.path() / "safe/plugins/a.so") << "x";
  fs::create_symlink("../../safe/plugins", place.path() / "open/links/plugins");
  fs::create_symlink(place.path() / "open/links", place.path() / "way");
  const fs::path file = place.path() / "way/plugins/./../plugins/a.so";
  EXPECT_EQ(trusted_file(file).real(), fs::canonical(file));
  EXPECT_EQ(trusted_file(file).path(), file);
  ASSERT_EQ(::chmod((place.path() / "open").c_str(), 0777), 0);
  EXPECT_THAT(message_of([&] { check_trust(file); }, error_kind::plugin),
              HasSubstr("the directory " + (place.path() / "open").string()));
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give links away";
  ASSERT_EQ(::chmod((place.path() / "open").c_str(), 01777), 0);
  EXPECT_NO_THROW(check_trust(file));
  ASSERT_EQ(::lchown((place.path() / "open/links/plugins").c_str(), 54321, static_cast<gid_t>(-1)),
            0);  // in /tmp anybody can make a link
  EXPECT_THAT(message_of([&] { check_trust(file); }, error_kind::plugin),
              HasSubstr("the link " + (place.path() / "open/links/plugins").string() + " belongs to user 54321"));
}

TEST(trust, a_file_that_is_swapped_behind_the_check_is_not_taken) {
  const folder place;
  const fs::path file = place.take("mini"), other = place.take("absent", "other.so");
  const trusted_file looked_at(file);
  const std::string sum = sha256_of(looked_at);
  fs::rename(other, file);
  EXPECT_EQ(sha256_of(looked_at), sum);  // of what was looked at
  EXPECT_THAT(message_of([&] { (void)load_symbol(looked_at, "tsr_plugin_query"); }, error_kind::plugin),
              HasSubstr("the file was replaced"));
  // The next look finds the other one, and it is what is loaded.
  EXPECT_NE(load_symbol(file, "tsr_plugin_query"), nullptr);
  EXPECT_EQ(load_symbol(file, "tsr_plugin_query"), load_symbol(trusted_file(file), "tsr_plugin_query"));
}

TEST(trust, a_file_that_replaces_a_loaded_one_is_not_taken_for_it) {
  const folder place;
  const fs::path file = place.take("mini");
  EXPECT_NE(load_symbol(file, "tsr_plugin_query"), nullptr);
  const fs::path other = place.take("absent", "other.so");
  fs::rename(other, file);
  EXPECT_THAT(message_of([&] { (void)load_symbol(file, "tsr_plugin_query"); }, error_kind::plugin),
              HasSubstr("what the linker has under this name is another one"));
}

TEST(trust, users_that_a_namespace_hides_are_known_by_its_map) {
  constexpr const char *everybody = "         0          0 4294967295\n", *one = "0 1000 1\n",
                       *many = "0 1000 1\n1 100000 65536\n";
  EXPECT_FALSE(owner_is_hidden(65534, everybody, "65534\n"));
  EXPECT_TRUE(owner_is_hidden(65534, one, "65534\n"));
  EXPECT_FALSE(owner_is_hidden(1234, one, "65534\n"));
  EXPECT_FALSE(owner_is_hidden(65534, many, "65534\n"));  // there 65534 is a user
  EXPECT_TRUE(owner_is_hidden(99, one, "99\n"));
  EXPECT_FALSE(owner_is_hidden(65534, "", ""));
}

}  // namespace
}  // namespace tessera::plugin
