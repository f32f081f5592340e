#include <gtest/gtest.h>

#include "tests/unit/sial/language/programs.hpp"

namespace tessera::sial::test {
namespace {

const std::string defs =
    "sial defs\npredefined int norb\naoindex i = 1:norb\nscalar x\nproc p\nx += 1.0\nendproc p\nendsial defs\n";

std::string first_error(const compiled& c) { return c.messages.empty() ? "" : to_text(c.messages[0], c.sources); }

TEST(sial_imports, declarations_and_procedures_are_used_bare_and_qualified) {
  const compiled c = compile_files({{"main.sialx",
                                     "import \"defs.sialx\"\nsial main\ntemp t[i]\ndo defs.i\nt[i] = DEFS.x\nenddo "
                                     "defs.i\ncall p\nmain.y = x\nendsial main"},
                                    {"defs.sialx", defs}});
  EXPECT_EQ(first_error(c), "main.sialx:8:1: error: program 'main' declares no 'y'\n  main.y = x\n  ^~~~~~\n");
  const compiled ok = compile_files(
      {{"main.sialx",
        "import \"defs.sialx\"\nsial main\nscalar y\ncall defs.p\nmain.y = x\ndo defs.i\nenddo defs.i\nendsial main"},
       {"defs.sialx", defs}});
  EXPECT_EQ(outcome(ok),
            "aoindex i = 1:norb\npredefined int norb = 0\nscalar x = 0\nscalar y = 0\nproc p\n  scalar x += 1.0\nsial "
            "defs\nsial main\n  "
            "call p\n  scalar y = x\n  do i\n");
}

TEST(sial_imports, statements_run_once_in_the_order_of_imports) {
  const files all = {
      {"main.sialx", "import \"a.sialx\"\nimport \"b.sialx\"\nsial main\nprint \"main\"\nendsial main"},
      {"a.sialx", "import \"c.sialx\"\nsial a\nprint \"a\"\nendsial a"},
      {"b.sialx", "import \"c.sialx\"\nsial b\nproc late\nendproc late\nprint \"b\"\ncall late\nendsial b"},
      {"c.sialx", "sial c\nscalar shared\nprint \"c\"\nendsial c"}};
  const compiled c = compile_files(all);
  EXPECT_EQ(outcome(c),
            "scalar shared = 0\nproc late\nsial c\n  print text \"c\"\nsial a\n  print text \"a\"\nsial b\n  print "
            "text \"b\"\n  call "
            "late\nsial main\n  print text \"main\"\n");
  ASSERT_EQ(c.sources.files.size(), 4u);
  EXPECT_EQ(c.sources.files[0].path, "main.sialx");
  EXPECT_EQ(c.result->units[0].file, 2u);
}

TEST(sial_imports, what_an_imported_file_imports_is_not_visible_through_it) {
  const files all = {{"main.sialx", "import \"a.sialx\"\nsial main\nx = 1.0\nendsial main"},
                     {"a.sialx", "import \"defs.sialx\"\nsial a\nx = 2.0\nendsial a"},
                     {"defs.sialx", defs}};
  EXPECT_EQ(first_error(compile_files(all)), "main.sialx:3:1: error: 'x' is not declared\n  x = 1.0\n  ^\n");
  files qualified = all;
  qualified["main.sialx"] = "import \"a.sialx\"\nsial main\na.x = 1.0\nendsial main";
  EXPECT_EQ(first_error(compile_files(qualified)),
            "main.sialx:3:1: error: program 'a' declares no 'x'\n  a.x = 1.0\n  ^~~\n  hint: what it imports itself is "
            "not visible through it\n");
  qualified["main.sialx"] = "import \"a.sialx\"\nsial main\ndefs.x = 1.0\nendsial main";
  EXPECT_EQ(first_error(compile_files(qualified)).substr(0, 58),
            "main.sialx:3:1: error: no program 'defs' is imported here\n");
}

TEST(sial_imports, a_name_of_two_programs_is_ambiguous_until_qualified) {
  files all = {{"main.sialx", "import \"a.sialx\"\nimport \"b.sialx\"\nsial main\nx = 1.0\nendsial main"},
               {"a.sialx", "sial a\nscalar x\nendsial a"},
               {"b.sialx", "sial b\nint x\nendsial b"}};
  EXPECT_EQ(first_error(compile_files(all)),
            "main.sialx:4:1: error: 'x' is ambiguous: the programs 'a' and 'b' declare it\n  x = 1.0\n  ^\n  hint: "
            "write 'a.x' or 'b.x'\n");
  all["main.sialx"] = "import \"a.sialx\"\nimport \"b.sialx\"\nsial main\na.x = 1.0\nb.x = 1\nendsial main";
  EXPECT_EQ(outcome(compile_files(all)),
            "int x = 0\nscalar x = 0\nsial a\nsial b\nsial main\n  scalar x = 1.0\n  int x = 1\n");
}

TEST(sial_imports, imported_names_are_taken) {
  EXPECT_EQ(first_error(compile_files(
                {{"main.sialx", "import \"defs.sialx\"\nsial main\nint X\nendsial main"}, {"defs.sialx", defs}})),
            "main.sialx:3:5: error: 'x' is declared already, in the imported program 'defs' (defs.sialx:4)\n  int X\n  "
            "    ^\n");
  EXPECT_EQ(
      first_error(compile_files({{"main.sialx", "import \"a.sialx\"\nimport \"b.sialx\"\nsial main\nendsial main"},
                                 {"a.sialx", "sial d\nendsial d"},
                                 {"b.sialx", "sial d\nendsial d"}})),
      "main.sialx:2:8: error: two programs here are called 'd'\n  import \"b.sialx\"\n         ^~~~~~~~~\n  hint: "
      "rename one, so "
      "that qualified names are clear\n");
}

TEST(sial_imports, files_are_sought_beside_the_importing_one_then_in_the_folders) {
  const files all = {{"main.sialx", "import \"lib/a.sialx\"\nsial main\nendsial main"},
                     {"lib/a.sialx", "import \"b.sialx\"\nimport \"c.sialx\"\nsial a\nendsial a"},
                     {"lib/b.sialx", "sial near\nendsial near"},
                     {"far/b.sialx", "sial far\nendsial far"},
                     {"far/c.sialx", "sial c\nendsial c"}};
  EXPECT_EQ(outcome(compile_files(all, {"nowhere", "far"})), "sial near\nsial c\nsial a\nsial main\n");
  EXPECT_EQ(first_error(compile_files(all, {"nowhere", "elsewhere"})),
            "lib/a.sialx:2:8: error: there is no file 'c.sialx'\n  import \"c.sialx\"\n         ^~~~~~~~~\n  hint: "
            "searched: lib, nowhere, "
            "elsewhere\n");
  EXPECT_EQ(first_error(compile_files({{"main.sialx", "import \"x\"\nsial main\nendsial main"}})),
            "main.sialx:1:8: error: there is no file 'x'\n  import \"x\"\n         ^~~\n  hint: searched: the current "
            "folder\n");
}

TEST(sial_imports, paths_that_mean_one_file_load_it_once) {
  const files all = {{"main.sialx", "import \"a.sialx\"\nimport \"./lib/../a.sialx\"\nsial main\nendsial main"},
                     {"a.sialx", "sial a\nprint \"once\"\nendsial a"}};
  EXPECT_EQ(outcome(compile_files(all)), "sial a\n  print text \"once\"\nsial main\n");
}

TEST(sial_imports, circles_are_errors) {
  EXPECT_EQ(first_error(compile_files({{"main.sialx", "import \"a.sialx\"\nsial main\nendsial main"},
                                       {"a.sialx", "import \"b.sialx\"\nsial a\nendsial a"},
                                       {"b.sialx", "import \"a.sialx\"\nsial b\nendsial b"}})),
            "b.sialx:1:8: error: files import each other in a circle\n  import \"a.sialx\"\n         ^~~~~~~~~\n  "
            "hint: a.sialx -> b.sialx "
            "-> a.sialx\n");
  EXPECT_FALSE(compile_files({{"main.sialx", "import \"main.sialx\"\nsial main\nendsial main"}}).result);
}

TEST(sial_imports, a_main_file_that_is_not_there) {
  const compiled c = compile_files({});
  EXPECT_EQ(to_text(c.messages, c.sources), "error: cannot read 'main.sialx'\n");
  EXPECT_FALSE(c.result);
}

TEST(sial_imports, endless_imports_end) {
  const reader endless = [](const std::string& path) -> std::optional<std::string> {
    return "import \"x" + path + "\"\nsial a\nendsial a\n";
  };
  const compiled c = compile("main", endless);
  EXPECT_FALSE(c.result);
  EXPECT_EQ(c.sources.files.size(), max_import_depth);
}

TEST(sial_imports, mistakes_in_an_imported_file_name_it) {
  EXPECT_EQ(first_error(compile_files({{"main.sialx", "import \"a.sialx\"\nsial main\nendsial main"},
                                       {"a.sialx", "sial a\nscalar\nendsial a"}}))
                .substr(0, 57),
            "a.sialx:2:7: error: expected a name for the scalar, not t");
}

TEST(sial_imports, files_of_the_file_system_are_read) {
  EXPECT_FALSE(file_reader()("/nonexistent/file"));
  EXPECT_FALSE(file_reader()("/"));
  EXPECT_TRUE(file_reader()(TESSERA_SOURCE_DIR "/CMakeLists.txt"));
}

}  // namespace
}  // namespace tessera::sial::test
