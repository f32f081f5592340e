// tessera comd: it checks itself, and says what is wrong with its input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/comd/potential_text.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::HasSubstr;

/// What the command says of itself, when all its checks are right.
nlohmann::json checked(std::vector<std::string> words, std::size_t checks) {
  words.insert(words.begin(), "comd");
  words.insert(words.end(), {"--verify", "--json", "-", "--workers", "2"});
  const outcome done = run(words);
  EXPECT_EQ(done.code, 0) << done.err;
  nlohmann::json seen = json_of(done.out);
  EXPECT_EQ(seen["checks"].size(), checks) << done.out;
  for (const auto& check : seen["checks"]) EXPECT_TRUE(check["right"]) << check;
  EXPECT_GT(seen["microseconds_per_atom_and_step"], 0);
  return seen;
}

TEST(comd_command, knows_the_energies_of_4000_atoms) {
  const nlohmann::json seen = checked({"--size", "10", "--steps", "20"}, 10);  // 2 of them known energies of step 10
  ASSERT_EQ(seen["steps"].size(), 3u);
  EXPECT_EQ(seen["steps"][1]["step"], 10);
  EXPECT_NEAR(seen["steps"][1]["total"].get<double>(), -1.166059664379, 1e-9);
  EXPECT_NEAR(seen["steps"][0]["temperature"].get<double>(), 600, 1e-9);
  EXPECT_EQ(seen["steps"][2]["atoms"], 4000);
}

TEST(comd_command, takes_boxes_policies_and_steps) {
  const nlohmann::json seen =
      checked({"--size", "5,4,6", "--steps", "7", "--every", "3", "--dt", "2", "--policy", "percentage:70,30"}, 8);
  ASSERT_EQ(seen["steps"].size(), 4u);
  EXPECT_EQ(seen["steps"][3]["step"], 7);
  EXPECT_THAT(seen["input"].get<std::string>(), HasSubstr("480 atoms"));
}

TEST(comd_command, starts_from_the_seed) {
  const nlohmann::json first = checked({"--size", "4", "--steps", "10"}, 8);
  const nlohmann::json other = checked({"--size", "4", "--steps", "10", "--seed", "2"}, 8);
  EXPECT_NE(first["steps"][1]["total"], other["steps"][1]["total"]);
  checked({"--size", "10", "--steps", "10", "--seed", "2"}, 8);  // its energies are not known
}

TEST(comd_command, embeds_atoms) { checked({"--size", "5", "--steps", "20", "--potential", "eam"}, 8); }

TEST(comd_command, makes_no_mistake_that_validation_finds) {
  checked({"--size", "4", "--steps", "10", "--validate"}, 8);
  checked({"--size", "4", "--steps", "10", "--validate", "--potential", "eam"}, 8);
  for (const char* way : {"chain", "deepcopy"})
    checked({"--size", "4", "--steps", "3", "--every", "2", "--validate", "--data", way}, 8);
}

TEST(comd_command, computes_in_single_precision) {
  checked({"--size", "6", "--steps", "20", "--type", "f32"}, 8);
  checked({"--size", "4", "--steps", "10", "--type", "f32", "--potential", "eam", "--policy", "any"}, 8);
}

TEST(comd_command, of_cold_atoms_none_moves) {
  const nlohmann::json seen = checked({"--size", "4", "--steps", "10", "--temperature", "0"}, 8);
  EXPECT_NEAR(seen["steps"][1]["kinetic"].get<double>(), 0, 1e-12);
}

TEST(comd_command, reads_potentials) {
  const plugin_test::folder place;
  const auto copper = tessera::apps::comd::sutton_chen_copper();
  const nlohmann::json built_in = checked({"--size", "4", "--steps", "10", "--potential", "eam"}, 8);
  for (const std::string& text : {comd_test::setfl_text(copper, 1), comd_test::funcfl_text(copper)}) {
    const nlohmann::json seen = checked(
        {"--size", "4", "--steps", "10", "--potential", "eam", "--potential-file", place.write("cu.eam", text)}, 8);
    EXPECT_NEAR(seen["steps"][1]["total"].get<double>(), built_in["steps"][1]["total"].get<double>(), 1e-10);
    EXPECT_THAT(seen["input"].get<std::string>(), HasSubstr("cu.eam"));
  }
}

TEST(comd_command, moves_its_data_in_three_ways) {
  std::vector<nlohmann::json> seen;
  for (const char* way : {"shared", "chain", "deepcopy"}) {
    seen.push_back(checked({"--size", "4", "--steps", "12", "--every", "5", "--data", way}, 8));
    EXPECT_EQ(seen.back()["data"], way);
    EXPECT_EQ(seen.back()["steps"], seen.front()["steps"]) << way;  // the same bits
  }
  EXPECT_EQ(seen[1]["deep_copies"]["copies"], 0);
  EXPECT_EQ(seen[2]["deep_copies"]["copies"], 4);  // the start, and 5, 5 and 2 steps
  EXPECT_GT(seen[2]["deep_copies"]["bytes"], 256 * 2 * 6 * 8);
}

TEST(comd_command, computes_forces_on_devices) {
  for (const char* potential : {"lj", "eam"}) {
    const nlohmann::json seen = checked({"--size", "5", "--steps", "10", "--potential", potential, "--policy", "static",
                                         "--config", std::string(TESSERA_SOURCE_DIR) + "/configs/cuda_emulated.toml"},
                                        8);
    EXPECT_THAT(seen.dump(), HasSubstr("cuda_emulated0"));
  }
}

TEST(comd_command, is_listed_with_the_other_applications) { EXPECT_THAT(run({"apps"}).out, HasSubstr("comd ")); }

TEST(comd_command, shows_a_table) {
  const outcome done = run({"comd", "--size", "4", "--steps", "10"});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("step 0 "));
  EXPECT_THAT(done.out, HasSubstr("step 10 "));
  EXPECT_THAT(done.out, HasSubstr("-1.2436192950"));
  EXPECT_THAT(done.out, HasSubstr("us and step"));
}

void expect_refused(std::vector<std::string> words, int code, const std::vector<std::string>& parts) {
  words.insert(words.begin(), "comd");
  const outcome done = run(words);
  EXPECT_EQ(done.code, code) << done.err;
  EXPECT_EQ(done.out, "");
  for (const std::string& part : parts) EXPECT_THAT(done.err, HasSubstr(part));
}

TEST(comd_command, refuses_sizes) {
  for (const char* size : {"0", "-3", "many", "10,10", "10,10,", "10,0,10", "1,2,3,4", "4.5", "10 10 10", "801", ""})
    expect_refused({"--size", size}, 2, {"--size"});
  expect_refused({"--size", "3"}, 2, {"shorter than two cutoffs", "at least 4 lattice cells"});
  expect_refused({"--size", "10,3,10", "--potential", "eam"}, 2, {"at least 4 lattice cells"});
  expect_refused({"--size", "500", "--set", "memory.host_limit=1GiB"}, 7, {"1 GiB", "the atoms"});
}

TEST(comd_command, refuses_numbers) {
  for (const char* dt : {"0", "-1", "nan", "inf", "1e9"}) expect_refused({"--dt", dt}, 2, {"--dt"});
  for (const char* kelvin : {"-1", "nan", "1e7"}) expect_refused({"--temperature", kelvin}, 2, {"--temperature"});
  expect_refused({"--steps", "-1"}, 2, {"--steps"});
  expect_refused({"--every", "0"}, 2, {"--every"});
  expect_refused({"--type", "f16"}, 2, {"--type"});
  expect_refused({"--potential", "tersoff"}, 2, {"--potential"});
  expect_refused({"--data", "managed"}, 2, {"--data", "'managed'", "deepcopy", "shared", "chain"});
  expect_refused({"--policy", "statik", "--size", "4"}, 3, {"statik", "static"});
  expect_refused({"--at", "nowhere", "--size", "4"}, 2, {"nowhere"});
}

TEST(comd_command, refuses_steps_in_which_atoms_fly) {
  expect_refused({"--size", "8", "--dt", "1000", "--temperature", "6000", "--steps", "3"}, 6,
                 {"farther than a cell", "smaller time step", "drift"});
}

TEST(comd_command, says_what_is_no_number_any_more) {
  const plugin_test::folder place;
  auto copper = tessera::apps::comd::sutton_chen_copper();
  for (double& v : copper.pair.values) v = 1e307;
  const std::string file = place.write("huge.eam", comd_test::setfl_text(copper, 1));
  expect_refused({"--size", "4", "--potential", "eam", "--potential-file", file}, 6,
                 {"potential energy of all atoms is infinite at step 0", "too large"});
  copper.lattice_constant = 1e308;
  expect_refused({"--potential", "eam", "--potential-file", place.write("wide.eam", comd_test::setfl_text(copper, 1))},
                 4, {"wide.eam:", "the lattice constant is 1e+308"});
}

TEST(comd_command, refuses_files) {
  const plugin_test::folder place;
  expect_refused({"--potential-file", "x"}, 2, {"--potential eam"});
  expect_refused({"--potential", "eam", "--potential-file", (place.path() / "missing").string()}, 4,
                 {"missing", "No such file"});
  expect_refused({"--potential", "eam", "--potential-file", place.path().string()}, 4, {"it is a folder"});
  expect_refused({"--potential", "eam", "--potential-file", place.write("bad.eam", "a\nb\nc\n1 Cu\nfive\n")}, 4,
                 {"bad.eam:5", "'five'"});
  using namespace std::string_literals;
  expect_refused({"--potential", "eam", "--potential-file", place.write("no_text.eam", "a\nb\nc\n\0\x1b[1m\x7f\n"s)}, 4,
                 {"no_text.eam:4", "'??[1m?' is no integer"});
}

}  // namespace
