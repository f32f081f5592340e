// docs/decisions: every page has a state, README.md repeats it, and a page that refines or supersedes another one is
// named there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "tests/documents/files.hpp"
#include "tests/documents/markdown.hpp"

namespace documents {
namespace {

const fs::path decisions = root / "docs/decisions";

/// What a page or a row says of a decision.
struct state {
  std::string word;                           ///< proposed, accepted, superseded
  std::set<std::string> changed_by, changes;  ///< numbers of the pages that refine or supersede it, and that it does
};

/// The numbers of four digits behind "refined by", "superseded by", "refines", "supersedes", up to the next ';'.
state parse(const std::string& text) {
  state found;
  found.word = text.substr(0, text.find_first_of(" ;.\n"));
  static const std::regex clause("(refined by|superseded by|refines|supersedes)([^;]*)"), number("\\b[0-9]{4}\\b");
  for (auto c = std::sregex_iterator(text.begin(), text.end(), clause); c != std::sregex_iterator(); ++c) {
    const std::string verb = (*c)[1], rest = (*c)[2];
    std::set<std::string>& into = verb.ends_with("by") ? found.changed_by : found.changes;
    for (auto n = std::sregex_iterator(rest.begin(), rest.end(), number); n != std::sregex_iterator(); ++n)
      into.insert(n->str());
  }
  return found;
}

std::map<std::string, state> states_of_the_pages() {
  std::map<std::string, state> found;
  for (const auto& entry : fs::directory_iterator(decisions)) {
    const std::string name = entry.path().filename().string();
    if (name == "README.md") continue;
    for (const line& l : lines_of(read(entry.path())))
      if (l.text.starts_with("State: ")) found[name.substr(0, 4)] = parse(l.text.substr(7));
    EXPECT_TRUE(found.contains(name.substr(0, 4))) << name << " has no line 'State: ...'";
  }
  return found;
}

TEST(decisions, the_table_repeats_the_states) {
  std::map<std::string, state> rows;
  for (const line& l : lines_of(read(decisions / "README.md"))) {
    if (l.kind != line_kind::table || !l.text.starts_with("| [")) continue;
    const auto row = cells(l.text);
    ASSERT_EQ(row.size(), 3u);
    rows[row[0].substr(1, 4)] = parse(row[2]);
  }
  const auto pages = states_of_the_pages();
  EXPECT_EQ(rows.size(), pages.size());
  for (const auto& [number, page] : pages) {
    EXPECT_THAT((std::set<std::string>{"proposed", "accepted", "superseded"}), testing::Contains(page.word)) << number;
    EXPECT_EQ(rows[number].word, page.word) << number;
    EXPECT_EQ(rows[number].changed_by, page.changed_by) << number;
    if (page.word == "superseded") {
      EXPECT_FALSE(page.changed_by.empty()) << number << " does not say by which page";
    }
  }
}

TEST(decisions, pages_that_change_each_other_say_so_on_both_sides) {
  auto pages = states_of_the_pages();
  for (const auto& [number, page] : pages) {
    for (const std::string& later : page.changed_by)
      EXPECT_THAT(pages[later].changes, testing::Contains(number)) << later << " does not name " << number;
    for (const std::string& earlier : page.changes)
      EXPECT_THAT(pages[earlier].changed_by, testing::Contains(number)) << earlier << " does not name " << number;
  }
}

TEST(decisions, states_are_read) {
  const state both = parse("accepted; refined by [0038](0038_waiting.md) (views) and [0039](0039_b.md); refines 0003");
  EXPECT_EQ(both.word, "accepted");
  EXPECT_THAT(both.changed_by, testing::ElementsAre("0038", "0039"));
  EXPECT_THAT(both.changes, testing::ElementsAre("0003"));
  EXPECT_EQ(parse("superseded by 0041").changed_by.count("0041"), 1u);
  EXPECT_EQ(parse("accepted.").word, "accepted");
}

}  // namespace
}  // namespace documents
