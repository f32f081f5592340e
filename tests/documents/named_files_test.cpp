// Files that the pages for contributors name exist: the table "Where is ...?" and every file name in backticks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/documents/files.hpp"
#include "tests/documents/markdown.hpp"

namespace documents {
namespace {

constexpr std::string_view folders[] = {"include", "core",     "hierarchy", "cluster", "libraries", "languages", "apps",
                                        "plugins", "examples", "bench",     "tests",   "cmake",     "docs"};

/// Whether a code span is the name of a file of sources, with or without folders: `schedule/replays.cpp`. Names with
/// capitals stand for others: `NAME.toml`.
bool names_a_file(const std::string& span) {
  if (span.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_./") != span.npos) return false;
  return std::ranges::any_of(std::vector<std::string_view>{".hpp", ".cpp", ".h", ".c", ".cu", ".inc", ".rs", ".f90"},
                             [&](std::string_view end) { return span.ends_with(end) && span.size() > end.size(); });
}

/// "/core/base/error.hpp" and the like.
std::vector<std::string> files_of_the_repository() {
  std::vector<std::string> found;
  for (const std::string_view folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.is_regular_file()) found.push_back("/" + fs::relative(entry.path(), root).string());
  return found;
}

/// Those that no file of the repository ends with.
std::vector<std::string> missing(const std::string& page, const std::vector<std::string>& files) {
  std::set<std::string> found;
  for (const std::string& span : code_spans(page))
    if (names_a_file(span) &&
        std::ranges::none_of(files, [&](const std::string& file) { return file.ends_with("/" + span); }))
      found.insert(span);
  return {found.begin(), found.end()};
}

TEST(named_files, the_architecture_says_where_things_are) {
  const std::string page = read(root / "docs/architecture.md");
  std::size_t questions = 0;
  bool inside = false;
  for (const line& l : lines_of(page)) {
    if (l.kind == line_kind::heading) inside = l.text == "## Where is ...?";
    if (!inside || l.kind != line_kind::table || l.text.starts_with("|---") || l.text.starts_with("| behaviour"))
      continue;
    ++questions;
    const auto answers = links(l.text + "\n");
    EXPECT_FALSE(answers.empty()) << l.text;
    for (const std::string& answer : answers) EXPECT_TRUE(fs::exists(root / "docs" / answer)) << l.text;
  }
  EXPECT_GE(questions, 12u);
}

TEST(named_files, exist) {
  const auto files = files_of_the_repository();
  std::size_t looked_at = 0;
  for (const fs::path& page : pages()) {
    const std::string name = fs::relative(page, root).string();
    const bool of_a_folder = page.filename() == "README.md" && !name.starts_with("docs/") && name != "README.md";
    if ((!of_a_folder && name != "docs/architecture.md") || name.find("/skeleton/") != name.npos) continue;
    ++looked_at;
    EXPECT_THAT(missing(read(page), files), testing::IsEmpty()) << name;
  }
  EXPECT_GE(looked_at, 30u);
}

TEST(named_files, one_that_does_not_exist_is_found) {
  const std::vector<std::string> files = {"/core/base/error.hpp", "/core/task/flow.cpp"};
  EXPECT_THAT(missing("`error.hpp`, `task/flow.cpp`, `base/flow.cpp` and `or.hpp`, `NAME.hpp`, `.hpp`, `x.y`\n"
                      "```\n`code.cpp`\n```\n",
                      files),
              testing::ElementsAre("base/flow.cpp", "or.hpp"));
}

}  // namespace
}  // namespace documents
