// Each check finds what is planted, and nothing else.
#include "tests/documents/checks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/documents/files.hpp"
#include "tests/documents/markdown.hpp"

namespace documents {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(checks, a_placeholder_is_found) {
  EXPECT_THAT(placeholders("a@b.c @INTRO@ and `@ONLY`, to do: TODO later @W_2@"),
              ElementsAre("@INTRO@", "TODO", "@W_2@"));
}

TEST(checks, a_broken_link_is_found) {
  const fs::path folder = fs::path(testing::TempDir()) / "tessera_documents_test";
  fs::create_directories(folder);
  std::ofstream(folder / "a.md")
      << "# One heading\n[good](b.md) and [bad](c.md), [here](#one-heading), [nowhere](#two)\n"
         "```\n[code](d.md)\n```\n`[span](e.md)` [`words`](f.md)\n"
         "[far](https://example.invalid/x)\n[there](b.md#part-2) ![picture](g.svg)\n"
         "| [in a table](h.md) | [second](b.md#part-2-1) | [third](b.md#part-2-2) |\n";
  std::ofstream(folder / "b.md") << "## Part 2\n\n## Part 2\n";
  const faults broken = broken_links(folder / "a.md");
  fs::remove_all(folder);
  EXPECT_THAT(broken, ElementsAre("c.md", "#two (no such heading)", "f.md", "g.svg", "h.md",
                                  "b.md#part-2-2 (no such heading)"));
}

TEST(checks, a_table_that_a_blank_line_cuts_is_found) {
  EXPECT_THAT(broken_tables("| a | b |\n|---|---|\n| 1 | 2 |\n\n| 3 | 4 |\n| 5 | 6 |\n"),
              ElementsAre("line 5: a row without a head and a line of dashes above it"));
}

TEST(checks, a_row_with_another_number_of_cells_is_found) {
  EXPECT_THAT(broken_tables("| a | b |\n|---|:--:|\n| 1 |\n| 1 | 2 |\n| 1 | 2 | 3 |\n| 1 \\| 2 | 3 |\n| 1 | |\n"),
              ElementsAre("line 3: 1 cells below a head of 2", "line 5: 3 cells below a head of 2"));
}

TEST(checks, a_line_of_dashes_belongs_to_its_head) {
  EXPECT_THAT(broken_tables("| a | b |\n|---|\n| 1 | 2 |\n"), ElementsAre("line 2: 1 cells below a head of 2"));
  EXPECT_THAT(broken_tables("```\n| a picture | of text\n```\n"), IsEmpty());
}

TEST(checks, a_long_sentence_is_found) {
  EXPECT_THAT(long_sentences("One two three four. One two\nthree four five!\n\n- One. Two\n  three four five six\n", 4),
              ElementsAre("line 1: 5 words in the sentence 'One two three four five! ...', 4 at most",
                          "line 4: 5 words in the sentence 'Two three four five six ...', 4 at most"));
  EXPECT_THAT(long_sentences("# A heading of five words\n\n| one two three four five | six |\n|---|---|\n"
                             "| one. Two | 1 2 3 4 5. |\n",
                             4),
              ElementsAre("line 3: 5 words in the sentence 'one two three four five ...', 4 at most",
                          "line 5: 5 words in the sentence '1 2 3 4 5. ...', 4 at most"));
}

TEST(checks, code_links_and_signs_do_not_make_a_sentence_long) {
  EXPECT_THAT(long_sentences("`one span of\nmany words` [two](a/b c.md), \u2212 \u00d7 \u2014 three.\n\n"
                             "```\none two three four five\n```\n",
                             3),
              IsEmpty());
  EXPECT_THAT(long_sentences("One, e.g. Two, i.e. three. `Four` five (six.) Seven *eight.* Nine \u03bb.\n", 5),
              IsEmpty());
  EXPECT_THAT(long_sentences("One, e.g. Two three.\n", 3),
              ElementsAre("line 1: 4 words in the sentence 'One, e.g. Two three. ...', 3 at most"));
  EXPECT_THAT(long_sentences("One. two ... three 4.5 five? six\n", 5),
              ElementsAre("line 1: 6 words in the sentence 'One. two... three 4.5 five? six ...', 5 at most"));
}

TEST(checks, a_long_paragraph_is_found) {
  EXPECT_THAT(long_paragraphs("One. Two. Three.\nFour. Five.\n\nOne two three.\n- Four five six.\n", 4),
              ElementsAre("line 1: 5 words in the paragraph 'One. Two. Three. Four. Five. ...', 4 at most"));
}

TEST(checks, a_long_line_is_found) {
  const std::string ten = "123456789 ", umlauts = "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4";
  EXPECT_THAT(long_lines(ten + "\n" + ten + "1\n" + umlauts + "\n", 10), ElementsAre("line 2: 11 columns"));
  EXPECT_THAT(
      long_lines("| a table | may be longer |\n|---|---|\n\n    code at the margin\n\n```\nlonger than ten\n```\n"
                 "<https://example.invalid>\n",
                 10),
      IsEmpty());
  EXPECT_THAT(long_lines("- an item\n\n    text of an item\n", 10), ElementsAre("line 3: 19 columns"));
}

TEST(checks, an_idiom_is_found_across_the_end_of_a_line) {
  EXPECT_THAT(
      idioms("It waits for\never. Janew is a name, `anew` code.\n```\nfor ever\n```\nWhoever: no one's  own.\n"),
      ElementsAre("line 1: 'for ever': write for good, without end, permanently", "line 6: 'one's own': write your own",
                  "line 6: 'whoever': write the thread, task or reader that is meant"));
}

TEST(checks, a_doubled_entry_is_found) {
  EXPECT_THAT(doubled_entries("## Added\n\n- One\n  goes on\n- Two\n\n## Fixed\n\n- One\n"),
              ElementsAre("line 9: the entry of line 3 again"));
}

TEST(checks, an_entry_without_a_theme_is_found) {
  EXPECT_THAT(entries_without_a_theme("# Changes\n\n## 0.2\n- One\n\n### Build\n\n- Two\n\n## 0.1\n\ntext\n- Three\n"),
              ElementsAre("line 4: an entry without a theme", "line 13: an entry without a theme"));
}

TEST(checks, a_word_with_two_meanings_is_found) {
  EXPECT_THAT(doubled_words("| word | means |\n|---|---|\n| tile | a block |\n| chunk, `halo` | rows |\n\n"
                            "| old | new |\n|---|---|\n| tile | block |\n\n"
                            "| word | means |\n|---|---|\n| tiles | many |\n| halo | more rows |\n| tile | a tree |\n"),
              ElementsAre("line 13: 'halo' is a word of line 4", "line 14: 'tile' is a word of line 3"));
}

TEST(markdown, lines_have_kinds) {
  const auto lines =
      lines_of("# Head\n\ntext\n    goes on\n\n    code\n\n- item\n\n    of the item\n\n| a |\n#no head\n");
  std::string kinds;
  for (const line& l : lines) kinds += "thTc"[l.text.empty() ? 0 : static_cast<int>(l.kind)];
  EXPECT_EQ(kinds, "httttctttttTt");
}

}  // namespace
}  // namespace documents
