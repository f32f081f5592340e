// What is made of a table beside its help: the manual page, and what a shell completes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/common/completion.hpp"
#include "apps/common/man_page.hpp"

namespace tessera::apps {
namespace {

using testing::HasSubstr;
using testing::Not;

class tables : public testing::Test {
 protected:
  tables() {
    m_program.version = "program 1.2";
    command_table& solve = m_program.add_command("solve", "Solve it - slowly");
    solve.add({
        {"file", &m_file, "FILE", "what is solved", {.required = true}},
        {"--verify", &m_flag, "", ".begins with a dot"},
        {"--rounds", &m_rounds, "N", "how often", {.range = between(1, 20), .shows_default = true}},
        {"--type", &m_word, "", "of what", {.choices = {"f64", "f32"}, .shows_default = true}},
        {"--folder", &m_file, "DIR", "where", {.needs = {"--type"}}},
        {"--columns", &m_columns, "B,...", "how many", {.shows_default = true, .by_commas = true}},
        {"--quick", &m_flag, "", "a\\b", {.excludes = {"--rounds"}}},
        {"--secret", &m_flag, "", "nobody's", {.hidden = true}},
    });
    solve.footer = "Example:\n  program solve 'x'";
    solve.run = [] { return 0; };
    command_table& group = m_program.add_command("group", "Has commands alone");
    group.add_command("inner", "One of them").run = [] { return 0; };
  }
  bool m_flag = false;
  int m_rounds = 3;
  std::string m_file, m_word = "f64";
  std::vector<std::int64_t> m_columns{1, 8};
  command_table m_program{"program", "Program: does something"};
};

TEST_F(tables, become_a_manual_page) {
  const std::string page = man_page(m_program);
  for (const char* part :
       {".TH PROGRAM 1 \"\" \"program 1.2\"", "program \\- does something\n",
        ".SH \"program solve\"\nSolve it \\- slowly.\n", "[\\fIOPTIONS\\fR] \\fIfile\\fR\n",
        ".TP\n\\fIfile\\fR\nwhat is solved (required)\n", ".TP\n\\fB\\-\\-verify\\fR\n\\&.begins with a dot\n",
        ".TP\n\\fB\\-\\-rounds\\fR \\fIN\\fR\nhow often (1 to 20; default 3; not beside \\-\\-quick)\n",
        "\\fITEXT\\fR\nof what (one of f64, f32; default f64)\n", "where (with \\-\\-type)\n",
        "how many (several with commas; default 1,8)\n", "a\\eb (not beside \\-\\-rounds)\n",
        ".nf\nExample:\n  program solve \\(aqx\\(aq\n.fi\n", ".SH \"program group inner\"\n"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_THAT(page, Not(HasSubstr("secret")));
  EXPECT_THAT(page, Not(HasSubstr(".SH \"program group\"")));
}

TEST_F(tables, become_a_completion) {
  const std::string script = completion_script(m_program);
  for (const char* part :
       {"_program() {", "      ':solve') command='solve' ;;\n", "      'group:inner') command='group inner' ;;\n",
        "        --rounds) : ;;\n", "        --type) words='f64 f32' ;;\n", "        --folder) places=-d ;;\n",
        "        *) words='--verify --rounds --type --folder --columns --quick --help'; places=-f ;;\n",
        "        *) words='solve group --help --version' ;;\n", "complete -o filenames -F _program program\n"})
    EXPECT_THAT(script, HasSubstr(part));
  EXPECT_THAT(script, Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace tessera::apps
