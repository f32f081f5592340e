// Whose files are loaded: what the registry's tests cannot reach, asked directly.
#include "core/plugin/trust.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/error_of.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace tessera::plugin {
namespace {

using plugin_test::folder;
using test_support::message_of;
using ::testing::HasSubstr;

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
  EXPECT_THAT(message_of([&] { check_trust(file); }, error_kind::plugin), HasSubstr("the directory " + place.path().string()));
}

TEST(trust, what_is_not_there_or_no_file_is_refused) {
  const folder place;
  EXPECT_THAT(message_of([&] { check_trust(place.path() / "missing.so"); }, error_kind::plugin), HasSubstr("cannot be found"));
  EXPECT_THAT(message_of([&] { check_trust(place.path()); }, error_kind::plugin), HasSubstr("not a file"));
  EXPECT_THAT(message_of([&] { (void)sha256_of(place.path() / "missing.so"); }, error_kind::plugin),
              HasSubstr("the checksum cannot be computed: the file cannot be read"));
  EXPECT_THAT(message_of([&] { (void)sha256_of(place.path()); }, error_kind::plugin), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace tessera::plugin
