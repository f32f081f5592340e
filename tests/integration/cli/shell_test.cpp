// What shells and readers of manuals know of the commands: `tessera completion`, `tessera man`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

/// A folder with files to complete, and the script of the program.
class completion : public testing::Test {
 protected:
  void SetUp() override {
    const outcome printed = run({"completion"});
    ASSERT_EQ(printed.code, 0) << printed.err;
    std::ofstream(m_folder.path() / "script.sh") << printed.out;
    std::ofstream(m_folder.path() / "matrix.mtx") << "";
    std::filesystem::create_directory(m_folder.path() / "machines");
  }
  /// What bash prints for a text.
  std::string bash(const std::string& text) const {
    std::ofstream(m_folder.path() / "test.sh") << text;
    const std::string line = "cd '" + m_folder.path().string() + "' && bash test.sh 2>&1";
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> from(popen(line.c_str(), "r"), pclose);
    std::string printed;
    std::array<char, 4096> part{};
    while (from != nullptr && std::fgets(part.data(), part.size(), from.get()) != nullptr) printed += part.data();
    return printed;
  }
  /// What the last of some words may become, as bash takes them apart.
  std::vector<std::string> completed(const std::vector<std::string>& words) const {
    std::string text = "source ./script.sh\nCOMP_WORDS=(";
    for (const std::string& word : words) text += "'" + word + "' ";
    text += ")\nCOMP_CWORD=" + std::to_string(words.size() - 1) + "\n_tessera\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
    std::istringstream lines(bash(text));
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);)
      if (!line.empty()) found.push_back(line);
    return found;
  }

 private:
  plugin_test::folder m_folder;
};

TEST_F(completion, is_a_script_of_bash) {
  EXPECT_EQ(bash("bash -n script.sh"), "");
  EXPECT_THAT(bash("source ./script.sh && complete -p tessera"), HasSubstr("-F _tessera tessera"));
}

TEST_F(completion, of_commands) {
  EXPECT_THAT(completed({"tessera", "st"}), ElementsAre("stream", "study"));
  EXPECT_THAT(completed({"tessera", "trace", ""}), ElementsAre("summary", "compare", "graph", "--help"));
  EXPECT_THAT(completed({"tessera", "--"}), ElementsAre("--help", "--version"));
  EXPECT_THAT(completed({"tessera", "nothing"}), IsEmpty());
}

TEST_F(completion, of_options) {
  EXPECT_THAT(completed({"tessera", "stream", "--ro"}), ElementsAre("--rounds"));
  EXPECT_THAT(completed({"tessera", "sial", "run", "--init", "a.toml", "--dev"}), ElementsAre("--devices"));
  EXPECT_THAT(completed({"tessera", "plugins", "check", "--"}),
              testing::AllOf(IsSupersetOf({"--layer", "--help"}), Not(Contains("--second-process"))));
  EXPECT_THAT(completed({"tessera", "study", "scaling", "--", "--"}), IsEmpty());  // the application's
}

TEST_F(completion, of_values) {
  EXPECT_THAT(completed({"tessera", "stream", "--type", ""}), ElementsAre("f64", "f32"));
  EXPECT_THAT(completed({"tessera", "stream", "--type", "=", "f3"}), ElementsAre("f32"));
  EXPECT_THAT(completed({"tessera", "stream", "--type", "="}), ElementsAre("f64", "f32"));
  EXPECT_THAT(completed({"tessera", "cholesky", "--matrix", "ma"}), ElementsAre("machines", "matrix.mtx"));
  EXPECT_THAT(completed({"tessera", "plugins", "--plugin-path", "ma"}), ElementsAre("machines"));
  EXPECT_THAT(completed({"tessera", "spmv", "mat"}), ElementsAre("matrix.mtx"));
  EXPECT_THAT(completed({"tessera", "stream", "--size", "1"}), IsEmpty());
}

/// All names of options in a text of --help.
std::vector<std::string> options_of(const std::string& help) {
  static const std::regex option("\n  (--[a-z-]+)");
  std::vector<std::string> names;
  for (auto at = std::sregex_iterator(help.begin(), help.end(), option); at != std::sregex_iterator(); ++at)
    names.push_back((*at)[1]);
  return names;
}

/// A name as the page has it: every '-' is one to be copied.
std::string on_page(const std::string& name) {
  return "\\fB" + std::regex_replace(name, std::regex("-"), "\\-") + "\\fR";
}

/// Checks that a page has a section of a command with all its options, and those of the commands below it. Returns how
/// many sections it saw.
int expect_sections(const std::string& page, const std::vector<std::string>& words) {
  static const std::regex command("\n  ([a-z]+)  +[A-Z]");
  std::vector<std::string> line = words;
  line.emplace_back("--help");
  const std::string help = run(line).out;
  std::string title = ".SH \"tessera";
  for (const std::string& word : words) title += " " + word;
  int seen = 0;
  if (const std::size_t begin = page.find(title + "\"\n"); begin != page.npos) {
    const std::string section = page.substr(begin, page.find("\n.SH ", begin) - begin);
    for (const std::string& name : options_of(help))
      EXPECT_NE(section.find(on_page(name)), section.npos) << title << ": " << name;
    ++seen;
  }
  const std::size_t below = help.find("\nSubcommands:");
  const std::string list = below == help.npos ? "" : help.substr(below, help.find("\n\n", below) - below);
  for (auto at = std::sregex_iterator(list.begin(), list.end(), command); at != std::sregex_iterator(); ++at) {
    std::vector<std::string> inner = words;
    inner.push_back((*at)[1]);
    seen += expect_sections(page, inner);
  }
  return seen;
}

TEST(man, has_every_option_of_every_command) {
  const outcome printed = run({"man"});
  ASSERT_EQ(printed.code, 0) << printed.err;
  EXPECT_TRUE(printed.out.starts_with(".\\\" Made by"));
  EXPECT_GE(expect_sections(printed.out, {}), 35);
  EXPECT_EQ(printed.out.find(on_page("--second-process")), printed.out.npos);  // the suite's own
}

TEST(man, is_what_groff_reads_without_a_warning) {
  if (std::system("groff --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no groff";
  const plugin_test::folder folder;
  std::ofstream(folder.path() / "tessera.1") << run({"man"}).out;
  const std::string line = "groff -man -Tascii -ww -z '" + (folder.path() / "tessera.1").string() + "' 2>&1";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> from(popen(line.c_str(), "r"), pclose);
  ASSERT_NE(from, nullptr);
  std::array<char, 4096> part{};
  EXPECT_EQ(std::fgets(part.data(), part.size(), from.get()), nullptr) << part.data();
}

}  // namespace
