// README.md shows a program, its output and figures: they are those of the example and of docs/benchmarks.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/documents/files.hpp"
#include "tests/documents/markdown.hpp"

namespace documents {
namespace {

TEST(front_page, the_program_is_the_first_example) {
  const auto programs = code_blocks(read(root / "README.md"), "cpp");
  ASSERT_EQ(programs.size(), 1u);
  const std::string example = read(root / "examples/first/main.cpp");
  EXPECT_EQ(programs[0], example.substr(example.find("#include")));
}

// What the program prints is compared with this block by the test example_first_output.
TEST(front_page, shows_what_the_program_prints) { EXPECT_EQ(code_blocks(read(root / "README.md"), "text").size(), 1u); }

TEST(front_page, the_figures_are_rows_of_the_benchmarks) {
  std::vector<std::string> known;
  for (const line& l : lines_of(read(root / "docs/benchmarks.md")))
    if (l.kind == line_kind::table) known.push_back(l.text);
  int rows = 0;
  bool inside = false;
  for (const line& l : lines_of(read(root / "README.md"))) {
    inside = l.kind == line_kind::table && (inside || cells(l.text).front() == "figure");
    if (!inside) continue;
    ++rows;
    EXPECT_THAT(known, testing::Contains(l.text)) << "README.md, line " << l.number;
  }
  EXPECT_GT(rows, 5);
}

}  // namespace
}  // namespace documents
