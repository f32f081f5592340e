// tessera chem: the files that it is given, and those that it writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::ElementsAre;
using testing::HasSubstr;

/// Runs in a folder of its own.
class chemistry_files : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return (m_folder.path() / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    return m_folder.write(name, text).string();
  }
  static nlohmann::json result(std::vector<std::string> words) {
    words.insert(words.begin(), "chem");
    words.insert(words.end(), {"--json", "-", "--workers", "1"});
    const outcome done = run(words);
    EXPECT_EQ(done.code, 0) << done.err;
    return json_of(done.out);
  }
  const plugin_test::folder m_folder;
};

std::string data(const std::string& name) { return source("apps/chem/data/" + name); }

TEST_F(chemistry_files, every_form_gives_the_same_energy) {
  for (const char* name : {"water.toml", "water.json", "ZMAT_water"}) {
    const nlohmann::json seen = result({data(name)});
    EXPECT_NEAR(seen.at("ccsd_t_energy").get<double>(), -76.2410162540, 1e-8) << name;
    EXPECT_FALSE(seen.contains("notes")) << name;
  }
}

TEST_F(chemistry_files, options_override_files) {
  const nlohmann::json seen = result({data("water.toml"), "--basis", "sto-3g", "--method", "mp2", "--frozen-orbitals",
                                      "0", "--functions", "cartesian"});
  EXPECT_EQ(seen.at("basis"), "sto-3g");
  EXPECT_EQ(seen.at("occupied"), 5);
  EXPECT_FALSE(seen.contains("ccsd_energy"));
}

TEST_F(chemistry_files, functions_are_spherical_or_cartesian) {
  const auto functions = [&](const std::string& kind) {
    return result({data("water.xyz"), "--method", "scf", "--basis", "6-31g**", "--functions", kind}).at("functions");
  };
  EXPECT_EQ(functions("auto"), 25);
  EXPECT_EQ(functions("cartesian"), 25);
  EXPECT_EQ(functions("spherical"), 24);
}

TEST_F(chemistry_files, what_is_not_used_is_said) {
  const std::string file =
      write("ZMAT", "helium\nHe 0 0 0\n\n*ACES2(CALC=SCF,BASIS=STO-3G,DAMP_TYPE=DAVIDSON)\n*SIP\nMAXMEM=100\n");
  const outcome done = run({"chem", file, "--json", "-"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("note: DAMP_TYPE=DAVIDSON is not used"));
  EXPECT_THAT(json_of(done.out).at("notes"), ElementsAre(HasSubstr("DAMP_TYPE=DAVIDSON")));
}

TEST_F(chemistry_files, mistakes_end_with_their_place) {
  const outcome key = run({"chem", write("a.toml", "molecule = \"a.xyz\"\nmetod = \"scf\"\n")});
  EXPECT_EQ(key.code, 4);
  EXPECT_THAT(key.err, HasSubstr("a.toml:2:1"));
  EXPECT_THAT(key.err, HasSubstr("did you mean 'method'?"));
  EXPECT_EQ(run({"chem", write("b.json", "{}")}).code, 4);
  EXPECT_EQ(run({"chem", at("none.toml")}).code, 4);
  EXPECT_EQ(run({"chem", write("c.inp", "x")}).code, 2);
  EXPECT_EQ(run({"chem", data("water.toml"), "--unit", "bohr"}).code, 2);
}

TEST_F(chemistry_files, programs_get_orbitals_from_the_same_files) {
  const outcome done = run({"sial", "run", "mp2.sialx", "--molecule", data("water.toml"), "--json", "-"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("water.toml in cc-pvdz: -76.0268081738"));
  const outcome open = run({"sial", "run", "mp2.sialx", "--molecule",
                            write("o.toml", "reference = \"uhf\"\n[molecule]\natoms = \"He 0 0 0\"\n")});
  EXPECT_EQ(open.code, 2);
  EXPECT_THAT(open.err, HasSubstr("the reference is uhf"));
}

}  // namespace
