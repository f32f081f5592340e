// The documents of the repository: links lead somewhere, tables are whole, no page waits to be filled in, lines are
// short, the language is plain, and each folder says what it is for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/documents/checks.hpp"
#include "tests/documents/files.hpp"

namespace documents {
namespace {

constexpr std::size_t max_columns = 120, max_words_of_a_sentence = 30, max_words_of_a_paragraph = 120;

std::string name_of(const fs::path& page) { return fs::relative(page, root).string(); }

/// Records of what was measured or changed: they stay as they were written.
bool is_record(const std::string& name) { return name.starts_with("docs/results/") || name == "CHANGELOG.md"; }

TEST(documents, links_lead_somewhere) {
  const auto all = pages();
  EXPECT_GE(all.size(), 100u);
  for (const auto& page : all) EXPECT_THAT(broken_links(page), testing::IsEmpty()) << name_of(page);
}

TEST(documents, tables_are_whole) {
  for (const auto& page : pages()) EXPECT_THAT(broken_tables(read(page)), testing::IsEmpty()) << name_of(page);
}

TEST(documents, no_page_waits_to_be_filled_in) {
  for (const auto& page : pages()) EXPECT_THAT(placeholders(read(page)), testing::IsEmpty()) << name_of(page);
}

TEST(documents, lines_are_short) {
  for (const auto& page : pages()) {
    const std::string name = name_of(page);
    if (is_record(name)) continue;
    EXPECT_THAT(long_lines(read(page), max_columns), testing::IsEmpty()) << name;
  }
}

/// What is wrong with a page that is to be read aloud.
faults hard_to_read(const fs::path& page) {
  const std::string text = read(page);
  faults found = long_sentences(text, max_words_of_a_sentence);
  for (const std::string& fault : long_paragraphs(text, max_words_of_a_paragraph)) found.push_back(fault);
  return found;
}

TEST(documents, sentences_and_paragraphs_are_short) {
  for (const auto& page : pages()) {
    const std::string name = name_of(page);
    if (is_record(name) || name.starts_with("docs/decisions/")) continue;
    if (name == "tests/data/rodinia/README.md") continue;  // quotes a licence
    EXPECT_THAT(hard_to_read(page), testing::IsEmpty()) << name;
  }
}

TEST(documents, the_language_is_plain) {
  for (const auto& page : pages()) {
    if (is_record(name_of(page))) continue;
    EXPECT_THAT(idioms(read(page)), testing::IsEmpty()) << name_of(page);
  }
}

// Merges join the lines of both sides (.gitattributes), also where one side has moved an entry to another section.
TEST(documents, the_changelog_has_no_entry_twice) {
  EXPECT_THAT(doubled_entries(read(root / "CHANGELOG.md")), testing::IsEmpty());
}

// ... and leave them where the list began, which may have become a theme meanwhile.
TEST(documents, the_changelog_is_ordered_by_themes) {
  EXPECT_THAT(entries_without_a_theme(read(root / "CHANGELOG.md")), testing::IsEmpty());
}

TEST(documents, each_word_of_the_vocabulary_has_one_meaning) {
  EXPECT_THAT(doubled_words(read(root / "docs/vocabulary.md")), testing::IsEmpty());
}

TEST(documents, every_folder_says_what_it_is_for) {
  for (const char* top : {"core", "hierarchy", "plugins", "plugins/kit", "plugins/transport", "cluster", "libraries",
                          "languages", "apps"}) {
    for (const auto& entry : fs::directory_iterator(root / top)) {
      if (!entry.is_directory() || fs::is_empty(entry)) continue;
      EXPECT_TRUE(fs::exists(entry.path() / "README.md")) << entry.path() << " has no README.md";
    }
  }
}

}  // namespace
}  // namespace documents
