// docs/directives.md and docs/regions.md show programs: those of tests/directives/guide and of examples, which are run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/documents/files.hpp"
#include "tests/documents/markdown.hpp"

namespace documents {
namespace {

/// The files of tests/directives/guide with this ending, in the order of their names.
std::vector<fs::path> examples(const char* ending) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(root / "tests/directives/guide"))
    if (entry.path().extension() == ending) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

TEST(directives_page, has_the_examples_that_are_run) {
  const auto programs = code_blocks(read(root / "docs/directives.md"), "cpp");
  const auto files = examples(".cpp");
  ASSERT_EQ(programs.size(), files.size());
  EXPECT_EQ(files.size(), 10u);
  for (std::size_t k = 0; k < files.size(); ++k) {
    const std::string source = read(files[k]);
    EXPECT_EQ(programs[k], source.substr(source.find("#include"))) << files[k];
  }
}

TEST(directives_page, shows_what_each_example_prints) {
  const auto texts = code_blocks(read(root / "docs/directives.md"), "text");
  for (const fs::path& file : examples(".out")) EXPECT_THAT(texts, testing::Contains(read(file))) << file;
  EXPECT_EQ(examples(".out").size(), examples(".cpp").size());
}

TEST(directives_page, begins_with_the_example_of_the_repository) {
  const std::string example = read(root / "examples/directives/main.cpp");
  EXPECT_EQ(code_blocks(read(root / "docs/directives.md"), "cpp").at(0), example.substr(example.find("#include")));
}

TEST(regions_page, begins_with_the_example_of_the_repository) {
  const std::string example = read(root / "examples/regions/main.cpp");
  EXPECT_EQ(code_blocks(read(root / "docs/regions.md"), "cpp").at(0), example.substr(example.find("#include")));
}

}  // namespace
}  // namespace documents
