// What tessera chem takes of the machine's memory, beside what it has planned before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "integration/limits/limited.hpp"
#include "integration/limits/memory_group.hpp"

namespace limits_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* water = "3\nbohr\nO 0 0 -0.1211\nH 0 1.43 0.986\nH 0 -1.43 0.986\n";
constexpr const char* nitrogen = "2\nangstrom\nN 0 0 0\nN 0 0 1.0977\n";
constexpr const char* amidogen = "3\nangstrom\nN 0 0 0.14\nH 0 0.8 -0.5\nH 0 -0.8 -0.5\n";
constexpr const char* benzene =
    "12\nangstrom\nC 1.395 0 0\nC 0.6975 1.2081 0\nC -0.6975 1.2081 0\nC -1.395 0 0\nC -0.6975 -1.2081 0\n"
    "C 0.6975 -1.2081 0\nH 2.482 0 0\nH 1.241 2.1495 0\nH -1.241 2.1495 0\nH -2.482 0 0\nH -1.241 -2.1495 0\n"
    "H 1.241 -2.1495 0\n";

/// A molecule in a file, and what the command writes about it.
class chem_run {
 public:
  explicit chem_run(const std::string& molecule) : m_name("tessera_chem_" + std::to_string(::getpid())) {
    std::ofstream(path(".xyz")) << molecule;
  }
  ~chem_run() {
    for (const char* const ending : {".xyz", ".json", ".out"}) fs::remove_all(path(ending));
  }
  chem_run(const chem_run&) = delete;
  chem_run& operator=(const chem_run&) = delete;

  /// OUT in the options stands for a path; what is there goes away first.
  outcome run(std::string options, const std::string& before = ":") const {
    fs::remove_all(path(".out"));
    if (const auto at = options.find("OUT"); at != std::string::npos) options.replace(at, 3, path(".out").string());
    return run_behind(before, "chem " + path(".xyz").string() +
                                  " --workers 2 --set runtime.history=off --quiet --json " + path(".json").string() +
                                  " " + options);
  }
  nlohmann::json told() const { return nlohmann::json::parse(std::ifstream(path(".json"))); }

 private:
  fs::path path(const char* ending) const { return fs::temp_directory_path() / (m_name + ending); }
  std::string m_name;
};

struct job {
  std::string name, molecule, options;
};
void expect_plan_is_kept(const job& what) {
  const chem_run one(what.molecule);
  const outcome ended = one.run(what.options);
  ASSERT_EQ(ended.code, 0) << ended.text;
  const nlohmann::json found = one.told();
  const double peak = found.at("peak_bytes"), planned = found.at("planned_bytes");
  EXPECT_GT(peak, 10e6);
  EXPECT_LE(peak, 1.10 * planned);
  EXPECT_TRUE(found.at("memory_plan_kept").get<bool>());
  EXPECT_GE(peak, 0.5 * planned) << "a plan that asks for twice as much helps nobody";
  // In a control group of the plan and a twentieth.
  const nested_groups group(static_cast<std::uint64_t>(1.05 * planned));
  if (!group.made()) {
    std::cout
        << "[  SKIPPED ] in a control group: none can be made here (root, and a writable hierarchy with the memory "
           "controller)\n";
    return;
  }
  const outcome inside = one.run(what.options, group.enter());
  EXPECT_EQ(inside.code, 0) << inside.text;
}

std::string name_of(const ::testing::TestParamInfo<job>& of) { return of.param.name; }

class chem_memory : public ::testing::TestWithParam<job> {};
class chem_memory_of_options : public ::testing::TestWithParam<job> {};

TEST_P(chem_memory, stays_within_the_plan) { expect_plan_is_kept(GetParam()); }
TEST_P(chem_memory_of_options, stays_within_the_plan) { expect_plan_is_kept(GetParam()); }

TEST_P(chem_memory, stays_within_a_limit) {
  const chem_run one(GetParam().molecule);
  ASSERT_EQ(one.run(GetParam().options).code, 0);
  const nlohmann::json without = one.told();
  // Two fifths of the blocks, and what is beside them.
  const nlohmann::json& rows = without.at("memory_plan");
  double blocks = 0;
  for (const nlohmann::json& stage : rows) blocks = std::max(blocks, stage.at("block_bytes").get<double>());
  const double limit = without.at("planned_bytes").get<double>() - 0.6 * blocks;
  const outcome ended = one.run(GetParam().options + " --memory " + std::to_string(static_cast<std::int64_t>(limit)));
  ASSERT_EQ(ended.code, 0) << ended.text;
  const nlohmann::json with = one.told();
  EXPECT_LE(with.at("peak_bytes").get<double>(), 1.05 * limit);
  EXPECT_NEAR(with.at("ccsd_energy").get<double>(), without.at("ccsd_energy").get<double>(), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(of, chem_memory,
                         ::testing::Values(job{"water", water, "--basis cc-pvdz"},
                                           job{"water_aug", water, "--basis aug-cc-pvdz"},
                                           job{"nitrogen", nitrogen, "--basis cc-pvtz --method ccsd"},
                                           job{"amidogen", amidogen, "--multiplicity 2"},
                                           job{"benzene", benzene, "--basis sto-3g --method ccsd"}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(
    of, chem_memory_of_options,
    ::testing::Values(job{"short_segments", water, "--basis cc-pvdz --method ccsd --segments 5 2 3"},
                      job{"whole_slabs", water, "--basis cc-pvtz --method ccsd --stability off"},
                      job{"report", water, "--basis cc-pvdz --report OUT"},
                      job{"long_report", water, "--basis cc-pvdz --method ccsd --segments 8 3 5 --report OUT"},
                      job{"trace", nitrogen, "--basis cc-pvtz --method ccsd --trace OUT"},
                      job{"restart", benzene, "--basis 3-21g --method ccsd --restart OUT --cc-iterations 30"},
                      job{"fcidump", nitrogen, "--basis cc-pvtz --method mp2 --fcidump OUT"}),
    name_of);

TEST(chem_memory_beside, simulated_devices_are_in_the_plan) {
  for (const char* const which : {"best", "always"}) {
    const chem_run one(nitrogen);
    const outcome ended =
        one.run(std::string("--basis cc-pvtz --method ccsd --set runtime.plugins=[\\\"host\\\",\\\"sim\\\"] "
                            "--devices ") +
                which);
    ASSERT_EQ(ended.code, 0) << ended.text;
    const nlohmann::json found = one.told();
    EXPECT_LE(found.at("peak_bytes").get<double>(), 1.10 * found.at("planned_bytes").get<double>()) << which;
  }
}

TEST(chem_memory_limit, what_cannot_fit_is_told_at_once) {
  const chem_run one(nitrogen);
  const outcome ended = one.run("--basis cc-pvdz --memory 30MiB");
  EXPECT_EQ(ended.code, 7) << ended.text;
  EXPECT_THAT(ended.text, AllOf(HasSubstr("it does not fit"), HasSubstr("what makes it fit: --memory ")));
  const int least = std::stoi(ended.text.substr(ended.text.find("--memory ") + 9));
  const outcome advised = one.run("--basis cc-pvdz --memory " + std::to_string(least) + "MiB");
  EXPECT_EQ(advised.code, 0) << "what the hint says does not fit: " << advised.text;
  EXPECT_LE(one.told().at("peak_bytes").get<double>(), 1.05 * least * 1024 * 1024);
  EXPECT_EQ(one.run("--basis cc-pvdz --memory " + std::to_string(least - 3) + "MiB").code, 7) << "less is enough";
}

TEST(chem_memory_limit, scf_keeps_what_fits_of_its_integrals) {
  const chem_run one(benzene);
  ASSERT_EQ(one.run("--basis 3-21g --method scf").code, 0);
  const nlohmann::json all = one.told();
  const double limit =
      all.at("planned_bytes").get<double>() - 0.75 * all.at("memory_plan")[0].at("kept_bytes").get<double>();
  ASSERT_EQ(one.run("--basis 3-21g --method scf --memory " + std::to_string(static_cast<std::int64_t>(limit))).code, 0);
  const nlohmann::json some = one.told();
  EXPECT_LT(some.at("memory_plan")[0].at("kept_bytes").get<double>(),
            all.at("memory_plan")[0].at("kept_bytes").get<double>());
  EXPECT_LE(some.at("peak_bytes").get<double>(), 1.05 * limit);
  EXPECT_NEAR(some.at("scf_energy").get<double>(), all.at("scf_energy").get<double>(), 1e-9);
}

/// Those of SCF go before blocks need their room.
TEST(chem_memory_limit, programs_read_integrals_that_scf_has_kept) {
  const chem_run one(nitrogen);
  const outcome ended = one.run("--basis cc-pvtz --method ccsd --memory 120MiB");
  ASSERT_EQ(ended.code, 0) << ended.text;
  const nlohmann::json found = one.told();
  EXPECT_GT(found.at("kept_integral_bytes").get<double>(), 10e6);
  EXPECT_LE(found.at("peak_bytes").get<double>(), 1.05 * 120 * 1024 * 1024);
}

}  // namespace
}  // namespace limits_test
