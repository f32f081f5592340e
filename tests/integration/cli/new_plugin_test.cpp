// tessera plugins new: what it writes, and what it refuses without writing anything. tests/skeletons builds and runs
// what it writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using plugin_test::folder;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

constexpr int usage_code = 2, output_code = 11;

outcome make(const std::string& name, const std::string& language, const fs::path& directory,
             std::vector<std::string> more = {}) {
  std::vector<std::string> arguments{"plugins", "new", name, "--language", language, "--directory", directory.string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(arguments);
}

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST(new_plugin, has_its_name_in_every_file) {
  const folder place;
  const std::map<std::string, std::vector<std::string>> files{
      {"c", {"CMakeLists.txt", "README.md", "plugin.c"}},
      {"c++", {"CMakeLists.txt", "README.md", "plugin.cpp"}},
      {"rust", {"Cargo.toml", "README.md", "plugin.rs", "tessera.rs"}}};
  for (const auto& [language, names] : files) {
    const fs::path there = place.path() / language;
    const outcome done = make("far-2_b", language, there);
    ASSERT_EQ(done.code, 0) << done.err;
    EXPECT_EQ(done.err, "");
    EXPECT_EQ(names_in(there), names);
    for (const std::string& name : names) {
      const std::string text = contents(there / name);
      EXPECT_THAT(done.out, HasSubstr("wrote " + (there / name).string() + "\n"));
      EXPECT_THAT(text, Not(HasSubstr("%NAME%"))) << name;
      if (name == "tessera.rs") continue;  // the header, the same for all
      EXPECT_THAT(text, HasSubstr("far-2_b")) << name;
      EXPECT_THAT(text, Not(HasSubstr("\"template\""))) << name;
    }
  }
}

TEST(new_plugin, is_the_template_of_the_tree) {
  const folder place;
  ASSERT_EQ(make("template", "c", place.path() / "c").code, 0);
  ASSERT_EQ(make("template", "C++", place.path() / "cpp").code, 0);
  ASSERT_EQ(make("template", "Rust", place.path() / "rust").code, 0);
  EXPECT_EQ(contents(place.path() / "c/plugin.c"), contents(source("plugins/template/template.c")));
  EXPECT_EQ(contents(place.path() / "cpp/plugin.cpp"), contents(source("plugins/template/template.cpp")));
  EXPECT_EQ(contents(place.path() / "rust/plugin.rs"), contents(source("plugins/template/template.rs")));
  EXPECT_EQ(contents(place.path() / "rust/tessera.rs"), contents(source("plugins/template/tessera.rs")));
}

TEST(new_plugin, is_told_as_json) {
  const folder place;
  const outcome printed = make("mine", "rust", place.path() / "one", {"--json", "-"});
  ASSERT_EQ(printed.code, 0) << printed.err;
  const fs::path listed = place.path() / "list.json";
  const outcome written = make("mine", "rust", place.path() / "two", {"--json", listed.string()});
  ASSERT_EQ(written.code, 0) << written.err;
  EXPECT_THAT(written.out, HasSubstr("wrote "));
  for (const auto& [text, where] : {std::pair(printed.out, "one"), std::pair(contents(listed), "two")}) {
    const auto json = json_of(text);
    EXPECT_EQ(json.at("name"), "mine");
    EXPECT_EQ(json.at("language"), "rust");
    EXPECT_EQ(json.at("directory"), (place.path() / where).string());
    ASSERT_EQ(json.at("files").size(), 4u);
    for (const auto& file : json.at("files")) EXPECT_TRUE(fs::is_regular_file(file.get<std::string>())) << file;
  }
}

TEST(new_plugin, goes_into_an_empty_folder) {
  const folder place;
  fs::create_directory(place.path() / "empty");
  EXPECT_EQ(make("mine", "c", place.path() / "empty").code, 0);
  EXPECT_EQ(names_in(place.path() / "empty").size(), 3u);
}

TEST(new_plugin, overwrites_nothing) {
  const folder place;
  const fs::path there = place.path() / "mine";
  ASSERT_EQ(make("mine", "c", there).code, 0);
  std::ofstream(there / "plugin.c") << "changed";
  const outcome again = make("mine", "c", there);
  EXPECT_EQ(again.code, usage_code);
  EXPECT_THAT(again.err, AllOf(HasSubstr("not empty"), HasSubstr(there.string()), HasSubstr("--directory")));
  EXPECT_EQ(contents(there / "plugin.c"), "changed");
  const outcome file = make("mine", "c", there / "plugin.c");
  EXPECT_EQ(file.code, usage_code);
  EXPECT_THAT(file.err, HasSubstr("no folder"));
}

TEST(new_plugin, needs_a_name_that_the_abi_allows) {
  const folder place;
  for (const std::string name : {"", "Far", "far away", "far.1", "f\xc3\xa4r", "a/b",
                                 "0123456789012345678901234567890123456789012345678901234567890123x"}) {
    const outcome done = make(name, "c", place.path() / "x");
    EXPECT_EQ(done.code, usage_code) << name;
    EXPECT_THAT(done.err, HasSubstr("hint")) << name;
    EXPECT_FALSE(fs::exists(place.path() / "x")) << name;
  }
  const std::string longest = "0123456789-123456789_123456789012345678901234567890123456789abcd";
  ASSERT_EQ(longest.size(), 64u);
  EXPECT_EQ(make(longest, "c", place.path() / "x").code, 0);
}

TEST(new_plugin, needs_a_language_that_there_is) {
  const folder place;
  for (const auto& [language, hint] : {std::pair("rusty", "did you mean 'rust'?"),
                                       std::pair("cpp", "did you mean 'c++'?"), std::pair("fortran", "c, c++, rust")}) {
    const outcome done = make("mine", language, place.path() / "x");
    EXPECT_EQ(done.code, usage_code) << language;
    EXPECT_THAT(done.err, AllOf(HasSubstr("'" + std::string(language) + "'"), HasSubstr("--language"), HasSubstr(hint)))
        << language;
  }
  EXPECT_EQ(run({"plugins", "new", "mine"}).code, usage_code);
  EXPECT_EQ(run({"plugins", "new", "--language", "c"}).code, usage_code);
}

TEST(new_plugin, needs_a_folder_that_can_be_made) {
  const folder place;
  const outcome deep = make("mine", "c", place.path() / "no" / "such" / "folder");
  EXPECT_EQ(deep.code, usage_code);
  EXPECT_THAT(deep.err, AllOf(HasSubstr("cannot make the folder"), HasSubstr("No such file or directory")));
  const outcome json =
      make("mine", "c", place.path() / "x", {"--json", (place.path() / "none" / "list.json").string()});
  EXPECT_EQ(json.code, usage_code);
  EXPECT_FALSE(fs::exists(place.path() / "x"));
  if (geteuid() == 0) return;  // may write everywhere
  fs::permissions(place.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(make("mine", "c", place.path() / "x").code, usage_code);
  fs::permissions(place.path(), fs::perms::owner_all);
}

TEST(new_plugin, that_does_not_fit_leaves_nothing) {
  const folder place;
  const fs::path there = place.path() / "x";
  const outcome done =
      program({"plugins", "new", "mine", "--language", "rust", "--directory", there.string()}, {}, {.file_limit = 8192})
          .wait();
  EXPECT_EQ(done.code, output_code) << done.err;
  EXPECT_FALSE(fs::exists(there));
}

}  // namespace
