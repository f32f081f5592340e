// The documents of the repository: links lead somewhere, no page waits to be filled in, and each folder of the house
// says what it is for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "tests/documents/files.hpp"
#include "tests/documents/markdown.hpp"

namespace documents {
namespace {

namespace fs = std::filesystem;

bool has_anchor(const fs::path& page, const std::string& anchor) {
  const auto known = anchors(read(page));
  return std::find(known.begin(), known.end(), anchor) != known.end();
}

std::vector<std::string> broken_links(const fs::path& document) {
  std::vector<std::string> broken;
  for (const std::string& link : links(read(document))) {
    if (link.find("://") != link.npos || link.starts_with("mailto:")) continue;
    const std::size_t hash = link.find('#');
    const std::string file = link.substr(0, hash);
    const fs::path target = file.empty() ? document : document.parent_path() / file;
    if (!fs::exists(target))
      broken.push_back(link);
    else if (hash != link.npos && !has_anchor(target, link.substr(hash + 1)))
      broken.push_back(link + " (no such heading)");
  }
  return broken;
}

TEST(documents, links_lead_somewhere) {
  const auto all = pages(TESSERA_SOURCE_DIR);
  EXPECT_GE(all.size(), 10u);
  for (const auto& document : all) EXPECT_THAT(broken_links(document), testing::IsEmpty()) << document;
}

TEST(documents, every_folder_of_the_house_says_what_it_is_for) {
  for (const char* house : {"core", "hierarchy", "plugins", "apps"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(TESSERA_SOURCE_DIR) / house)) {
      if (!entry.is_directory() || fs::is_empty(entry)) continue;
      EXPECT_TRUE(fs::exists(entry.path() / "README.md")) << entry.path() << " has no README.md";
    }
  }
}

// Words that somebody meant to fill in: @INTRO@, TODO.
std::vector<std::string> placeholders(const std::string& text) {
  static const std::regex form("@[A-Z][A-Z0-9_]*@|\\b(TODO|TBD|FIXME|XXX)\\b");
  return {std::sregex_token_iterator(text.begin(), text.end(), form), {}};
}

TEST(documents, no_page_waits_to_be_filled_in) {
  for (const auto& document : pages(TESSERA_SOURCE_DIR))
    EXPECT_THAT(placeholders(read(document)), testing::IsEmpty()) << document;
}

TEST(documents, a_placeholder_is_found) {
  EXPECT_THAT(placeholders("a@b.c @INTRO@ and `@ONLY`, to do: TODO later @W_2@"),
              testing::ElementsAre("@INTRO@", "TODO", "@W_2@"));
}

TEST(documents, a_broken_link_is_found) {
  const fs::path folder = fs::path(testing::TempDir()) / "tessera_documents_test";
  fs::create_directories(folder);
  std::ofstream(folder / "a.md")
      << "# One heading\n[good](b.md) and [bad](c.md), [here](#one-heading), [nowhere](#two)\n"
         "```\n[code](d.md)\n```\n[far](https://example.invalid/x)\n[there](b.md#part-2)\n";
  std::ofstream(folder / "b.md") << "## Part 2\n";
  const auto broken = broken_links(folder / "a.md");
  fs::remove_all(folder);
  EXPECT_THAT(broken, testing::ElementsAre("c.md", "#two (no such heading)"));
}

}  // namespace
}  // namespace documents
