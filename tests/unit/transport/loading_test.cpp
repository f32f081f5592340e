// Which file is a transport, and what is said of one that is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cluster/transport/transport.hpp"

namespace {

using namespace tessera;
using namespace tessera::cluster;
using testing::HasSubstr;
namespace fs = std::filesystem;

const fs::path own = TESSERA_TRANSPORT_DIR, wrong = TESSERA_WRONG_TRANSPORTS;

error refusal_of(const transport_options& options) {
  try {
    const transport opened(options);
  } catch (const error& failure) {
    return failure;
  }
  return error(error_kind::internal, "nothing was thrown");
}

TEST(transport_loading, finds_a_transport_by_name_and_by_path) {
  const transport by_name({.directories = {wrong, own}, .name = "inprocess"});
  EXPECT_EQ(by_name.file(), own / "tessera_inprocess.so");
  EXPECT_EQ(by_name.description().size, 2);
  EXPECT_EQ(by_name.description().local_count, 2);
  const transport by_path({.directories = {}, .name = (own / "tessera_inprocess.so").string()});
  EXPECT_EQ(by_path.name(), "inprocess");
}

TEST(transport_loading, says_which_transports_there_are) {
  const error near = refusal_of({.directories = {own}, .name = "inproces"});
  EXPECT_EQ(near.kind(), error_kind::plugin);
  EXPECT_THAT(near.message(), HasSubstr("there is no transport \"inproces\""));
  EXPECT_THAT(near.where(), HasSubstr(own.string()));
  EXPECT_THAT(near.hint(), HasSubstr("did you mean \"inprocess\"?"));
  EXPECT_THAT(refusal_of({.directories = {own}, .name = "carrier_pigeon"}).hint(), HasSubstr("inprocess"));
  EXPECT_THAT(refusal_of({.directories = {}, .name = "x"}).where(), HasSubstr("no transport directory is configured"));
  EXPECT_THAT(refusal_of({.directories = {"/nowhere"}, .name = "mpi"}).hint(), HasSubstr("libopenmpi-dev"));
  EXPECT_THAT(refusal_of({.directories = {"relative"}, .name = "x"}).message(), HasSubstr("not absolute"));
}

TEST(transport_loading, a_plugin_is_no_transport) {
  const error failure =
      refusal_of({.directories = {}, .name = (fs::path(TESSERA_PLUGIN_DIR) / "tessera_host.so").string()});
  EXPECT_THAT(failure.message(), HasSubstr("does not export tsr_transport_query"));
  EXPECT_THAT(failure.hint(), HasSubstr("TSR_EXPORT"));
}

TEST(transport_loading, options_are_checked_with_their_places) {
  const auto with = [](const char* name, const char* value) {
    return refusal_of(
        {.directories = {own}, .name = "inprocess", .values = {{name, std::string(value), "job.toml:3:1"}}});
  };
  const error unknown = with("rank", "2");
  EXPECT_EQ(unknown.kind(), error_kind::configuration);
  EXPECT_THAT(unknown.what(), HasSubstr("ranks"));
  EXPECT_THAT(unknown.where(), HasSubstr("job.toml:3:1"));
  EXPECT_EQ(with("ranks", "0").kind(), error_kind::configuration);
  EXPECT_EQ(with("delay", "yes").kind(), error_kind::configuration);
  const error together = with("lost_rank", "5");
  EXPECT_EQ(together.kind(), error_kind::plugin);
  EXPECT_THAT(together.message(), HasSubstr("lost_rank is 5; expected a rank, 0 to 1, or -1 for none"));
}

TEST(transport_loading, a_checksum_is_held_to) {
  const error failure = refusal_of({.directories = {own}, .name = "inprocess", .sha256 = std::string(64, 'a')});
  EXPECT_THAT(failure.what(), HasSubstr(std::string(64, 'a')));
}

TEST(transport_loading, a_file_that_others_may_write_is_refused) {
  const fs::path folder = fs::path(testing::TempDir()) / "transport_of_all";
  fs::create_directories(folder);
  const fs::path copy = folder / "tessera_inprocess.so";
  fs::copy_file(own / "tessera_inprocess.so", copy, fs::copy_options::overwrite_existing);
  fs::permissions(copy, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(refusal_of({.directories = {folder}, .name = "inprocess"}).kind(), error_kind::plugin);
  fs::remove_all(folder);
}

struct wrong_transport {
  const char* name;
  const char* message;
  const char* hint;
};
void PrintTo(const wrong_transport& one, std::ostream* out) { *out << one.name; }

class transport_refusal : public testing::TestWithParam<wrong_transport> {};

TEST_P(transport_refusal, says_what_where_and_what_to_do) {
  const error failure = refusal_of({.directories = {wrong}, .name = GetParam().name});
  EXPECT_EQ(failure.kind(), error_kind::plugin) << failure.what();
  EXPECT_THAT(failure.message(), HasSubstr(GetParam().message));
  EXPECT_THAT(failure.where(), HasSubstr(GetParam().name));
  EXPECT_THAT(failure.hint(), HasSubstr(GetParam().hint));
}

INSTANTIATE_TEST_SUITE_P(
    transports, transport_refusal,
    testing::Values(wrong_transport{"no_query", "does not export tsr_transport_query", "TSR_EXPORT"},
                    wrong_transport{"null_header", "cannot serve this version", "for this version of Tessera"},
                    wrong_transport{"short_header", "too short (8 bytes)", "sizeof(tsr_transport_header)"},
                    wrong_transport{"major", "transport ABI 8.0, this program offers 1.0", "tessera/transport.h"},
                    wrong_transport{"sanitizer", "an unknown sanitizer", "TESSERA_SANITIZE"},
                    wrong_transport{"bad_name", "not a name", "`name`"},
                    wrong_transport{"no_open", "\"open\"", "struct_size"},
                    wrong_transport{"short_table", "a mandatory entry", "endpoint_open"},
                    wrong_transport{"unplugged", "the cable is not plugged in", ""}));

}  // namespace
