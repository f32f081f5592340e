#include <gtest/gtest.h>

#include "tests/unit/sial/language/programs.hpp"

namespace tessera::sial::test {
namespace {

std::string shown(const std::string& line, std::uint32_t column, std::uint32_t length) {
  return to_text(message{severity::error, {0, 1, column}, length, "wrong", ""}, source_set{{{"f", {line}}}});
}

TEST(sial_messages, the_caret_stands_below_its_column) {
  EXPECT_EQ(shown("abc def", 5, 3), "f:1:5: error: wrong\n  abc def\n      ^~~\n");
  EXPECT_EQ(shown("a\tb c", 3, 1), "f:1:3: error: wrong\n  a\tb c\n   \t^\n");
  EXPECT_EQ(shown("abc", 4, 1), "f:1:4: error: wrong\n  abc\n     ^\n");
  EXPECT_EQ(shown("abc", 2, 100), "f:1:2: error: wrong\n  abc\n   ^~\n");
  EXPECT_EQ(shown("abc", 40, 0), "f:1:40: error: wrong\n  abc\n     ^\n");
}

TEST(sial_messages, bytes_that_terminals_obey_are_not_shown) {
  EXPECT_EQ(shown("a\x1b[2J\xff", 1, 1), "f:1:1: error: wrong\n  a?[2J?\n  ^\n");
}

TEST(sial_messages, of_a_long_line_a_part_is_shown) {
  const std::string text = shown(std::string(500, 'a') + "b" + std::string(500, 'c'), 501, 1);
  EXPECT_EQ(text, "f:1:501: error: wrong\n  " + std::string(60, 'a') + "b" + std::string(59, 'c') + "\n  " +
                      std::string(60, ' ') + "^\n");
}

TEST(sial_messages, places_that_are_not_in_the_text_are_named_alone) {
  const source_set none;
  EXPECT_EQ(to_text(message{severity::warning, {0, 3, 1}, 1, "odd", "do this"}, none),
            "warning: odd\n  hint: do this\n");
  EXPECT_EQ(to_text(message{severity::error, {0, 9, 1}, 1, "odd", ""}, source_set{{{"f", {"a"}}}}),
            "f:9:1: error: odd\n");
}

TEST(sial_messages, lines_are_split_at_every_kind_of_end) {
  using lines = std::vector<std::string>;
  EXPECT_EQ(split_lines(""), lines{});
  EXPECT_EQ(split_lines("a"), lines{"a"});
  EXPECT_EQ(split_lines("a\r\n\rb\n"), (lines{"a", "", "b"}));
  EXPECT_EQ(split_lines("\n\n"), (lines{"", ""}));
}

std::string warnings_of(const std::string& text) {
  const compiled c = compile_text(text);
  EXPECT_TRUE(c.result) << outcome(c);
  std::string all;
  for (const message& m : c.messages)
    all += std::to_string(m.where.line) + ":" + std::to_string(m.where.column) + " " + m.text + "\n";
  return all;
}

TEST(sial_messages, warnings) {
  EXPECT_EQ(
      warnings_of("sial q\nindex s = 1:2\ntemp t[s]\nproc a\nendproc a\nproc b\ncall b\nendproc b\ncall b\nendsial q"),
      "3:6 array 't' is not used\n4:6 procedure 'a' is not called\n7:1 procedure 'b' calls itself\n");
  EXPECT_EQ(warnings_of("sial q\npredefined int n = 3\nindex s = 1:n\nscalar x\npardo s \"fast\"\ncollective x += "
                        "1.0\nendpardo s\nendsial q"),
            "2:16 'n' is predefined: its initial value here has no effect\n5:1 the pragma \"fast\" is not known and "
            "has no effect\n6:1 "
            "'collective' is in a pardo, but every worker must reach it\n");
  EXPECT_EQ(
      warnings_of(
          "sial q\nindex s = 1:2\nserved v[s]\ndistributed d[s]\nspecial f w\ndelete v\ndestroy d\ndo s\nexecute f "
          "d[s]\nenddo s\nendsial q"),
      "6:1 'v' is served: the word for it is 'destroy'\n7:1 'd' is distributed: the word for it is 'delete'\n9:11 "
      "argument 1 is "
      "written, but 'd' is distributed: the array itself does not change\n");
}

TEST(sial_messages, unused_things_of_imported_files_are_not_told) {
  const compiled c = compile_files({{"main.sialx", "import \"a\"\nsial q\nendsial q"},
                                    {"a", "sial a\nindex s = 1:2\ntemp t[s]\nproc p\nendproc p\nendsial a"}});
  EXPECT_TRUE(c.result);
  EXPECT_TRUE(c.messages.empty()) << outcome(c);
}

}  // namespace
}  // namespace tessera::sial::test
