// What tessera chem says of its checkpoints before it runs: memory beside the blocks, and room on disk.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "integration/limits/limited.hpp"
#include "integration/limits/small_file_system.hpp"

namespace limits_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kibi = 1024;

/// A molecule in a file, and the folder of its checkpoints.
class chem_checkpoint : public ::testing::Test {
 protected:
  chem_checkpoint() : m_at(fs::temp_directory_path() / ("tessera_kept_" + std::to_string(::getpid()))) {
    fs::remove_all(m_at);
    fs::create_directories(m_at);
    write("water.xyz", "3\nbohr\nO 0 0 -0.1211\nH 0 1.43 0.986\nH 0 -1.43 0.986\n");
    write("nh2.xyz", "3\nangstrom\nN 0 0 0.14\nH 0 0.8 -0.5\nH 0 -0.8 -0.5\n");
    write("benzene.xyz",
          "12\nangstrom\nC 1.395 0 0\nC 0.6975 1.2081 0\nC -0.6975 1.2081 0\nC -1.395 0 0\nC -0.6975 -1.2081 0\n"
          "C 0.6975 -1.2081 0\nH 2.482 0 0\nH 1.241 2.1495 0\nH -1.241 2.1495 0\nH -2.482 0 0\nH -1.241 -2.1495 0\n"
          "H 1.241 -2.1495 0\n");
  }
  ~chem_checkpoint() override { fs::remove_all(m_at); }

  void write(const char* name, const char* text) const { std::ofstream(m_at / name) << text; }
  fs::path folder() const { return m_at / "kept"; }
  /// CCSD to 1e-11 hartree, with one worker.
  outcome run(const std::string& molecule, const std::string& options, const fs::path& kept) const {
    fs::remove(m_at / "told.json");
    return run_behind(":", "chem " + (m_at / molecule).string() +
                               " --method ccsd --convergence 1e-11 --workers 1 --set runtime.history=off --json " +
                               (m_at / "told.json").string() + " --restart " + kept.string() + " " + options);
  }
  nlohmann::json told() const { return nlohmann::json::parse(std::ifstream(m_at / "told.json")); }
  double number(const char* key) const { return told().at(key).get<double>(); }

 private:
  const fs::path m_at;
};

double bytes_in(const fs::path& folder) {
  double all = 0;
  for (const fs::directory_entry& one : fs::directory_iterator(folder)) all += static_cast<double>(one.file_size());
  return all;
}

/// What it is told, and whether there is such a file system.
bool can_be_tested(const small_file_system& disk) {
  if (!disk.made()) std::cout << "[  SKIPPED ] no file system can be made here: that takes root\n";
  return disk.made();
}

TEST_F(chem_checkpoint, the_folder_has_what_was_planned) {
  for (const char* const molecule : {"water.xyz --basis cc-pvdz", "nh2.xyz --basis 3-21g --multiplicity 2"}) {
    fs::remove_all(folder());
    ASSERT_EQ(run(molecule, "--cc-iterations 8", folder()).code, 6) << "it has not converged";
    const double planned = number("checkpoint_disk_bytes"), found = bytes_in(folder());
    EXPECT_LE(found, planned) << molecule;
    EXPECT_GE(found, 0.7 * planned) << molecule;
    const outcome estimate = run(molecule, "--estimate", folder());
    EXPECT_EQ(estimate.code, 0) << estimate.text;
    EXPECT_EQ(number("checkpoint_disk_bytes"), planned);
    EXPECT_EQ(bytes_in(folder()), found) << "an estimate writes nothing";
    const outcome rest = run(molecule, "", folder());
    ASSERT_EQ(rest.code, 0) << rest.text;
    EXPECT_LE(number("peak_bytes"), 1.10 * number("planned_bytes")) << molecule;
    EXPECT_LE(bytes_in(folder()), 0.25 * planned) << "the history goes when it has converged";
  }
}

TEST_F(chem_checkpoint, an_estimate_makes_no_folder) {
  const outcome done = run("water.xyz", "--basis sto-3g --estimate", folder());
  EXPECT_EQ(done.code, 0) << done.text;
  EXPECT_THAT(done.text, AllOf(HasSubstr("in memory beside the blocks"), HasSubstr("at most on disk")));
  EXPECT_FALSE(fs::exists(folder()));
}

/// Where amplitudes are most of what there is.
TEST_F(chem_checkpoint, amplitudes_that_come_back_are_in_the_plan) {
  const std::string molecule = "benzene.xyz --basis 3-21g --stability off ";
  ASSERT_EQ(run(molecule, "--cc-iterations 7", folder()).code, 6);
  EXPECT_GE(number("checkpoint_bytes"), 3.0 * 8 * 21 * 21 * 45 * 45);
  EXPECT_LE(number("peak_bytes"), 1.10 * number("planned_bytes"));
  ASSERT_EQ(run(molecule, "--cc-iterations 1", folder()).code, 6);
  EXPECT_TRUE(told().at("diis_history").get<bool>());
  EXPECT_LE(number("peak_bytes"), 1.10 * number("planned_bytes")) << "with a history that is loaded";
  const fs::path other = folder().string() + ".other";
  const outcome from = run(molecule, "--cc-iterations 1 --start-from " + folder().string(), other);
  EXPECT_EQ(from.code, 6) << from.text;
  EXPECT_EQ(told().at("ccsd_start"), "projected");
  EXPECT_LE(number("peak_bytes"), 1.10 * number("planned_bytes")) << "with amplitudes that are projected";
}

TEST_F(chem_checkpoint, what_was_planned_is_enough_room) {
  // Each iteration is kept, or several at once.
  for (const char* const every : {"0", "0.05"}) {
    const std::string options = std::string("--basis cc-pvdz --checkpoint-interval ") + every;
    ASSERT_EQ(run("water.xyz", options + " --estimate", folder()).code, 0);
    const small_file_system disk(static_cast<std::uint64_t>(number("checkpoint_disk_bytes")) + 64 * 1024);
    if (!can_be_tested(disk)) return;
    const outcome done = run("water.xyz", options, disk.path() / "kept");
    EXPECT_EQ(done.code, 0) << done.text;
    EXPECT_THAT(done.text, Not(HasSubstr("warning")));
  }
}

TEST_F(chem_checkpoint, too_little_room_is_told_before_anything_runs) {
  const small_file_system disk(100 * 1024);
  if (!can_be_tested(disk)) return;
  const fs::path kept = disk.path() / "kept";
  for (const char* const more : {"", " --estimate"}) {
    const outcome done = run("water.xyz", std::string("--basis cc-pvdz") + more, kept);
    EXPECT_EQ(done.code, 11) << done.text;
    EXPECT_THAT(done.text, AllOf(HasSubstr("too little room: its files take up to "), HasSubstr("KiB are free"),
                                 HasSubstr(kept.string()), Not(HasSubstr("RHF  iteration"))));
  }
  EXPECT_THAT(run("water.xyz", "--basis cc-pvdz", kept).text,
              HasSubstr("make room there, or name a folder on another disk by --restart"));
}

TEST_F(chem_checkpoint, amplitudes_are_kept_where_their_history_has_no_room) {
  ASSERT_EQ(run("water.xyz", "--basis cc-pvdz", folder()).code, 0);
  const double energy = number("ccsd_energy");
  const small_file_system disk(static_cast<std::uint64_t>(400 * kibi));
  if (!can_be_tested(disk)) return;
  const fs::path kept = disk.path() / "kept";
  const outcome half = run("water.xyz", "--basis cc-pvdz --cc-iterations 4", kept);
  EXPECT_EQ(half.code, 6) << half.text;
  EXPECT_THAT(half.text, HasSubstr("warning: the folder of checkpoints has no room for the history of DIIS: its files "
                                   "take up to "));
  EXPECT_THAT(told().at("checkpoint_warning").get<std::string>(), HasSubstr("are free"));
  EXPECT_TRUE(fs::exists(kept / "amplitudes.checkpoint"));
  EXPECT_FALSE(fs::exists(kept / "history.1.checkpoint"));
  ASSERT_EQ(run("water.xyz", "--basis cc-pvdz", kept).code, 0);
  EXPECT_NEAR(number("ccsd_energy"), energy, 1e-10);
  EXPECT_EQ(told().at("ccsd_start"), "checkpoint");
}

}  // namespace
}  // namespace limits_test
