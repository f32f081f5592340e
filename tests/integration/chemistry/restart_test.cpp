// tessera chem --restart: jobs that are killed and go on, guesses from other jobs, files that are damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/slow_down.hpp"
#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using ::testing::HasSubstr;
using arguments = std::vector<std::string>;

constexpr int killed = 1000 + SIGKILL;

/// A folder with molecules, and jobs that have their checkpoints there.
class chemistry_restart : public ::testing::Test {
 protected:
  chemistry_restart() {
    write("water.xyz", "3\nbohr\nO 0 0 -0.1211314446\nH 0 1.429936714 0.986043855\nH 0 -1.429936714 0.986043855\n");
    write("bent.xyz", "3\nbohr\nO 0 0 -0.1211314446\nH 0 1.45 0.986043855\nH 0 -1.42 1.0\n");
    write("nh2.xyz", "3\nbohr\nN 0 0 -0.15\nH 0 1.51 1.05\nH 0 -1.51 1.05\n");
    write("hf.xyz", "2\nbohr\nH 0 0 0\nF 0 0 1.733\n");
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(at(name)) << text; }
  std::string at(const std::string& name) const { return (m_folder.path() / name).string(); }

  arguments job(const std::string& file, arguments more) const {
    arguments all{"chem", at(file), "--workers", "1", "--convergence", "1e-11", "--basis", "6-31g**", "--frozen-core"};
    for (std::size_t k = 0; k < more.size(); ++k) {
      // What is given again replaces the value from above.
      const auto there = std::find(all.begin(), all.end(), more[k]);
      if (there != all.end() && (more[k] == "--workers" || more[k] == "--basis" || more[k] == "--convergence"))
        *(there + 1) = more[++k];
      else
        all.push_back(more[k]);
    }
    return all;
  }
  nlohmann::json energies(const std::string& file, arguments more) const {
    more.insert(more.end(), {"--json", "-"});
    const outcome done = run(job(file, more));
    EXPECT_EQ(done.code, 0) << done.err;
    return done.code == 0 ? json_of(done.out) : nlohmann::json();
  }
  /// Kills a job when it has printed a line of an iteration.
  outcome kill_behind(const std::string& file, const arguments& more, const std::string& line) const {
    program p(job(file, more));
    EXPECT_TRUE(p.prints(line));
    p.signal(SIGKILL);
    return p.wait();
  }
  std::string message(const arguments& all, int code) const {
    const outcome done = run(all);
    EXPECT_EQ(done.code, code) << done.err;
    return done.err;
  }

  plugin_test::folder m_folder;
};

void expect_same(const nlohmann::json& one, const nlohmann::json& other) {
  for (const char* key : {"scf_energy", "mp2_energy", "ccsd_energy", "ccsd_t_energy"}) {
    ASSERT_TRUE(one.contains(key) && other.contains(key)) << key;
    EXPECT_NEAR(one.at(key).get<double>(), other.at(key).get<double>(), 1e-10) << key;
  }
}

TEST_F(chemistry_restart, killed_at_any_point_it_goes_on_with_other_settings) {
  const nlohmann::json whole = energies("water.xyz", {});
  const std::vector<std::pair<std::string, std::string>> points{
      {"      7  ", "during SCF"},
      {"residual         time\n      ", "in the first iterations"},
      {"residual         time\n      ", "again"}};
  const std::vector<arguments> settings{
      {"--segments", "5", "3", "4", "--workers", "3"},
      {"--config", source("configs/sim_one.toml")},
      {"--config", source("configs/host_and_disk.toml"), "--memory", "512MiB", "--segments", "5", "2", "4"},
      {"--deterministic"}};
  int kills = 0;
  for (std::size_t k = 0; k < (tessera::testing::is_slow ? 2 : settings.size()); ++k) {
    const std::string folder = at("kept" + std::to_string(k));
    for (std::size_t p = 0; p < points.size(); ++p) {
      SCOPED_TRACE(points[p].second + ", settings " + std::to_string(k));
      // The one that was killed and the one that goes on have different settings.
      arguments how = settings[(k + p) % settings.size()];
      how.insert(how.end(), {"--restart", folder});
      program killed_job(job("water.xyz", how));
      if (killed_job.prints(points[p].first, std::chrono::seconds(20))) {
        killed_job.signal(SIGKILL);
        kills += killed_job.wait().code == killed ? 1 : 0;
      }
    }
    arguments how = settings[k];
    how.insert(how.end(), {"--restart", folder});
    expect_same(energies("water.xyz", how), whole);
  }
  EXPECT_GE(kills, 4) << "jobs end before they can be killed: this tests nothing";
}

TEST_F(chemistry_restart, open_shells_go_on) {
  const arguments open{"--multiplicity", "2", "--reference", "uhf", "--basis", "3-21g"};
  const nlohmann::json whole = energies("nh2.xyz", open);
  arguments how = open;
  how.insert(how.end(), {"--restart", at("kept"), "--cc-iterations", "4"});
  EXPECT_THAT(message(job("nh2.xyz", how), 6),
              HasSubstr("CCSD after 4 iterations, the energy of MP2; the same command goes on"));
  how.resize(how.size() - 2);
  how.insert(how.end(), {"--segments", "5", "2", "4", "--workers", "2"});
  const nlohmann::json rest = energies("nh2.xyz", how);
  expect_same(rest, whole);
  EXPECT_EQ(rest.at("ccsd_start"), "checkpoint");
  EXPECT_EQ(rest.at("scf_start"), "finished");
}

/// Residuals of a job that was cut behind some iterations, and of the one that goes on.
TEST_F(chemistry_restart, iterations_are_those_of_an_unbroken_job) {
  struct shells {
    const char* file;
    arguments how;
  };
  for (const auto& [file, how] :
       {shells{"water.xyz", {}}, {"nh2.xyz", {"--multiplicity", "2", "--reference", "uhf", "--basis", "3-21g"}}}) {
    if (tessera::testing::is_slow && !how.empty()) continue;  // open_shells_go_on has them
    const auto with = [&how = how](const arguments& more) {
      arguments all = how;
      all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    const nlohmann::json whole = energies(file, with({"--method", "ccsd"}));
    for (const arguments& settings : {arguments{}, {"--segments", "5", "2", "4", "--workers", "2"}})
      for (const char* cut : {"2", "7"}) {
        const std::string folder = at(std::string("kept") + file + cut + std::to_string(settings.size()));
        SCOPED_TRACE(folder);
        message(job(file, with({"--restart", folder, "--cc-iterations", cut})), 6);
        arguments more{"--method", "ccsd", "--restart", folder};
        more.insert(more.end(), settings.begin(), settings.end());
        const nlohmann::json rest = energies(file, with(more));
        EXPECT_EQ(rest.at("ccsd_start"), "checkpoint");
        EXPECT_TRUE(rest.at("diis_history"));
        EXPECT_EQ(rest.at("ccsd_iterations"), whole.at("ccsd_iterations"));
        const std::size_t before = std::stoul(cut);
        ASSERT_EQ(rest.at("ccsd_history").size() + before, whole.at("ccsd_history").size());
        for (std::size_t k = 0; k < rest.at("ccsd_history").size(); ++k) {
          const double now = rest.at("ccsd_history")[k].at("residual"),
                       then = whole.at("ccsd_history")[k + before].at("residual");
          EXPECT_NEAR(now, then, 1e-3 * then + 1e-12) << "iteration " << k + before + 1;
        }
        EXPECT_FALSE(std::filesystem::exists(folder + "/history." + std::to_string(before) + ".checkpoint"))
            << "what has converged needs none";
      }
  }
}

TEST_F(chemistry_restart, history_is_bounded_and_not_needed) {
  const nlohmann::json whole = energies("water.xyz", {"--method", "ccsd"});
  const arguments cut{"--restart", at("kept"), "--cc-iterations", "8"};
  message(job("water.xyz", cut), 6);
  const auto file_of = [&](int step) { return at("kept/history." + std::to_string(step) + ".checkpoint"); };
  for (int step = 1; step <= 9; ++step) EXPECT_EQ(std::filesystem::exists(file_of(step)), step >= 3 && step <= 8);
  write("kept/history.5.checkpoint", "tessera");
  const nlohmann::json rest = energies("water.xyz", {"--method", "ccsd", "--restart", at("kept")});
  EXPECT_FALSE(rest.at("diis_history"));
  EXPECT_NEAR(rest.at("ccsd_energy").get<double>(), whole.at("ccsd_energy").get<double>(), 1e-10);
}

/// Killed in (T): what is known is not computed again, and the energy is the same.
TEST_F(chemistry_restart, triples_go_on) {
  struct shells {
    const char* file;
    arguments how;
  };
  for (const auto& [file, how] : {shells{"water.xyz", {"--basis", tessera::testing::is_slow ? "cc-pvdz" : "cc-pvtz"}},
                                  {"nh2.xyz", {"--multiplicity", "2", "--reference", "uhf", "--basis", "cc-pvdz"}}}) {
    if (tessera::testing::is_slow && how.size() > 2) continue;
    SCOPED_TRACE(file);
    const std::string folder = at(std::string("kept") + file);
    arguments all = how;
    all.insert(all.end(), {"--restart", folder, "--deterministic", "--segments", "12", "2", "6"});
    arguments first = all;
    first.insert(first.end(), {"--method", "ccsd"});
    energies(file, first);
    std::filesystem::copy(folder, folder + ".whole", std::filesystem::copy_options::recursive);
    const std::filesystem::path file_of_triples = folder + "/triples.checkpoint";
    bool is_killed = false;
    for (int tries = 0; tries < 5 && !is_killed; ++tries) {  // a job may end before
      std::filesystem::remove_all(folder);
      std::filesystem::copy(folder + ".whole", folder, std::filesystem::copy_options::recursive);
      std::error_code none;
      const auto before = std::filesystem::last_write_time(file_of_triples, none);
      program killed_job(job(file, all));
      for (int ms = 50; killed_job.work_for(std::chrono::milliseconds(ms)); ms += 50)
        if (std::filesystem::exists(file_of_triples) &&
            std::filesystem::last_write_time(file_of_triples, none) != before)
          break;
      killed_job.signal(SIGKILL);
      is_killed = killed_job.wait().code == killed && std::filesystem::exists(file_of_triples);
    }
    if (!is_killed) {
      std::printf("%s: left out, jobs end before they can be killed in (T)\n", file);
      continue;
    }
    EXPECT_THAT(run({"checkpoint", "show", folder}).out, HasSubstr("are known, of amplitudes after"));
    const nlohmann::json rest = energies(file, all);
    EXPECT_EQ(rest.at("triples_start"), "checkpoint");
    EXPECT_GT(rest.at("triples_known"), 0);
    EXPECT_FALSE(std::filesystem::exists(folder + "/triples.checkpoint")) << "their sum is there";
    arguments whole = how;
    whole.insert(whole.end(), {"--restart", folder + ".whole", "--deterministic", "--segments", "12", "2", "6"});
    const nlohmann::json unbroken = energies(file, whole);
    EXPECT_FALSE(unbroken.contains("triples_start"));
    EXPECT_EQ(rest.at("triples"), unbroken.at("triples")) << "bit for bit";
  }
}

TEST_F(chemistry_restart, triples_follow_a_finished_ccsd) {
  const nlohmann::json whole = energies("water.xyz", {});
  const nlohmann::json first = energies("water.xyz", {"--method", "ccsd", "--restart", at("kept")});
  EXPECT_FALSE(first.contains("ccsd_t_energy"));
  const nlohmann::json second = energies("water.xyz", {"--restart", at("kept"), "--segments", "7", "2", "3"});
  expect_same(second, whole);
  EXPECT_EQ(second.at("ccsd_start"), "finished");
  EXPECT_TRUE(second.at("ccsd_history").empty()) << "no iteration is made again";
  EXPECT_EQ(second.at("ccsd_iterations"), first.at("ccsd_iterations"));
  const nlohmann::json third = energies("water.xyz", {"--restart", at("kept")});
  expect_same(third, whole);
  EXPECT_FALSE(third.contains("triples_seconds")) << "all energies are there";
  EXPECT_EQ(third.at("t1_diagnostic"), second.at("t1_diagnostic"));
}

TEST_F(chemistry_restart, a_guess_that_is_asked_for_replaces_a_field_that_has_not_converged) {
  const arguments few{"--restart", at("kept"), "--scf-iterations", "3", "--method", "scf"};
  EXPECT_THAT(message(job("water.xyz", few), 6), HasSubstr("RHF after 3 iterations; the same command goes on"));
  arguments on = few;
  on.insert(on.end(), {"--json", "-"});
  EXPECT_EQ(json_of(run(job("water.xyz", on)).out).at("scf_start"), "checkpoint");
  EXPECT_FALSE(
      energies("water.xyz", {"--restart", at("kept"), "--guess", "core", "--method", "scf"}).contains("scf_start"));
}

TEST_F(chemistry_restart, other_basis_and_geometry_begin_with_what_is_there) {
  energies("water.xyz", {"--basis", "sto-3g", "--restart", at("small")});
  const nlohmann::json from_atoms = energies("bent.xyz", {});
  const nlohmann::json larger = energies("bent.xyz", {"--start-from", at("small"), "--restart", at("large")});
  expect_same(larger, from_atoms);
  EXPECT_EQ(larger.at("scf_start"), "projected");
  EXPECT_EQ(larger.at("ccsd_start"), "projected");
  const nlohmann::json near = energies("water.xyz", {"--guess", "read", "--start-from", at("large")});
  expect_same(near, energies("water.xyz", {}));
  EXPECT_EQ(near.at("scf_start"), "read");
  EXPECT_LE(near.at("scf_iterations"), from_atoms.at("scf_iterations"));
  // Closed shells are a guess for open ones: of water with spin orbitals the same energies come out.
  const nlohmann::json apart = energies("water.xyz", {"--reference", "uhf", "--start-from", at("large")});
  EXPECT_EQ(apart.at("ccsd_start"), "projected");
  EXPECT_NEAR(apart.at("ccsd_energy").get<double>(), near.at("ccsd_energy").get<double>(), 1e-10);
  energies("water.xyz", {"--reference", "uhf", "--restart", at("apart")});
  const nlohmann::json back = energies("water.xyz", {"--start-from", at("apart")});
  EXPECT_EQ(back.at("ccsd_start"), "mp2") << "amplitudes of open shells are none of closed ones";
  expect_same(back, near);
}

TEST_F(chemistry_restart, what_cannot_be_taken_up_is_refused) {
  energies("water.xyz", {"--basis", "sto-3g", "--method", "ccsd", "--restart", at("kept")});
  const arguments small{"--basis", "sto-3g", "--restart", at("kept")};
  const auto with = [&](const arguments& more) {
    arguments all = small;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  EXPECT_THAT(message(job("hf.xyz", small), 4), HasSubstr("the atoms are others"));
  EXPECT_THAT(message(job("bent.xyz", small), 4), HasSubstr("atom 2 (H) is at another place"));
  EXPECT_THAT(message(job("water.xyz", {"--restart", at("kept")}), 4),
              HasSubstr("its basis is sto-3g, and here it is 6-31g**"));
  EXPECT_THAT(message(job("water.xyz", with({"--charge", "2"})), 4), HasSubstr("its charge is 0, and here it is 2"));
  EXPECT_THAT(message(job("water.xyz", with({"--reference", "uhf"})), 4),
              HasSubstr("its reference is rhf, and here it is uhf"));
  EXPECT_THAT(message(job("water.xyz", {"--guess", "read"}), 2), HasSubstr("--guess read needs a checkpoint to read"));
  EXPECT_THAT(message(job("water.xyz", {"--guess", "read", "--start-from", at("kept")}), 4),
              HasSubstr("other basis functions: those of sto-3g"));
  EXPECT_THAT(message(job("water.xyz", {"--start-from", at("none")}), 4),
              HasSubstr("there is no such folder of checkpoints"));
  EXPECT_THAT(message(job("hf.xyz", {"--start-from", at("kept")}), 4), HasSubstr("of other atoms"));
  EXPECT_THAT(message(job("water.xyz", {"--restart", at("water.xyz")}), 11),
              HasSubstr("cannot be made: a file has its name"));
  const std::string field = contents(at("kept") + "/field.checkpoint");
  const auto damaged = [&](const std::string& text) {
    write("kept/field.checkpoint", text);
    return message(job("water.xyz", small), 4);
  };
  EXPECT_THAT(damaged(""), HasSubstr("is empty"));
  EXPECT_THAT(damaged(field.substr(0, field.size() - 9)), HasSubstr("cut off"));
  EXPECT_THAT(damaged("tessera-chemistry 9" + field.substr(19)), HasSubstr("has format 9, and this program knows 1"));
  EXPECT_EQ(run({"checkpoint", "show", at("kept")}).code, 4);
  EXPECT_THAT(run({"checkpoint", "show", at("kept")}).out, HasSubstr("damaged"));
}

TEST_F(chemistry_restart, a_folder_is_of_one_job) {
  program first(job("water.xyz", {"--basis", "cc-pvtz", "--restart", at("kept")}));
  ASSERT_TRUE(first.prints("RHF  iteration"));
  EXPECT_THAT(message(job("water.xyz", {"--basis", "cc-pvtz", "--restart", at("kept")}), 2),
              HasSubstr("another job that runs has its checkpoints in this folder"));
}

TEST_F(chemistry_restart, a_full_disk_is_a_warning) {
  start how;
  how.file_limit = 2000;  // bytes of a file
  arguments all = job("water.xyz", {"--restart", at("kept"), "--json", "-"});
  const outcome done = program(all, {}, how).wait();
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("cannot be kept; the calculation goes on"));
  expect_same(json_of(done.out), energies("water.xyz", {}));
  EXPECT_TRUE(json_of(done.out).contains("checkpoint_warning"));
  expect_same(energies("water.xyz", {"--restart", at("kept")}), energies("water.xyz", {}));
}

/// A file system that is read-only, as far as the job can see: its lock cannot be opened for writing.
TEST_F(chemistry_restart, a_finished_folder_need_not_be_writable) {
  const nlohmann::json made = energies("water.xyz", {"--basis", "sto-3g", "--restart", at("kept")});
  std::filesystem::remove(at("kept/lock"));
  std::filesystem::create_directory(at("kept/lock"));
  const nlohmann::json again = energies("water.xyz", {"--basis", "sto-3g", "--restart", at("kept")});
  expect_same(again, made);
  EXPECT_EQ(again.at("ccsd_start"), "finished");
  energies("water.xyz", {"--basis", "sto-3g", "--restart", at("kept"), "--method", "scf"});
  // What is to be computed has to be kept.
  EXPECT_THAT(message(job("water.xyz", {"--basis", "sto-3g", "--restart", at("kept"), "--frozen-virtual", "1"}), 11),
              HasSubstr("the folder of checkpoints cannot be written to"));
  EXPECT_THAT(message(job("water.xyz", {"--basis", "sto-3g", "--restart", at("kept"), "--convergence", "1e-12"}), 11),
              HasSubstr("the folder of checkpoints cannot be written to"));
}

TEST_F(chemistry_restart, damage_beside_finished_energies_is_told) {
  const arguments how{"--basis", "sto-3g", "--restart", at("kept"), "--json", "-"};
  const nlohmann::json made = json_of(run(job("water.xyz", how)).out);
  const std::string whole = contents(at("kept/amplitudes.checkpoint"));
  write("kept/amplitudes.checkpoint", whole.substr(0, whole.size() - 9));
  const outcome again = run(job("water.xyz", how));
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("warning: the amplitudes that are kept are of no use; the energies are"));
  EXPECT_THAT(again.err, HasSubstr("the checkpoint is cut off in doubles"));
  EXPECT_THAT(json_of(again.out).at("checkpoint_damage"), HasSubstr("cut off"));
  expect_same(json_of(again.out), made);
}

TEST_F(chemistry_restart, what_is_kept_names_energies_too) {
  energies("water.xyz", {"--basis", "sto-3g", "--restart", at("kept"), "--method", "mp2"});
  EXPECT_THAT(message(job("water.xyz", {"--basis", "sto-3g", "--restart", at("kept"), "--cc-iterations", "2"}), 6),
              HasSubstr(", CCSD after 2 iterations, the energy of MP2; the same command goes on"));
}

TEST_F(chemistry_restart, saddle_points_are_told_and_left) {
  write("h2.xyz", "2\nbohr\nH 0 0 0\nH 0 0 4.0\n");
  const arguments field{"--method", "scf", "--reference", "uhf", "--json", "-"};
  const outcome saddle = run(job("h2.xyz", field));
  EXPECT_EQ(saddle.code, 0);
  EXPECT_THAT(saddle.err, HasSubstr("the energy of a saddle point"));
  EXPECT_FALSE(json_of(saddle.out).at("scf_is_minimum"));
  EXPECT_LT(json_of(saddle.out).at("stability_eigenvalue"), -0.2);
  arguments down = field;
  down.insert(down.end(), {"--stability", "follow", "--restart", at("kept")});
  const outcome lower = run(job("h2.xyz", down));
  EXPECT_THAT(lower.err, Not(HasSubstr("saddle point")));
  EXPECT_TRUE(json_of(lower.out).at("scf_is_minimum"));
  EXPECT_EQ(json_of(lower.out).at("stability_descents"), 1);
  EXPECT_LT(json_of(lower.out).at("scf_energy"), json_of(saddle.out).at("scf_energy"));
  const nlohmann::json again = json_of(run(job("h2.xyz", down)).out);
  EXPECT_EQ(again.at("scf_energy"), json_of(lower.out).at("scf_energy")) << "the checkpoint is of the minimum";
  EXPECT_FALSE(again.contains("stability_descents"));
  const nlohmann::json closed = energies("h2.xyz", {"--method", "scf"});
  EXPECT_TRUE(closed.at("scf_is_minimum"));
  EXPECT_LT(closed.at("stability_eigenvalue_uhf"), -0.2);
  EXPECT_FALSE(energies("h2.xyz", {"--method", "scf", "--stability", "off"}).contains("scf_is_minimum"));
}

TEST_F(chemistry_restart, show_lists_what_is_inside) {
  const nlohmann::json made = energies("water.xyz", {"--restart", at("kept")});
  const nlohmann::json shown = json_of(run({"checkpoint", "show", at("kept"), "--json", "-"}).out);
  EXPECT_EQ(shown.at("field").at("energy"), made.at("scf_energy"));
  EXPECT_EQ(shown.at("field").at("molecule"), "H2O");
  EXPECT_TRUE(shown.at("amplitudes").at("converged"));
  EXPECT_EQ(shown.at("amplitudes").at("iterations"), made.at("ccsd_iterations"));
  EXPECT_EQ(shown.at("energies").at("triples"), made.at("triples"));
  EXPECT_TRUE(shown.at("energies").at("of_the_field"));
  const outcome text = run({"checkpoint", "show", at("kept")});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("H2O in 6-31g**: 3 atoms, 25 functions"));
  EXPECT_EQ(run({"checkpoint", "show", at("none")}).code, 4);
  EXPECT_THAT(message({"checkpoint", "show", m_folder.path().string()}, 4), HasSubstr("has no checkpoints"));
}

}  // namespace
