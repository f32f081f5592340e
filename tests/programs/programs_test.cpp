// Every program that scripts, CMake files and tests call comes with the packages that bootstrap asks for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "programs/callers.hpp"
#include "programs/packages.hpp"
#include "programs/shell_words.hpp"
#include "programs/table.hpp"

namespace tessera::programs {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

const fs::path source = TESSERA_SOURCE_DIR;
table our_table() { return read_table(read(source / "tests/programs/programs.txt")); }
std::map<std::string, std::string> our_packages() { return read_packages(read(source / "cmake/debian_packages.txt")); }

TEST(programs, come_with_the_packages) {
  const callers called = programs_of_tree(source);
  EXPECT_TRUE(called.contains("cmake") && called.contains("bash") && called.contains("ccache"));
  EXPECT_THAT(complaints(called, our_table(), our_packages()), IsEmpty());
}

TEST(programs, come_from_the_packages_that_the_table_names) {
  const auto installed = package_list::of_this_machine();
  if (!installed) GTEST_SKIP() << "no Debian 12 with dpkg";
  const table rows = our_table();
  std::set<std::string> programs;
  for (const auto& [program, r] : rows) programs.insert(program);
  const auto owners = package_list::owners_of(programs);
  EXPECT_GE(owners.size(), 30u);
  for (const auto& [program, r] : rows) {
    if (r.package == "-" || !installed->has(r.package)) continue;
    if (const auto at = owners.find(program); at != owners.end()) {
      EXPECT_THAT(at->second, testing::Contains(r.package)) << program;
    }
    if (r.how == "optional" || r.how == "by-hand") continue;
    const bool comes =
        r.how == "base" ? installed->is_base(r.package) : !installed->has(r.how) || installed->brings(r.how, r.package);
    EXPECT_TRUE(comes) << program << ": " << r.package << " does not come with " << r.how;
  }
}

// What stands in the table is what keeps a fresh Debian working, so the test is tried on a tree where something is
// wrong.
class planted : public testing::Test {
 protected:
  planted() : m_root(fs::path(testing::TempDir()) / "tessera_programs_test") {
    fs::remove_all(m_root);
    for (const char* file : {"bootstrap", ".ci/run", "tests/bundle/bundle_test.sh", "tests/bundle/CMakeLists.txt"}) {
      fs::create_directories((m_root / file).parent_path());
      fs::copy_file(source / file, m_root / file);
    }
  }
  ~planted() override { fs::remove_all(m_root); }

  void add(const char* file, const std::string& text) { std::ofstream(m_root / file, std::ios::app) << text; }
  std::vector<std::string> found() const {
    const callers called = programs_of_tree(m_root);
    table rows = our_table();
    std::erase_if(rows,
                  [&](const auto& r) { return !called.contains(r.first); });  // what this small tree does not call
    return complaints(called, rows, our_packages());
  }

  fs::path m_root;
};

TEST_F(planted, nothing_is_told_of_the_tree_as_it_is) { EXPECT_THAT(found(), IsEmpty()); }

TEST_F(planted, a_script_that_calls_python) {
  add("tests/bundle/bundle_test.sh",
      "\nfor r in a b; do\n  python3 -m json.tool \"$work/$r.json\" >/dev/null || fail \"$r\"\ndone\n");
  EXPECT_THAT(found(), ElementsAre(HasSubstr("python3 is called by tests/bundle/bundle_test.sh")));
}

TEST_F(planted, a_script_behind_a_pipe) {
  add("bootstrap", "\nx=\"$(cmake --version | frobnicate -x)\"\n");
  EXPECT_THAT(found(), ElementsAre(HasSubstr("frobnicate is called by bootstrap")));
}

TEST_F(planted, cmake_that_finds_and_runs) {
  add("tests/bundle/CMakeLists.txt",
      "find_program(TOOL NAMES gadget gizmo REQUIRED)\nadd_test(NAME x COMMAND jq --version)\n");
  EXPECT_THAT(found(), ElementsAre(HasSubstr("gadget is"), HasSubstr("gizmo is"),
                                   HasSubstr("jq is called by tests/bundle/CMakeLists.txt")));
}

TEST_F(planted, a_test_that_calls_the_shell) {
  add("tests/x_test.cpp",
      "int f() { return std::system(\"zsh -c true\") + (popen((\"/usr/bin/perl \" + x).c_str(), \"r\") != nullptr); "
      "}\n");
  EXPECT_THAT(found(), ElementsAre(HasSubstr("perl is called by tests/x_test.cpp"),
                                   HasSubstr("zsh is called by tests/x_test.cpp")));
}

TEST(programs, a_table_that_is_wrong_is_told) {
  const callers called{{"a", {"x.sh"}}, {"b", {"x.sh"}}, {"c", {"x.sh"}}};
  const auto told = complaints(called, read_table("a pa doxygen\nb pb base\nc\nd pd base\n"), {{"doxygen", "docs"}});
  EXPECT_THAT(told, ElementsAre(HasSubstr("doxygen is in no group"), HasSubstr("c: a line has"),
                                HasSubstr("d is called by no file")));
}

TEST(programs, alternatives_are_packages) {
  using testing::Pair;
  EXPECT_THAT(read_packages("# group\ntest x-2|x-1  a tool\nbuild y\n"),
              ElementsAre(Pair("x-1", "test"), Pair("x-2", "test"), Pair("y", "build")));
}

TEST(programs, the_shells_grammar) {
  EXPECT_THAT(words_of_script(R"sh(# comment with words
set -euo pipefail
f() { local files=(one two) y="$(three "$(four)")"; five; }
f "six" 'seven' || eight --nine
case "$1" in
  ten | "eleven") twelve ;;  # thirteen
  *) if ! fourteen; then x=1 fifteen; fi ;;
esac
cat <<USAGE
sixteen
USAGE
for g in eighteen nineteen; do [[ $g == twenty ]] && a+=(b c); done | sort >/dev/null
env -i HOME=/x timeout 5 first -n 3 | xargs -0 -n 1 second
trap 'third "$x"' EXIT
bash -c 'fourth; exec fifth' name
while read -r l; do sixth "$l"; done < <(seventh)
[ "$((1 + 2))" -eq 3 ] && { "$program" word; $become LC_ALL=C eighth; }
/usr/bin/ninth
)sh")
                  .commands,
              ElementsAre("bash", "cat", "eight", "eighth", "env", "fifteen", "fifth", "first", "five", "four",
                          "fourteen", "fourth", "ninth", "second", "seventh", "sixth", "sort", "third", "three",
                          "timeout", "twelve", "xargs"));
}

}  // namespace
}  // namespace tessera::programs
