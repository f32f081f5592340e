// Trees, and how the parser goes on behind mistakes.
#include <gtest/gtest.h>

#include "languages/sial/language/parser.hpp"
#include "tests/unit/sial/language/programs.hpp"

namespace tessera::sial::test {
namespace {

std::string tree_of(const std::string& text) {
  message_list messages;
  std::string dump = syntax::to_text(parse(lex(text, 0, messages), 0, messages));
  source_set sources{{{"f", split_lines(text)}}};
  for (const message& m : messages.take()) dump += to_text(m, sources);
  return dump;
}

// Places and texts of all errors, one a line.
std::string errors_of(const std::string& text) {
  std::string all;
  for (const message& m : compile_text(text).messages)
    if (m.level == severity::error)
      all += std::to_string(m.where.line) + ":" + std::to_string(m.where.column) + " " + m.text + "\n";
  return all;
}

TEST(sial_parser, expressions_group_as_the_manual_says) {
  EXPECT_EQ(tree_of("sial q\nx = a + b*c - d/e\ny = -a**b**2.0*(c)\nz = sqrt a*b\nendsial q"),
            "sial q\nbegin\n  = = x (- (+ a (* b c)) (/ d e))\n  = = y (* (** (** (negate a) b) 2.0) c)\n  = = z (* "
            "(sqrt a) b)\n");
  EXPECT_EQ(tree_of("sial q\nx = (int)a*b + (scalar)(c) ^ d[i,(index)(n+1)]\nendsial q"),
            "sial q\nbegin\n  = = x (+ (* (int a) b) (^ (scalar c) (block d i (index (+ n 1)))))\n");
  EXPECT_EQ(tree_of("sial q\nc[1:n+1,i:i] *= a.b\nendsial q"), "sial q\nbegin\n  = *= (region c 1 (+ n 1) i i) a.b\n");
}

TEST(sial_parser, declarations_and_constructs) {
  EXPECT_EQ(tree_of("import \"a\"\n\nimport \"b\"\nsial q\npredefined contiguous sparse local l[i,x.j]\nindex "
                    "k=-1:n\nsubindex ii of "
                    "i\nspecial f rw\nproc p\ncall q\nendproc p\n"
                    "pardo i,j \"hint\"\nwhere i < j\nwhere j == 2\nif a > b\nstop\nelse\nexit\nendif\nendpardo i , "
                    "j\nendsial q\n\n# end"),
            "import \"a\"\nimport \"b\"\nsial q\npredefined contiguous sparse local l[i, x.j]\nindex k = "
            "-1:n\nsubindex ii of i\nspecial f "
            "rw\nproc p\n  call q\nbegin\n"
            "  pardo i, j \"hint\" (< i j) (== j 2)\n    if (> a b)\n      stop\n    else\n      exit\n");
}

TEST(sial_parser, one_run_reports_many_mistakes) {
  EXPECT_EQ(errors_of("sial q\nscalar 1x\nint n = 1.0\nindex s = 1:3\ntemp t[s\nscalar x\ndo s\nx = = 2.0\nt[s] = "
                      "1.0\nx = 2.0 +\nif x "
                      "<\nx = n\nendif\nxx = 1.0\n"
                      "enddo s\nprint x,\nx = 1\nendsial q\n"),
            "2:8 '1x' is not a number\n3:9 expected an integer, not a number\n5:9 expected ']' or ',' after an index, "
            "not the end of the "
            "line\n8:5 expected a number, a name or '(', not '='\n"
            "10:10 expected a number, a name or '(', not the end of the line\n11:7 expected a number, a name or '(', "
            "not the end of the "
            "line\n16:8 'print' prints one thing\n"
            "17:5 what is assigned to scalar 'x' is a scalar, not an int\n");
}

TEST(sial_parser, missing_ends_are_found_where_the_outer_one_ends) {
  EXPECT_EQ(errors_of("sial q\nindex s = 1:2\nindex r = 1:2\nscalar x\npardo s\ndo r\nif r == s\nx += 1.0\nenddo "
                      "r\nendpardo s\nproc "
                      "late\nendsial q\n"),
            "9:1 'endif' is missing before 'enddo'\n11:1 procedures stand before the first statement\n12:1 'endproc "
            "late' is missing "
            "before 'endsial'\n");
  EXPECT_EQ(errors_of("sial q\nindex s = 1:2\ndo s\nx 1\nproc p\n"),
            "4:3 expected an assignment: = += -= *=, not '1'\n5:1 procedures stand before the first statement\n"
            "6:1 'endproc p' is missing before the end of the file\n");
}

TEST(sial_parser, an_unclear_declaration_makes_no_further_messages) {
  EXPECT_EQ(
      errors_of(
          "sial q\nindex s = 1:nothing\ntemp t[s]\ntemp u[s,s,s,s,s,s,s]\nscalar x\ndo s\nt[s] = 1.0\nu[s] = t[s]\nx = "
          "1\nenddo s\nendsial q\n"),
      "2:13 'nothing' is not declared\n4:20 'u' has 7 dimensions; 6 is the most\n9:5 what is assigned to scalar 'x' is "
      "a scalar, not "
      "an int\n");
  EXPECT_EQ(errors_of("sial q\nindex s = 1:2\ntemp t[s]\ndo 5\nt[s] = 1.0\nenddo s\nendsial q\n"),
            "4:4 expected an index, not '5'\n");
}

TEST(sial_parser, the_number_of_errors_is_bounded) {
  std::string text = "sial q\n";
  for (int k = 0; k < 80; ++k) text += "x = y\n";
  const compiled c = compile_text(text + "endsial q\n");
  ASSERT_EQ(c.messages.size(), message_list::error_limit + 1);
  EXPECT_EQ(to_text(c.messages.back(), c.sources), "error: 30 more errors are not shown\n");
}

std::string nested(const std::string& open, const std::string& inner, const std::string& close, std::size_t depth) {
  std::string text;
  for (std::size_t k = 0; k < depth; ++k) text += open;
  text += inner;
  for (std::size_t k = 0; k < depth; ++k) text += close;
  return text;
}

TEST(sial_parser, depth_is_bounded) {
  const std::string head = "sial q\nscalar x\nint n\nindex s = 1:2\ntemp t[s]\n", tail = "\nendsial q\n";
  EXPECT_EQ(errors_of(head + "x = " + nested("(", "1.0", ")", max_parenthesis_depth) + tail), "");
  EXPECT_EQ(errors_of(head + "x = " + nested("(", "1.0", ")", max_parenthesis_depth + 1) + tail),
            "6:105 parentheses nest too deeply\n");
  EXPECT_EQ(errors_of(head + "x = " + nested("(", "1.0", ")", 100000) + tail), "6:105 parentheses nest too deeply\n");
  EXPECT_EQ(errors_of(head + "x = " + nested("t[(index)(int)", "1.0", "]", 100000) + tail).find("nest too deeply"),
            18u);
  EXPECT_EQ(errors_of(head + "x = " + nested("1.0 + ", "1.0", "", max_expression_depth - 1) + tail), "");
  EXPECT_EQ(errors_of(head + "x = " + nested("1.0 + ", "1.0", "", 100000) + tail).substr(0, 34),
            "6:1503 this expression is too long");
  EXPECT_EQ(errors_of(head + nested("if n == 1\n", "", "endif\n", max_statement_depth - 1) + tail), "");
  EXPECT_EQ(errors_of(head + nested("if n == 1\n", "", "endif\n", 50000) + tail).substr(0, 33),
            "105:1 statements nest too deeply\n");
  EXPECT_NE(errors_of(head + nested("proc a\n", "", "", 50000) + tail), "");
}

TEST(sial_parser, many_unknown_names_take_no_quadratic_time) {
  std::string declared = "sial q\n", used, indices = "first";
  for (int k = 0; k < 20000; ++k) {
    declared += "scalar a_long_name_" + std::to_string(k) + "\n";
    used += "b_long_name_" + std::to_string(k) + " = 1.0\n";
    indices += ", first";
  }
  const std::string pardo = "pardo " + indices + "\nendpardo " + indices + "\n";
  const compiled c = compile_text(declared + "index first = 1:2\n" + pardo + used + "endsial q\n");
  EXPECT_EQ(c.messages.back().text, "19951 more errors are not shown");
}

TEST(sial_parser, nested_products_of_blocks_take_no_exponential_time) {
  std::string x = "q[s]";
  for (int k = 0; k < 18; ++k) x = "q[(index)((int)(" + x + "*q[s]))]";
  EXPECT_EQ(errors_of("sial p\nscalar x\nindex s = 1:2\ntemp q[s]\ndo s\nx = " + x + "*q[s]\nenddo s\nendsial p\n"),
            "");
}

TEST(sial_parser, empty_files) {
  EXPECT_EQ(outcome(compile_text("")),
            "main.sialx: error: this file holds no program\n  hint: a program is 'sial NAME' ... 'endsial NAME'\n");
  EXPECT_EQ(outcome(compile_text("\n# nothing\n")), outcome(compile_text("")));
  EXPECT_EQ(outcome(compile_text("sial q\nendsial q")), "sial q\n");
}

}  // namespace
}  // namespace tessera::sial::test
