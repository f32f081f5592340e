// The documents of the repository: links lead somewhere, no page waits to be filled in, and each folder of the house
// says what it is for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Every .md file outside build folders and hidden ones.
std::vector<fs::path> documents(const fs::path& root) {
  std::vector<fs::path> found;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory() && (name.starts_with('.') || (entry.depth() == 0 && name.starts_with("build"))))
      entry.disable_recursion_pending();
    else if (entry->path().extension() == ".md")
      found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The anchor that a heading gets: lower case, blanks as '-', other signs dropped.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '_' || c == '-') anchor += static_cast<char>(std::tolower(byte));
    if (c == ' ') anchor += '-';
  }
  return anchor;
}

bool has_anchor(const std::string& text, const std::string& anchor) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const std::size_t words = line.find_first_not_of('#');
    if (line.starts_with('#') && words != line.npos && anchor_of(line.substr(words + 1)) == anchor) return true;
    at = end + 1;
  }
  return false;
}

// The targets of [words](target) outside of code blocks.
std::vector<std::string> links(const std::string& text) {
  std::vector<std::string> found;
  bool code = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.starts_with("```")) code = !code;
    for (std::size_t open = line.find("]("); !code && open != line.npos; open = line.find("](", open + 1)) {
      const std::size_t close = line.find(')', open);
      if (close != line.npos) found.push_back(line.substr(open + 2, close - open - 2));
    }
    at = end + 1;
  }
  return found;
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
    else if (hash != link.npos && !has_anchor(read(target), link.substr(hash + 1)))
      broken.push_back(link + " (no such heading)");
  }
  return broken;
}

TEST(documents, links_lead_somewhere) {
  const auto all = documents(TESSERA_SOURCE_DIR);
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
  for (const auto& document : documents(TESSERA_SOURCE_DIR))
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
