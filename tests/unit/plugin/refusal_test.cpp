// Plugins with one thing wrong: each message says what, where and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tessera/plugin.h>

#include "core/plugin/registry.hpp"
#include "core/plugin/trust.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace tessera;
using namespace tessera::plugin;
using namespace plugin_test;
using testing::HasSubstr;
namespace fs = std::filesystem;

/// What opening this file alone throws.
error refusal_of(const std::string& path) {
  try {
    const registry all({.directories = {}, .wanted = {path}});
  } catch (const error& failure) {
    return failure;
  }
  return error(error_kind::internal, "nothing was thrown");
}

struct wrong_plugin {
  const char* name;
  std::string message;  // part of what is said
  std::string hint;     // part of what to do
};

class refusal : public testing::TestWithParam<wrong_plugin> {};

TEST_P(refusal, says_what_where_and_what_to_do) {
  const error failure = refusal_of(built(GetParam().name));
  EXPECT_EQ(failure.kind(), error_kind::plugin) << failure.what();
  EXPECT_THAT(failure.message(), HasSubstr(GetParam().message));
  EXPECT_THAT(failure.where(), HasSubstr(built(GetParam().name)));
  EXPECT_THAT(failure.hint(), HasSubstr(GetParam().hint));
}

INSTANTIATE_TEST_SUITE_P(
    plugins, refusal,
    testing::Values(
        wrong_plugin{"undefined_symbol", "mini_symbol_that_nobody_defines", "-Wl,-z,defs"},
        wrong_plugin{"no_query", "does not export tsr_plugin_query", "TSR_EXPORT"},
        wrong_plugin{"major",
                     "ABI " + std::to_string(TSR_ABI_MAJOR + 7) + "." + std::to_string(TSR_ABI_MINOR) +
                         ", this program offers " + std::to_string(TSR_ABI_MAJOR) + "." + std::to_string(TSR_ABI_MINOR),
                     "tessera/plugin.h"},
        wrong_plugin{"null_header", "cannot serve this version", "a build of the plugin for this version"},
        wrong_plugin{"kind", "kind 77", "1 device"}, wrong_plugin{"missing_entry", "\"copy\"", "struct_size"},
        wrong_plugin{"empty_sparse", "an entry of the SPARSE table", "spmm"},
        wrong_plugin{"short_table", "\"copy\"", "struct_size"}, wrong_plugin{"missing_open", "\"open\"", "struct_size"},
        wrong_plugin{"open_fails", "PERMISSION_DENIED: the driver refused: /dev/mini", "runtime.plugins"},
        wrong_plugin{"device_open_fails", "UNAVAILABLE: the cable is not plugged in", "runtime.plugins"},
        wrong_plugin{"absent", "no driver of this device is installed", "\"absent?\""},
        wrong_plugin{"no_device", "no device", "\"no_device?\""},
        wrong_plugin{"no_memory", "\"mini device 0\" of plugin \"no_memory\" has no memory", "at least one space"},
        wrong_plugin{"null_device", "there is no device (a null pointer)", "*out_device"},
        wrong_plugin{"missing_base", "HOST_VISIBLE and has no mem_base", "set mem_base"},
        wrong_plugin{"sanitizer", "sanitizer", "TESSERA_SANITIZE"},
        wrong_plugin{"throwing", "threw a C++ exception out of open: forty-two is not a prime", "host->error"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(refusals, what_may_be_absent_is_quiet) {
  std::vector<int> levels;
  registry_options options{.directories = {test_plugins()}, .wanted = {"absent?", "no_device?", "mini"}};
  options.log = [&](int level, const std::string&) { levels.push_back(level); };
  const registry all(options);
  EXPECT_EQ(all.devices().size(), 1u);
  EXPECT_THAT(levels, testing::Each(0));
  int unavailable = 0;
  for (const file_report& file : all.files())
    if (file.outcome == file_report::state::unavailable) {
      ++unavailable;
      EXPECT_FALSE(file.reason.empty());
    }
  EXPECT_EQ(unavailable, 2);
}

TEST(refusals, optional_but_unfit_is_reported) {
  std::vector<std::string> warnings;
  registry_options options{.directories = {test_plugins()}, .wanted = {"open_fails?", "undefined_symbol?"}};
  options.log = [&](int level, const std::string& line) {
    if (level == 2) warnings.push_back(line);
  };
  const registry all(options);
  EXPECT_GE(warnings.size(), 2u);
  int refused = 0;
  for (const file_report& file : all.files()) refused += file.outcome == file_report::state::refused ? 1 : 0;
  EXPECT_EQ(refused, 2);
}

TEST(refusals, not_a_library) {
  const folder place;
  const error failure = refusal_of(place.write("tessera_text.so", "hello"));
  EXPECT_THAT(failure.message(), HasSubstr("no ELF header"));
  EXPECT_THAT(failure.where(), HasSubstr("tessera_text.so"));
  EXPECT_FALSE(failure.hint().empty());
  EXPECT_THAT(refusal_of(place.write("empty.so", "")).message(), HasSubstr("no ELF header"));
  const fs::path half = place.take("mini", "half.so");
  fs::resize_file(half, 100);
  EXPECT_THAT(refusal_of(half).message(), HasSubstr("truncated"));
  EXPECT_THAT(refusal_of("/no/such/file.so").message(), HasSubstr("cannot be found"));
  EXPECT_THAT(refusal_of(place.path()).message(), HasSubstr("not a file"));
}

TEST(refusals, a_sanitizers_runtime_is_seen_before_it_is_loaded) {
  if (!fs::exists(built("with_asan"))) GTEST_SKIP() << "this program has a sanitizer itself";
  const error failure = refusal_of(built("with_asan"));  // loading it would end this process
  EXPECT_THAT(failure.message(), HasSubstr("the address sanitizer, this program with no sanitizer"));
  EXPECT_THAT(failure.hint(), HasSubstr("TESSERA_SANITIZE"));
}

TEST(refusals, world_writable_file) {
  const folder place;
  const fs::path file = place.take("mini");
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  const error failure = refusal_of(file);
  EXPECT_EQ(failure.kind(), error_kind::plugin);
  EXPECT_THAT(failure.message(), HasSubstr("writable by everybody"));
  EXPECT_EQ(failure.where(), file.string());
  EXPECT_THAT(failure.hint(), HasSubstr("chmod o-w"));
  fs::permissions(file, fs::perms::others_write, fs::perm_options::remove);
  fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
  EXPECT_NO_THROW((registry{{.directories = {}, .wanted = {file}}}));
}

TEST(refusals, world_writable_directory) {
  const folder place, other;
  const fs::path file = place.take("mini");
  fs::permissions(place.path(), fs::perms::others_write, fs::perm_options::add);
  const error failure = refusal_of(file);
  EXPECT_THAT(failure.message(), HasSubstr("directory " + place.path().string()));
  EXPECT_THAT(failure.hint(), HasSubstr("chmod o-w '" + place.path().string()));
  // A wanted plugin whose file is refused is not taken from the next directory behind the user's back.
  other.take("mini");
  EXPECT_THROW((registry{{.directories = {place.path(), other.path()}, .wanted = {"mini"}}}), error);
  // A link from elsewhere does not help.
  fs::create_symlink(file, other.path() / "link.so");
  EXPECT_THAT(refusal_of(other.path() / "link.so").message(), HasSubstr("writable by everybody"));
  fs::permissions(place.path(), fs::perms::sticky_bit, fs::perm_options::add);
  EXPECT_NO_THROW((registry{{.directories = {}, .wanted = {file}}}));
}

TEST(refusals, checksum) {
  const folder place;
  place.write("abc", "abc");  // FIPS 180-4, example B.1
  EXPECT_EQ(sha256_of(trusted_file(place.path() / "abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const fs::path file = place.take("mini");
  const std::string right = sha256_of(trusted_file(file));
  EXPECT_NO_THROW((registry{{.directories = {place.path()}, .wanted = {"mini"}, .sha256 = {{"mini", right}}}}));
  try {
    const registry all({.directories = {place.path()}, .wanted = {"mini"}, .sha256 = {{"mini", std::string(64, '0')}}});
    FAIL() << "a wrong checksum passed";
  } catch (const error& failure) {
    EXPECT_THAT(failure.message(), HasSubstr(right));
    EXPECT_THAT(failure.hint(), HasSubstr("[checksums] mini"));
  }
}

TEST(refusals, relative_directory) {
  try {
    const registry all({.directories = {"plugins"}, .wanted = {}});
    FAIL() << "a relative directory passed";
  } catch (const error& failure) {
    EXPECT_EQ(failure.kind(), error_kind::configuration);
    EXPECT_THAT(failure.message(), HasSubstr("not absolute"));
  }
}

TEST(refusals, a_survey_leaves_out_what_may_not_join_a_wanted_plugin) {
  const folder place;
  place.take("opencl");
  place.take("hip");
  for (const std::string& wanted : {std::string("opencl?"), (place.path() / "tessera_opencl.so").string()}) {
    std::string reason;
    for (const file_report& file : registry::survey({.directories = {place.path()}, .wanted = {wanted}}))
      if (file.name == "hip") reason = file.reason;
    EXPECT_THAT(reason, HasSubstr("not looked into: it cannot be in one process with opencl, which is wanted"))
        << wanted;
  }
  const registry all({.directories = {place.path()}, .wanted = {"opencl"}});
  EXPECT_EQ(all.devices().size(), 1u);
}

TEST(refusals, opencl_and_hip_do_not_meet) {
  const folder place;
  place.take("opencl");
  place.take("hip");
  try {
    const registry all({.directories = {place.path()}, .wanted = {"opencl", "hip"}});
    FAIL() << "both were loaded";
  } catch (const error& failure) {
    EXPECT_THAT(failure.message(), HasSubstr("LLVM"));
    EXPECT_THAT(failure.hint(), HasSubstr("only one"));
  }
}

}  // namespace
