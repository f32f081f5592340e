// tessera chem as a user runs it: energies, ends that say what happened, devices, what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::HasSubstr;

std::string water() { return source("apps/chem/data/water.xyz"); }

/// Water in a small basis, with one worker, as JSON.
outcome chem(const std::vector<std::string>& more, const std::string& basis = "sto-3g") {
  std::vector<std::string> words{"chem", water(), "--basis", basis, "--json", "-", "--workers", "1"};
  words.insert(words.end(), more.begin(), more.end());
  return run(words);
}

TEST(chemistry_command, energies_have_what_belongs_to_them) {
  const outcome done = chem({}, "cc-pvdz");
  ASSERT_EQ(done.code, 0) << done.err;
  const nlohmann::json seen = json_of(done.out);
  EXPECT_EQ(seen.at("success"), true);
  EXPECT_NEAR(seen.at("scf_energy").get<double>(), -76.0268081738, 1e-8);
  EXPECT_NEAR(seen.at("mp2_energy_correlation").get<double>(), -0.2039481679, 1e-8);
  EXPECT_NEAR(seen.at("dipole").at(2).get<double>(), 0.809015, 1e-5);
  EXPECT_EQ(seen.at("ccsd_history").size(), seen.at("ccsd_iterations").get<std::size_t>());
  EXPECT_EQ(seen.at("orbital_energies").size(), 24u);
  EXPECT_NEAR(seen.at("ccsd_t_energy").get<double>(),
              seen.at("ccsd_energy").get<double>() + seen.at("triples").get<double>(), 1e-12);
}

TEST(chemistry_command, what_did_not_converge_has_no_energy) {
  const outcome cc = chem({"--cc-iterations", "2"});
  EXPECT_EQ(cc.code, 6);
  EXPECT_THAT(cc.err, HasSubstr("CCSD has not converged after 2 iterations"));
  const nlohmann::json half = json_of(cc.out);
  EXPECT_EQ(half.at("success"), false);
  EXPECT_TRUE(half.contains("scf_energy"));
  EXPECT_TRUE(half.contains("ccsd_last_correlation"));
  for (const char* key : {"ccsd_energy", "ccsd_t_energy", "triples"}) EXPECT_FALSE(half.contains(key)) << key;
  const outcome scf = chem({"--scf-iterations", "2"});
  EXPECT_EQ(scf.code, 6);
  const nlohmann::json none = json_of(scf.out);
  EXPECT_EQ(none.at("success"), false);
  for (const char* key : {"scf_energy", "mp2_energy", "ccsd_energy"}) EXPECT_FALSE(none.contains(key)) << key;
}

TEST(chemistry_command, devices_give_the_same_energy_and_are_counted) {
  const double expected = json_of(chem({}, "6-31g**").out).at("ccsd_t_energy");
  for (const char* use : {"always", "best", "never"}) {
    const outcome done = chem({"--config", source("configs/sim_one.toml"), "--devices", use}, "6-31g**");
    ASSERT_EQ(done.code, 0) << use << done.err;
    const nlohmann::json seen = json_of(done.out);
    EXPECT_NEAR(seen.at("ccsd_t_energy").get<double>(), expected, 1e-10) << use;
    const auto statements = seen.at("rccsd_statements_on_devices").get<std::uint64_t>();
    EXPECT_GE(statements, std::string(use) == "always" ? 100u : 0u) << use;
    EXPECT_LE(statements, std::string(use) == "never" ? 0u : ~0ull) << use;
  }
  EXPECT_FALSE(json_of(chem({"--devices", "always", "--method", "mp2"}).out).contains("mp2_statements_on_devices"))
      << "this machine's configuration has no devices";
}

TEST(chemistry_command, an_estimate_computes_no_correlation) {
  const outcome done = chem({"--estimate"});
  EXPECT_EQ(done.code, 0) << done.err;
  const nlohmann::json seen = json_of(done.out);
  EXPECT_EQ(seen.at("success"), false);
  EXPECT_GE(seen.at("memory_plan").size(), 2u);
  EXPECT_FALSE(seen.contains("mp2_energy"));
}

TEST(chemistry_command, what_does_not_fit_says_so_before_it_runs) {
  const outcome done = chem({"--memory", "1MiB"}, "cc-pvdz");
  EXPECT_EQ(done.code, 7) << done.err;
  EXPECT_THAT(done.err, HasSubstr("hint"));
}

TEST(chemistry_command, programs_are_written_once) {
  const plugin_test::folder folder;
  const std::string to = (folder.path() / "programs").string();
  EXPECT_EQ(run({"chem", "--write-programs", to}).code, 0);
  EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(to) / "rccsd.sialx"));
  const outcome again = run({"chem", "--write-programs", to});
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("is not written over"));
}

TEST(chemistry_command, orbitals_of_one_energy_are_not_cut_in_silence) {
  const plugin_test::folder folder;
  const std::string
      neon = folder.write("neon.xyz", "1\n\nNe 0 0 0\n").string(),
      flat =
          folder.write("flat.fcidump", "&FCI NORB=2,NELEC=2,MS2=0 &END\n-1 1 1 0 0\n-1 2 2 0 0\n0 0 0 0 0\n").string();
  const auto cuts = [](const std::vector<std::string>& words, const std::string& message) {
    std::vector<std::string> all{"chem"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"--json", "-", "--workers", "1"});
    const outcome done = run(all);
    EXPECT_EQ(done.code, 0) << done.err;
    const testing::Matcher<std::string> warns = HasSubstr(message.empty() ? "warning: " : message);
    EXPECT_THAT(done.err, message.empty() ? Not(warns) : warns);
    return json_of(done.out).value("degenerate_cuts", nlohmann::json::array());
  };
  const std::vector<std::string> small{neon, "--basis", "3-21g", "--method", "mp2"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), small.begin(), small.end());
    return more;
  };
  for (const char* frozen : {"0", "2"}) EXPECT_TRUE(cuts(with({"--frozen-orbitals", frozen}), "").empty());
  const nlohmann::json core = cuts(with({"--frozen-orbitals", "3"}),
                                   "warning: the boundary of the frozen core takes 1 of 3 orbitals of the same energy: "
                                   "3, 4, 5 at -0.79");
  ASSERT_EQ(core.size(), 1u);
  EXPECT_EQ(core[0].at("boundary"), "frozen core");
  EXPECT_EQ(core[0].at("orbitals"), (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(core[0].at("below"), 1);
  EXPECT_EQ(core[0].at("energies").size(), 3u);
  EXPECT_TRUE(core[0].at("spin").is_null());
  const nlohmann::json high = cuts(with({"--frozen-virtual", "2"}), "hint: --frozen-virtual ");
  ASSERT_EQ(high.size(), 1u);
  EXPECT_EQ(high[0].at("boundary"), "frozen virtuals");
  EXPECT_TRUE(cuts({neon, "--basis", "3-21g", "--method", "scf", "--frozen-orbitals", "3"}, "").empty())
      << "nothing is frozen in a field";
  const nlohmann::json spins = cuts(with({"--frozen-orbitals", "3", "--reference", "uhf"}), "of 3 beta orbitals");
  ASSERT_EQ(spins.size(), 2u);
  EXPECT_EQ(spins[1].at("spin"), "beta");
  const nlohmann::json frontier = cuts({flat, "--method", "scf"}, "the boundary of the occupied orbitals takes 1 of 2");
  ASSERT_EQ(frontier.size(), 1u);
  EXPECT_EQ(frontier[0].at("orbitals"), (std::vector<int>{1, 2}));
}

struct mistake {
  const char* name;
  std::vector<std::string> words;
  std::string message;
};

TEST(chemistry_command, mistakes_are_told) {
  const plugin_test::folder folder;
  const std::string crowded = folder.write("crowded.xyz", "2\n\nH 0 0 0\nH 0 0 0.00001\n").string(),
                    unknown = folder.write("unknown.xyz", "1\n\nXq 0 0 0\n").string(),
                    heavy = folder.write("heavy.xyz", "1\n\nAr 0 0 0\n").string();
  const std::vector<mistake> all{
      {"no file", {"chem"}, "no molecule is named"},
      {"a file that is not there", {"chem", "nowhere.xyz"}, "nowhere.xyz"},
      {"an unknown basis", {"chem", water(), "--basis", "cc-pvdx"}, "did you mean 'cc-pvdz'"},
      {"an unknown method", {"chem", water(), "--method", "ccsdt"}, "there is no method 'ccsdt'"},
      {"a wrong multiplicity", {"chem", water(), "--multiplicity", "2"}, "multiplicity"},
      {"an odd charge", {"chem", water(), "--charge", "1"}, "cannot all be paired"},
      {"rhf of a triplet", {"chem", water(), "--multiplicity", "3", "--reference", "rhf"}, "rhf is for closed shells"},
      {"too many frozen", {"chem", water(), "--frozen-orbitals", "5"}, "5 orbitals are frozen"},
      {"two ways to freeze", {"chem", water(), "--frozen-core", "--frozen-orbitals", "1"}, "--frozen"},
      {"no segments", {"chem", water(), "--segments", "0", "1", "1"}, "--segments"},
      {"atoms in one place", {"chem", crowded}, "crowded.xyz"},
      {"an unknown element", {"chem", unknown}, "unknown.xyz:3:1"},
      {"an element that the basis lacks", {"chem", heavy}, "lacks Ar"},
      {"a size that is none", {"chem", water(), "--memory", "much"}, "'much' is no size"},
      {"a rate without a unit",
       {"chem", water(), "--estimate", "--machine", source("configs/machines/node_32.toml"), "--interconnect", "5"},
       "'5' has no unit"},
      {"a rate of something else",
       {"chem", water(), "--estimate", "--machine", source("configs/machines/node_32.toml"), "--interconnect", "5s"},
       "'5s' is no rate of bytes"},
      {"a convergence of 0", {"chem", water(), "--convergence", "0"}, "'0' is no number in the range 1e-12 to 0.001"},
      {"an unknown use of devices", {"chem", water(), "--devices", "some"}, "--devices"},
  };
  for (const mistake& one : all) {
    const outcome done = run(one.words);
    EXPECT_GE(done.code, 2) << one.name;
    EXPECT_LE(done.code, 5) << one.name << ": " << done.err;
    EXPECT_THAT(done.err, HasSubstr(one.message)) << one.name;
    EXPECT_THAT(done.err, HasSubstr("error: ")) << one.name;
    EXPECT_EQ(done.out, "") << one.name;
  }
}

}  // namespace
