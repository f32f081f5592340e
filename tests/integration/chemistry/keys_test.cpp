// Each option of tessera chem is a key of its files, or has a reason why not; docs/chemistry.md has both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "libraries/chemistry/job/job_item.hpp"
#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::HasSubstr;

/// Of the help: "  --basis NAME".
std::set<std::string> options_of_the_command() {
  std::set<std::string> all;
  std::istringstream help(run({"chem", "--help"}).out);
  std::smatch found;
  for (std::string line; std::getline(help, line);)
    if (std::regex_search(line, found, std::regex(R"(^ *(?:-\w,? *)?(--[a-z-]+))"))) all.insert(found.str(1));
  all.erase("--help");
  return all;
}

/// The rows of the table below "Options and keys": an option, and what stands beside it.
std::map<std::string, std::string> table_of_the_page() {
  std::map<std::string, std::string> rows;
  std::istringstream page(contents(source("docs/chemistry.md")));
  bool inside = false;
  std::smatch found;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("#")) inside = line.find("Options and keys") != std::string::npos;
    if (inside && std::regex_match(line, found, std::regex(R"(\| (.*) \| (.*) \|)"))) {
      const std::string names = found.str(1), beside = found.str(2);
      const std::regex option("`(--[a-z-]+)`");
      for (auto at = std::sregex_iterator(names.begin(), names.end(), option); at != std::sregex_iterator(); ++at)
        rows[at->str(1)] = beside;
    }
  }
  return rows;
}

std::set<std::string> words_in_code(const std::string& text) {
  std::set<std::string> all;
  const std::regex code("`([a-z_.]+)`");
  for (auto at = std::sregex_iterator(text.begin(), text.end(), code); at != std::sregex_iterator(); ++at)
    all.insert(at->str(1));
  return all;
}

TEST(chemistry_keys, each_option_is_a_key_or_has_a_reason) {
  const std::map<std::string, std::string> rows = table_of_the_page();
  const std::set<std::string> options = options_of_the_command();
  EXPECT_GT(options.size(), 40u);
  std::set<std::string> keys;
  for (const std::string& option : options) {
    ASSERT_TRUE(rows.contains(option)) << option << " is not in the table of docs/chemistry.md";
    const std::set<std::string> words = words_in_code(rows.at(option));
    const bool has_reason = rows.at(option).starts_with("no: ");
    EXPECT_NE(has_reason, rows.at(option).starts_with("`")) << option << ": " << rows.at(option);
    if (!has_reason) keys.insert(words.begin(), words.end());
  }
  for (const auto& [option, beside] : rows) EXPECT_TRUE(options.contains(option)) << option << " is no option";
  keys.erase("molecule.unit");
  const std::vector<std::string>& known = tessera::chemistry::item_names();
  EXPECT_EQ(keys, std::set<std::string>(known.begin(), known.end()));
}

/// What a key sets is what its option sets.
class keys_of_files : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return (m_folder.path() / name).string(); }
  outcome chem(const std::string& keys, std::vector<std::string> more = {}) const {
    more.insert(more.begin(),
                {"chem", m_folder.write("a.toml", keys + "\n[molecule]\natoms = \"He 0 0 0\"\n").string()});
    more.insert(more.end(), {"--json", "-"});
    return run(more);
  }
  const plugin_test::folder m_folder;
};

TEST_F(keys_of_files, checkpoints_and_files_are_beside_the_file) {
  const outcome first = chem(
      "basis = \"6-31g**\"\nmethod = \"ccsd\"\nrestart = \"kept\"\ncheckpoint_interval = 0.5\nmolden = \"he.molden\"\n"
      "fcidump = \"he.fcidump\"\nqcschema = \"out.json\"\nworkers = 1");
  ASSERT_EQ(first.code, 0) << first.err;
  for (const char* name : {"kept/amplitudes.checkpoint", "he.molden", "he.fcidump", "out.json"})
    EXPECT_TRUE(std::filesystem::exists(at(name))) << name;
  const outcome second = chem(
      "basis = \"6-31g**\"\nmethod = \"ccsd\"\nstart_from = \"kept\"\nguess = \"read\"\n"
      "stability = \"off\"\nladder = \"stored\"\ndevices = \"never\"\nprofile = true\nworkers = 1");
  ASSERT_EQ(second.code, 0) << second.err;
  const nlohmann::json seen = json_of(second.out);
  EXPECT_EQ(seen.at("scf_start"), "read");
  EXPECT_FALSE(seen.contains("scf_is_minimum"));
  EXPECT_TRUE(seen.contains("terms"));
  EXPECT_NEAR(json_of(first.out).at("ccsd_energy").get<double>(), seen.at("ccsd_energy").get<double>(), 1e-9);
  // The command line comes first.
  EXPECT_TRUE(
      json_of(chem("method = \"scf\"\nstability = \"off\"", {"--stability", "check"}).out).contains("scf_is_minimum"));
}

TEST_F(keys_of_files, a_result_goes_over_nothing) {
  const auto refused = [&](const std::string& keys, const std::string& message, std::vector<std::string> more = {}) {
    const outcome done = chem("method = \"scf\"\n" + keys, std::move(more));
    EXPECT_EQ(done.code, 2) << done.err;
    EXPECT_THAT(done.err, HasSubstr(message));
  };
  refused("molden = \"a.toml\"", "the key molden would write over the file that the argument 'molecule' reads");
  refused("molden = \"-\"", "the key molden and --json would both write one file");
  refused("molden = \"b\"\nfcidump = \"b\"", "the key fcidump would write over a file of this calculation");
  refused("molden = \"b\"", "the key molden and --fcidump would both write one file", {"--fcidump", at("b")});
}

TEST_F(keys_of_files, other_words_are_refused_with_their_place) {
  for (const char* key : {"stability", "ladder", "devices", "guess"}) {
    const outcome done = chem(std::string("method = \"scf\"\n") + key + " = \"perhaps\"");
    EXPECT_EQ(done.code, 4);
    EXPECT_THAT(done.err, HasSubstr("a.toml:2:")) << key;
    EXPECT_THAT(done.err, HasSubstr(std::string(key) + " is 'perhaps'"));
  }
}

}  // namespace
