// tessera chem: the files that it is given, and those that it writes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "libraries/chemistry/exchange/fcidump.hpp"
#include "libraries/chemistry/exchange/trexio.hpp"
#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

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
      write("ZMAT", "helium\nHe 0 0 0\n\n*ACES2(CALC=SCF,BASIS=STO-3G,DAMP_TYPE=DAVIDSON)\n*SIP\nMAXMEM=1000\n");
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

TEST_F(chemistry_files, files_are_known_by_their_endings_first) {
  const std::string he = "1\n\nHe 0 0 0\n";
  for (const char* name : {"zmat_he.xyz", "fcidump_he.xyz"})
    EXPECT_EQ(result({write(name, he), "--method", "scf", "--basis", "sto-3g"}).at("molecule"), "He");
}

TEST_F(chemistry_files, what_a_calculation_reads_is_not_written_over) {
  write("he.xyz", "1\n\nHe 0 0 0\n");
  const std::string file = write("he.toml", "molecule = \"he.xyz\"\nbasis = \"sto-3g\"\n");
  const outcome done = run({"chem", file, "--method", "scf", "--molden", at("he.xyz")});
  EXPECT_EQ(done.code, 2);
  EXPECT_THAT(done.err, HasSubstr("--molden would write over a file that the calculation reads"));
  EXPECT_EQ(contents(at("he.xyz")), "1\n\nHe 0 0 0\n");
}

TEST_F(chemistry_files, basis_sets_may_be_in_qcschema_inputs) {
  nlohmann::json input = json_of(contents(data("water.json")));
  input["molecule"]["symbols"] = {"He"};
  input["molecule"]["geometry"] = {0, 0, 0};
  input["model"] = {{"method", "hf"},
                    {"basis",
                     {{"schema_name", "qcschema_basis"},
                      {"schema_version", 1},
                      {"name", "one"},
                      {"center_data",
                       {{"he_one",
                         {{"electron_shells",
                           {{{"harmonic_type", "spherical"},
                             {"angular_momentum", {0}},
                             {"exponents", {0.7739}},
                             {"coefficients", {{1.0}}}}}}}}}},
                      {"atom_map", {"he_one"}}}}};
  const nlohmann::json seen = result({write("he.json", input.dump())});
  EXPECT_EQ(seen.at("basis"), "one");
  // One Gaussian: E = 3 a - 8 sqrt(2 a / pi) + 2 sqrt(a / pi).
  const double a = 0.7739, pi = 3.141592653589793;
  EXPECT_NEAR(seen.at("scf_energy").get<double>(), 3 * a - 8 * std::sqrt(2 * a / pi) + 2 * std::sqrt(a / pi), 1e-9);
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

std::string python() {
  const char* const named = std::getenv("TESSERA_PYTHON");
  return named == nullptr ? "python3" : named;
}

/// TESSERA_PYTHON, or python3, has the module.
bool python_has(const std::string& module) {
  return std::system((python() + " -c 'import " + module + "' > /dev/null 2>&1").c_str()) == 0;
}

/// The coefficients of an orbital, counted from 1, in a Molden file.
std::vector<double> orbital_of(const std::string& molden, int number) {
  std::istringstream lines(molden.substr(molden.find("[MO]")));
  std::vector<double> found;
  std::string line;
  for (int at = 0; std::getline(lines, line) && at <= number;) {
    if (line.find("Sym=") != line.npos) ++at;
    if (at == number && line.find('=') == line.npos) found.push_back(std::stod(line.substr(line.find_last_of(' '))));
  }
  return found;
}

TEST_F(chemistry_files, molden_files_have_the_orders_and_norms_that_others_have) {
  const std::string file = write("hf.xyz", "2\nbohr\nF 0 0 0\nH 0.9 1.1 0.7\n");
  for (const nlohmann::json& known : json_of(contents(source("tests/integration/chemistry/molden_reference.json")))) {
    const auto functions = known.at("functions").get<std::string>();
    const nlohmann::json seen =
        result({file, "--basis", source("tests/integration/chemistry/segmented.gbs"), "--method", "scf", "--functions",
                functions, "--convergence", "1e-11", "--molden", at("hf.molden")});
    EXPECT_NEAR(seen.at("scf_energy").get<double>(), known.at("energy").get<double>(), 1e-9);
    const std::vector<double> coefficients = orbital_of(contents(at("hf.molden")), known.at("orbital"));
    const auto expected = known.at("coefficients").get<std::vector<double>>();
    ASSERT_EQ(coefficients.size(), expected.size()) << functions;
    const double sign = coefficients[0] * expected[0] < 0 ? -1 : 1;
    for (std::size_t k = 0; k < expected.size(); ++k)
      EXPECT_NEAR(coefficients[k], sign * expected[k], 2e-7) << functions << " function " << k + 1;
  }
}

TEST_F(chemistry_files, molden_files_have_both_spins) {
  const std::string file = write("nh.xyz", "2\n\nN 0 0 0\nH 0 0 1.04\n");
  result({file, "--basis", "sto-3g", "--multiplicity", "3", "--method", "scf", "--molden", at("a.molden")});
  const std::string apart = contents(at("a.molden"));
  EXPECT_THAT(apart, HasSubstr("Spin= Beta"));
  EXPECT_THAT(apart, Not(HasSubstr("Occup= 2")));
  result({file, "--basis", "sto-3g", "--multiplicity", "3", "--reference", "rohf", "--method", "scf", "--molden",
          at("a.molden")});
  const std::string shared = contents(at("a.molden"));
  EXPECT_THAT(shared, Not(HasSubstr("Spin= Beta")));
  EXPECT_THAT(shared, HasSubstr("Occup= 2"));
  EXPECT_THAT(shared, HasSubstr("Occup= 1"));
}

TEST_F(chemistry_files, trexio_files_want_their_library) {
  const std::vector<std::string> words{"chem", data("water.xyz"), "--basis", "sto-3g", "--method",
                                       "scf",  "--trexio",        at("w.h5")};
  const std::string why = tessera::chemistry::why_no_trexio();
  const outcome done = run(words);
  if (!why.empty()) {
    EXPECT_EQ(done.code, 3);
    EXPECT_THAT(done.err, HasSubstr("libtrexio0"));
    EXPECT_FALSE(std::filesystem::exists(at("w.h5")));
    GTEST_SKIP() << why;
  }
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(contents(at("w.h5")), testing::StartsWith("\x89HDF"));
  EXPECT_EQ(run(words).code, 0) << "an older file is replaced";
  EXPECT_FALSE(std::filesystem::exists(at("w.h5.new")));
  if (!python_has("trexio")) return;
  const std::string script = write("check.py",
                                   "import sys, trexio\n"
                                   "f = trexio.File(sys.argv[1], 'r', trexio.TREXIO_HDF5)\n"
                                   "c = trexio.read_mo_coefficient(f)\n"
                                   "assert c.shape == (7, 7) and trexio.read_electron_num(f) == 10\n"
                                   "assert sum(trexio.read_mo_occupation(f)) == 10\n"
                                   "assert abs(trexio.read_nucleus_coord(f)[1][1] - 1.429936714) < 1e-9\n"
                                   "assert abs(abs(c[0][0]) - 0.994) < 0.01, c[0]\n");
  EXPECT_EQ(std::system((python() + " " + script + " " + at("w.h5")).c_str()), 0);
}

TEST_F(chemistry_files, fcidump_files_have_the_energy_of_the_field) {
  const nlohmann::json seen = result({data("water.xyz"), "--basis", "6-31g**", "--method", "scf", "--frozen-core",
                                      "--frozen-virtual", "2", "--fcidump", at("w.fcidump")});
  const tessera::chemistry::hamiltonian h = tessera::chemistry::read_fcidump(at("w.fcidump"));
  EXPECT_EQ(h.orbitals, 22u);
  EXPECT_EQ(h.electrons, 8);
  EXPECT_EQ(h.unpaired, 0);
  double energy = h.core_energy;
  for (std::size_t i = 0; i < 4; ++i) {
    energy += 2 * h.h(i, i);
    for (std::size_t j = 0; j < 4; ++j) energy += 2 * h.repulsion(i, i, j, j) - h.repulsion(i, j, j, i);
  }
  EXPECT_NEAR(energy, seen.at("scf_energy").get<double>(), 1e-10);
}

/// The energy of the determinant of the first orbitals, spin by spin.
double determinant_energy(const tessera::chemistry::hamiltonian& h) {
  using tessera::chemistry::hamiltonian;
  const auto two = [](const std::vector<double>& of, std::size_t p, std::size_t q, std::size_t r, std::size_t s) {
    return of[hamiltonian::pair(hamiltonian::pair(p, q), hamiltonian::pair(r, s))];
  };
  const auto alpha = static_cast<std::size_t>((h.electrons + h.unpaired) / 2),
             beta = static_cast<std::size_t>((h.electrons - h.unpaired) / 2);
  double energy = h.core_energy;
  for (std::size_t i = 0; i < alpha; ++i) {
    energy += h.one[hamiltonian::pair(i, i)];
    for (std::size_t j = 0; j < alpha; ++j) energy += 0.5 * (two(h.two, i, i, j, j) - two(h.two, i, j, j, i));
    for (std::size_t j = 0; j < beta; ++j) energy += h.mixed_repulsion(i, i, j, j);
  }
  for (std::size_t i = 0; i < beta; ++i) {
    energy += h.one_beta[hamiltonian::pair(i, i)];
    for (std::size_t j = 0; j < beta; ++j) energy += 0.5 * (two(h.two_beta, i, i, j, j) - two(h.two_beta, i, j, j, i));
  }
  return energy;
}

TEST_F(chemistry_files, fcidump_files_of_uhf_have_integrals_of_each_spin) {
  const std::vector<std::string> asked{"--method", "ccsd(t)", "--convergence", "1e-11"};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.end(), asked.begin(), asked.end());
    return result(std::move(words));
  };
  const nlohmann::json molecule = with({data("water.xyz"), "--basis", "6-31g**", "--charge", "1", "--multiplicity", "2",
                                        "--frozen-core", "--frozen-virtual", "3", "--fcidump", at("w.fcidump")});
  EXPECT_THAT(contents(at("w.fcidump")), HasSubstr("IUHF=1"));
  const tessera::chemistry::hamiltonian h = tessera::chemistry::read_fcidump(at("w.fcidump"));
  EXPECT_EQ(h.orbitals, 21u);
  EXPECT_EQ(h.electrons, 7);
  EXPECT_EQ(h.unpaired, 1);
  EXPECT_NEAR(determinant_energy(h), molecule.at("scf_energy").get<double>(), 1e-10);
  const nlohmann::json file = with({at("w.fcidump")});
  EXPECT_EQ(file.at("reference"), "UHF");
  EXPECT_EQ(file.at("scf_iterations"), 2) << "the orbitals are those of a field";
  for (const char* key : {"scf_energy", "mp2_energy", "ccsd_energy", "ccsd_t_energy"})
    EXPECT_NEAR(molecule.at(key).get<double>(), file.at(key).get<double>(), 1e-10) << key;
  EXPECT_FALSE(file.contains("spin_squared")) << "the overlap of both spins' orbitals is not in the file";
  // Also from other orbitals, and once more to a file.
  const nlohmann::json core =
      with({at("w.fcidump"), "--guess", "core", "--stability", "follow", "--fcidump", at("again.fcidump")});
  EXPECT_NEAR(core.at("ccsd_energy").get<double>(), file.at("ccsd_energy").get<double>(), 1e-9);
  EXPECT_NEAR(with({at("again.fcidump")}).at("ccsd_energy").get<double>(), file.at("ccsd_energy").get<double>(), 1e-9);
  const outcome closed = run({"chem", at("w.fcidump"), "--reference", "rohf"});
  EXPECT_EQ(closed.code, 2);
  EXPECT_THAT(closed.err, HasSubstr("the file has integrals of each spin, and rohf has none"));
}

/// A chain of six sites with neighbours that repel more than electrons of one site do; energies of PySCF 2.14.
std::string chain_of_sites() {
  std::string text = "&FCI NORB=6,NELEC=6,MS2=0 &END\n 1.5 0 0 0 0\n";
  for (int k = 1; k <= 6; ++k) text += fmt::format("{} {} {} 0 0\n0.1 {} {} {} {}\n", 0.3 * (k - 1), k, k, k, k, k, k);
  for (int k = 1; k < 6; ++k) text += fmt::format("-1 {} {} 0 0\n0.6 {} {} {} {}\n", k, k + 1, k, k, k + 1, k + 1);
  return text;
}

TEST_F(chemistry_files, hamiltonians_need_no_molecule) {
  const nlohmann::json chain = result({write("chain.fcidump", chain_of_sites())});
  EXPECT_NEAR(chain.at("scf_energy").get<double>(), 0.8093416697, 1e-9);
  EXPECT_NEAR(chain.at("ccsd_energy").get<double>(), 0.7514741199, 1e-8);
  EXPECT_NEAR(chain.at("triples").get<double>(), -0.0007777278, 1e-8);
  EXPECT_FALSE(chain.contains("dipole"));
  std::string open = chain_of_sites();
  open.replace(open.find("NELEC=6,MS2=0"), 13, "NELEC=5,MS2=1");
  const nlohmann::json doublet = result({write("FCIDUMP", open), "--method", "ccsd"});
  EXPECT_EQ(doublet.at("reference"), "UHF");
  EXPECT_NEAR(doublet.at("ccsd_energy").get<double>(), -0.1928377317, 1e-8);
}

TEST_F(chemistry_files, fcidump_files_come_back_as_they_went) {
  const std::vector<std::string> usual{data("water.xyz"),  "--basis", "6-31g**",   "--frozen-core",
                                       "--frozen-virtual", "2",       "--fcidump", at("w.fcidump")};
  const nlohmann::json first = result(usual), second = result({at("w.fcidump")});
  EXPECT_EQ(second.at("occupied"), 4);
  EXPECT_EQ(second.at("virtual"), 18);
  EXPECT_EQ(second.at("scf_iterations"), 2) << "the orbitals are those of a field";
  for (const char* key : {"scf_energy", "mp2_energy", "ccsd_energy", "ccsd_t_energy"})
    EXPECT_NEAR(first.at(key).get<double>(), second.at(key).get<double>(), 1e-8) << key;
  const nlohmann::json third =
      result({at("w.fcidump"), "--method", "ccsd", "--frozen-orbitals", "1", "--fcidump", at("w3.fcidump")});
  EXPECT_NEAR(result({at("w3.fcidump"), "--method", "ccsd"}).at("ccsd_energy").get<double>(),
              third.at("ccsd_energy").get<double>(), 1e-8);
}

TEST_F(chemistry_files, options_of_molecules_are_refused_for_hamiltonians) {
  const std::string file = write("chain.fcidump", chain_of_sites());
  for (const std::vector<std::string>& option : std::vector<std::vector<std::string>>{{"--basis", "sto-3g"},
                                                                                      {"--charge", "1"},
                                                                                      {"--multiplicity", "3"},
                                                                                      {"--frozen-core"},
                                                                                      {"--guess", "sad"},
                                                                                      {"--molden", at("m")},
                                                                                      {"--qcschema", at("q")}}) {
    std::vector<std::string> words{"chem", file};
    words.insert(words.end(), option.begin(), option.end());
    EXPECT_EQ(run(words).code, 2) << option[0];
  }
  EXPECT_EQ(run({"chem", write("a.fcidump", "&FCI NORB=2,NELEC=2 /\n1 3 1 0 0\n")}).code, 4);
}

TEST_F(chemistry_files, qcschema_results_have_what_was_asked_for) {
  nlohmann::json input = json_of(contents(data("water.json")));
  input["id"] = "17";
  input["model"]["basis"] = "sto-3g";
  const nlohmann::json seen = result({write("in.json", input.dump()), "--qcschema", at("out.json")});
  const nlohmann::json out = json_of(contents(at("out.json")));
  EXPECT_EQ(out.at("schema_name"), "qcschema_output");
  EXPECT_EQ(out.at("success"), true);
  EXPECT_EQ(out.at("id"), "17");
  EXPECT_EQ(out.at("keywords"), input.at("keywords"));
  EXPECT_EQ(out.at("molecule").at("symbols"), input.at("molecule").at("symbols"));
  EXPECT_EQ(out.at("return_result"), seen.at("ccsd_t_energy"));
  const nlohmann::json& properties = out.at("properties");
  EXPECT_EQ(properties.at("calcinfo_nbasis"), 7);
  EXPECT_EQ(properties.at("scf_total_energy"), seen.at("scf_energy"));
  EXPECT_EQ(properties.at("ccsd_total_energy"), seen.at("ccsd_energy"));
  EXPECT_EQ(properties.at("mp2_correlation_energy"), seen.at("mp2_energy_correlation"));
  EXPECT_NEAR(properties.at("ccsd_prt_pr_total_energy").get<double>(), seen.at("ccsd_t_energy").get<double>(), 1e-12);
}

TEST_F(chemistry_files, failures_are_qcschema_too) {
  const outcome unconverged = run({"chem", data("water.json"), "--basis", "sto-3g", "--scf-iterations", "2", "--molden",
                                   at("a.molden"), "--qcschema", at("out.json")});
  EXPECT_EQ(unconverged.code, 6);
  EXPECT_FALSE(std::filesystem::exists(at("a.molden")));
  const nlohmann::json out = json_of(contents(at("out.json")));
  EXPECT_EQ(out.at("success"), false);
  EXPECT_EQ(out.at("error").at("error_type"), "numerical");
  EXPECT_THAT(out.at("error").at("error_message").get<std::string>(), HasSubstr("RHF has not converged"));
  EXPECT_EQ(out.at("input_data").at("driver"), "energy");
  EXPECT_FALSE(out.contains("return_result"));
  EXPECT_EQ(run({"chem", at("none.json"), "--qcschema", at("none_out.json")}).code, 4);
  EXPECT_EQ(json_of(contents(at("none_out.json"))).at("error").at("error_type"), "input");
  EXPECT_EQ(run({"chem", data("water.json"), "--qcschema", data("water.json")}).code, 2) << "it is read";
  EXPECT_EQ(run({"chem", data("water.json"), "--molden", at("a"), "--qcschema", at("a")}).code, 2);
}

TEST_F(chemistry_files, qcelemental_takes_the_results) {
  if (!python_has("qcelemental")) GTEST_SKIP() << python() << " has no qcelemental";
  result({data("water.json"), "--basis", "sto-3g", "--qcschema", at("out.json")});
  (void)run(
      {"chem", data("water.json"), "--basis", "sto-3g", "--scf-iterations", "2", "--qcschema", at("failed.json")});
  const std::string script = write("check.py",
                                   "import json, sys\n"
                                   "from qcelemental.models import AtomicInput, AtomicResult, FailedOperation\n"
                                   "AtomicInput(**json.load(open(sys.argv[3])))\n"
                                   "assert AtomicResult(**json.load(open(sys.argv[1]))).success\n"
                                   "assert not FailedOperation(**json.load(open(sys.argv[2]))).success\n");
  EXPECT_EQ(
      std::system((python() + " " + script + " " + at("out.json") + " " + at("failed.json") + " " + data("water.json"))
                      .c_str()),
      0);
}

}  // namespace
