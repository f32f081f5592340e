#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "languages/directives/text/comments.hpp"
#include "languages/directives/text/parse.hpp"

namespace {

using namespace tessera::directive;
using testing::HasSubstr;

/// What a text is refused with: place, message and hint.
struct refusal {
  std::size_t at = 0;
  std::string message, hint;
};
refusal refused(const std::string& text) {
  try {
    (void)parse_directive(text);
  } catch (const syntax_error& e) {
    return {e.at(), e.what(), e.hint()};
  }
  ADD_FAILURE() << "not refused: " << text;
  return {};
}

TEST(parse, each_example_of_the_table_is_a_directive_with_its_rule) {
  for (const directive_rule& rule : directive_rules()) {
    const directive read = parse_directive(rule.example);
    EXPECT_EQ(read.rule, &rule) << rule.example;
  }
}

TEST(parse, clauses_have_their_places) {
  const std::string text = "gecko region at( LocA )  exec_pol(\"range:1,2\")  ";
  const directive read = parse_directive(text);
  ASSERT_EQ(read.clauses.size(), 2u);
  EXPECT_EQ(read.needed("at").text, "LocA");
  EXPECT_EQ(text.substr(read.needed("at").at, 4), "LocA");
  EXPECT_EQ(read.needed("exec_pol").text, "\"range:1,2\"");
  EXPECT_EQ(read.find("variable_list"), nullptr);
}

TEST(parse, comments_and_joined_lines_are_spaces) {
  const auto line = [](const std::string& source) { return line_of_directive(source, 0); };
  EXPECT_EQ(line("region end /* x */").text, "region end        ");
  EXPECT_EQ(line("region // x /* y\nz").text, "region          ");
  EXPECT_EQ(line("a /* b\n c */ d\ne").text, "a            d");
  EXPECT_EQ(line("a /* b\n c */ d\ne").end, 14u);
  EXPECT_EQ(line("a \\\n b \\\r\n c\nd").text, "a    b     c");
  EXPECT_EQ(line("a // b \\\n c\nd").end, 11u) << "the comment goes on";
  EXPECT_EQ(line("file(\"http://a\" /* \" */)").text, "file(\"http://a\"        )");
  EXPECT_EQ(line("f(\"a\\\"/*\")\n").text, "f(\"a\\\"/*\")") << "an escaped quote";
  EXPECT_EQ(line("a /* b").end, 6u);
}

TEST(parse, the_last_word_of_memory_takes_an_argument) {
  EXPECT_EQ(parse_directive("gecko memory free(x, y[0])").needed("free").text, "x, y[0]");
  EXPECT_EQ(parse_directive("gecko memory move(x) to(LocB)").needed("to").text, "LocB");
}

TEST(parse, unknown_words_name_the_nearest) {
  const refusal word = refused("gecko memroy free(x)");
  EXPECT_EQ(word.at, 6u);
  EXPECT_EQ(word.message, "unknown directive 'gecko memroy'");
  EXPECT_EQ(word.hint, "did you mean 'memory'?");
  const refusal second = refused("gecko memory alocate(x[0:1])");
  EXPECT_EQ(second.at, 13u);
  EXPECT_EQ(second.hint, "did you mean 'allocate'?");
  const refusal third = refused("gecko region at(A) exec_policy(any)");
  EXPECT_EQ(third.at, 19u);
  EXPECT_EQ(third.message, "'gecko region' has no clause 'exec_policy'");
  EXPECT_EQ(third.hint, "did you mean 'exec_pol'?");
}

TEST(parse, clauses_that_are_missing_or_stand_twice) {
  EXPECT_THAT(refused("gecko memory allocate(x[0:n])").message, HasSubstr("wants the clause 'type'"));
  EXPECT_THAT(refused("gecko region at(A) at(B)").message, HasSubstr("'at' is given twice"));
  EXPECT_THAT(refused("gecko region at").message, HasSubstr("'at' wants an argument"));
  EXPECT_THAT(refused("gecko location name(A) type(b) all(1)").message, HasSubstr("'all' takes no argument"));
  EXPECT_EQ(refused("gecko region at(A").at, 15u);
  EXPECT_THAT(refused("gecko").message, HasSubstr("a directive is missing"));
  EXPECT_THAT(refused("gecko memory").message, HasSubstr("'gecko memory' is not complete"));
  EXPECT_THAT(refused("gecko region at()").message, HasSubstr("nothing between the parentheses"));
}

TEST(parse, sections) {
  const section one = parse_section({"x[0:n * 2]", 5});
  EXPECT_EQ(one.name.text, "x");
  ASSERT_EQ(one.ranges.size(), 1u);
  EXPECT_EQ(one.ranges[0].count, "n * 2");
  const section two = parse_section({"a.b[:f(1, 2)][1:ns::m]", 0});
  ASSERT_EQ(two.ranges.size(), 2u);
  EXPECT_EQ(two.ranges[0].first, "0");
  EXPECT_EQ(two.ranges[1].count, "ns::m");
  for (const char* wrong : {"x", "x[n]", "x[0:]", "[0:n]", "x[0:1][0:1][0:1][0:1]", "x[0:1]y"})
    EXPECT_THROW((void)parse_section({wrong, 0}), syntax_error) << wrong;
}

TEST(parse, lists_reductions_and_chains) {
  const auto names = parse_list({"x, f(a, b) ,\"c,d\"", 10});
  ASSERT_EQ(names.size(), 3u);
  EXPECT_EQ(names[1].text, "f(a, b)");
  EXPECT_EQ(names[1].at, 13u);
  EXPECT_THROW((void)parse_list({"x,,y", 0}), syntax_error);
  const reduction_clause r = parse_reduction({"max: a, b", 0});
  EXPECT_EQ(r.operation, "max");
  EXPECT_EQ(r.names[1].text, "b");
  EXPECT_THROW((void)parse_reduction({"-:a", 0}), syntax_error);
  EXPECT_THROW((void)parse_reduction({"a", 0}), syntax_error);
  const auto chains = parse_chains({"s->a.x{double*:restrict}, s->n{int}", 0});
  ASSERT_EQ(chains.size(), 2u);
  EXPECT_EQ(chains[0].path.text, "s->a.x");
  EXPECT_EQ(chains[0].type, "double*");
  EXPECT_EQ(chains[1].type, "int");
  EXPECT_THROW((void)parse_chains({"s->n", 0}), syntax_error);
}

TEST(parse, chains_with_ranges) {
  const auto chains = parse_chains({"s->a[k].x[0:s->n[0]][0:3]{double*}, s[c ? 0 : 1].y[:n]{int*}", 0});
  ASSERT_EQ(chains.size(), 2u);
  EXPECT_EQ(chains[0].path.text, "s->a[k].x");
  ASSERT_EQ(chains[0].ranges.size(), 2u);
  EXPECT_EQ(chains[0].ranges[0].count, "s->n[0]");
  EXPECT_EQ(chains[0].ranges[1].count, "3");
  EXPECT_EQ(chains[1].path.text, "s[c ? 0 : 1].y");
  EXPECT_EQ(chains[1].ranges.size(), 1u);
  EXPECT_THROW((void)parse_chains({"s->x[1:n]{double*}", 0}), syntax_error);
  EXPECT_THROW((void)parse_chains({"s->x[0:n]{double}", 0}), syntax_error);
  EXPECT_THROW((void)parse_chains({"s->x[0:n].y{double*}", 0}), syntax_error);
}

TEST(parse, collapse) {
  EXPECT_EQ(parse_collapse({"2", 0}), 2u);
  for (const char* wrong : {"0", "4", "n", "-1"}) EXPECT_THROW((void)parse_collapse({wrong, 0}), syntax_error) << wrong;
}

TEST(numbers, with_a_fraction) {
  for (const char* text : {"1.5", ".5", "1.", "1e3", "1e-3", "-2.0", "2.f", "0x1p3", "1'000.0"})
    EXPECT_TRUE(is_fraction(text)) << text;
  for (const char* text : {"1", "-2", "0x1e", "1'000", "10UL", "n", "1.5 * n", "n / 1.5", "e1", "1+e", "", "0x1f - 2"})
    EXPECT_FALSE(is_fraction(text)) << text;
}

}  // namespace
