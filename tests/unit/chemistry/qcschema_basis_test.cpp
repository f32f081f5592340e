// Basis sets in QCSchema's form, for the atoms of a molecule.
#include "libraries/chemistry/basis/qcschema.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "libraries/chemistry/basis/basis.hpp"
#include "tests/unit/chemistry/expect_error.hpp"
#include "tests/unit/chemistry/sample_molecules.hpp"

namespace tessera::chemistry {
namespace {

using testing::ElementsAre;

/// Oxygen with s of two columns, an SP shell and Cartesian d; hydrogen with one s. Numbers as texts, as the exchange
/// writes them, and as numbers.
constexpr const char* own = R"({
  "schema_name": "qcschema_basis", "schema_version": 1, "name": "own", "description": "",
  "center_data": {
    "o_own": {"electron_shells": [
      {"harmonic_type": "cartesian", "angular_momentum": [0], "exponents": ["10.0", "2.5e0"],
       "coefficients": [["0.5", "0.6"], ["0.0", "1.0"]]},
      {"harmonic_type": "cartesian", "angular_momentum": [0, 1], "exponents": [1.0, 0.3],
       "coefficients": [[0.2, 0.9], [0.4, 0.7]]},
      {"harmonic_type": "cartesian", "angular_momentum": [2], "exponents": [0.8], "coefficients": [[1]]}]},
    "h_own": {"electron_shells": [
      {"harmonic_type": "spherical", "angular_momentum": [0], "exponents": [1.2], "coefficients": [[1.0]]}],
      "ecp_electrons": 0}
  }
})";

std::string with(const std::string& what, const std::string& instead) {
  std::string text = own;
  const auto at = text.find(what);
  if (at == std::string::npos) throw std::logic_error("the sample lacks " + what);
  return text.replace(at, what.size(), instead);
}

TEST(qcschema_basis, shells_are_those_of_each_atoms_element) {
  const auto shells = parse_qcschema_basis(own, "own.json", water());  // O, H, H
  ASSERT_EQ(shells.size(), 7u);
  EXPECT_EQ(functions(shells), 1u + 1 + 1 + 3 + 6 + 1 + 1);
  EXPECT_THAT(shells[0].coefficients, ElementsAre(0.5, 0.6));
  EXPECT_THAT(shells[1].exponents, ElementsAre(2.5)) << "a primitive of coefficient 0 is left out";
  EXPECT_EQ(shells[2].momentum, 0);
  EXPECT_EQ(shells[3].momentum, 1);
  EXPECT_THAT(shells[3].coefficients, ElementsAre(0.4, 0.7));
  EXPECT_FALSE(shells[4].spherical);
  EXPECT_EQ(shells[6].atom, 2u);
  EXPECT_EQ(shells[6].at, water().atoms[2].at);
}

TEST(qcschema_basis, a_map_gives_each_atom_its_own) {
  const std::string mapped = with(R"("center_data")", R"("atom_map": ["h_own", "o_own", "h_own"], "center_data")");
  const auto shells = parse_qcschema_basis(mapped, "own.json", water());
  EXPECT_EQ(functions(shells), 1u + 12 + 1) << "the first atom has the functions of hydrogen";
  EXPECT_EQ(shells[1].atom, 1u);
}

/// Sets that come with the library, written as such a document, are the same shells.
TEST(qcschema_basis, a_shipped_set_comes_back) {
  std::string centers;
  for (const int number : {8, 1}) {
    std::string list;
    for (const shell& one : basis_for({.atoms = {{number, {}}}}, "cc-pvdz")) {
      std::string exponents, coefficients;
      for (std::size_t k = 0; k < one.exponents.size(); ++k) {
        exponents += fmt::format("{}{}", k == 0 ? "" : ", ", one.exponents[k]);
        coefficients += fmt::format("{}{}", k == 0 ? "" : ", ", one.coefficients[k]);
      }
      list += fmt::format(
          R"({}{{"harmonic_type": "spherical", "angular_momentum": [{}], "exponents": [{}], "coefficients": [[{}]]}})",
          list.empty() ? "" : ", ", one.momentum, exponents, coefficients);
    }
    centers += fmt::format(R"({}"{}": {{"electron_shells": [{}]}})", centers.empty() ? "" : ", ",
                           number == 8 ? "O" : "H", list);
  }
  const auto found = parse_qcschema_basis(
      fmt::format(R"({{"schema_name": "qcschema_basis", "center_data": {{{}}}}})", centers), "b.json", water());
  const auto expected = basis_for(water(), "cc-pvdz");
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t s = 0; s < found.size(); ++s) {
    EXPECT_EQ(found[s].momentum, expected[s].momentum);
    EXPECT_EQ(found[s].exponents, expected[s].exponents);
    EXPECT_EQ(found[s].coefficients, expected[s].coefficients);
    EXPECT_EQ(found[s].atom, expected[s].atom);
  }
}

TEST(qcschema_basis, wrong_documents_are_told_with_their_place) {
  const auto refused = [](const std::string& text, const std::string& message, const std::string& where) {
    expect_refused([&] { (void)parse_qcschema_basis(text, "own.json", water()); }, message, json_place(where));
  };
  const std::string oxygen = "own.json: center_data.o_own", first = oxygen + ".electron_shells[0]";
  expect_refused([] { (void)parse_qcschema_basis("{\n  \"schema_name\": oops}", "own.json", water()); }, "no JSON",
                 "own.json:2:18");
  expect_refused([] { (void)parse_qcschema_basis("", "own.json", water()); }, "no JSON", "own.json:1:1");
  refused("[]", "an object is expected", "own.json");
  refused("{}", "'schema_name' is missing", "own.json");
  refused(with("qcschema_basis", "qcschema_input"), "'qcschema_input' is another schema", "own.json: schema_name");
  refused(with(R"("schema_version": 1)", R"("schema_version": 2)"), "from 1 to 1", "own.json: schema_version");
  refused(with("o_own", "n_own"), "it lacks O, which is atom 1", "own.json: center_data");
  refused(with("o_own", "h_other"), "two entries are for 'h'", "own.json: center_data");
  refused(with(R"("center_data")", R"("atom_map": ["h_own"], "center_data")"), "it is for 1 atoms",
          "own.json: atom_map");
  refused(with(R"("center_data")", R"("atom_map": ["h_own", "x", "h_own"], "center_data")"), "center_data has no 'x'",
          "own.json: atom_map[1]");
  refused(with(R"("10.0")", R"("ten")"), "'ten' is no number", first + ".exponents[0]");
  refused(with(R"("10.0")", "-1"), "not positive", first + ".exponents[0]");
  refused(with(R"("10.0", )", ""), "there are 2 coefficients, and 1 exponents", first + ".coefficients[0]");
  refused(with(R"(["0.0", "1.0"])", R"(["0.0", "0"])"), "all coefficients", first + ".coefficients[1]");
  refused(with("[0, 1]", "[0, 1, 2]"), "2 rows of coefficients, and 3 momenta",
          oxygen + ".electron_shells[1].coefficients");
  refused(with("[2]", "[2.5]"), "from 0 to 10", oxygen + ".electron_shells[2].angular_momentum[0]");
  refused(with("[2]", "[]"), "a list is expected", oxygen + ".electron_shells[2].angular_momentum");
  refused(with("\"cartesian\"", "\"round\""), "'round' is no harmonic type", first + ".harmonic_type");
  refused(with(R"("ecp_electrons": 0)", R"("ecp_electrons": 2)"), "effective core potentials are not supported",
          "own.json: center_data.h_own.ecp_electrons");
  refused(with(R"("ecp_electrons": 0)", R"("ecp_potentials": [{"ecp_type": "scalar"}])"),
          "effective core potentials are not supported", "own.json: center_data.h_own.ecp_potentials");
  refused(with(R"("ecp_electrons": 0)", R"("electron_shells": [])"), "the key 'electron_shells' is given twice",
          "own.json");
  refused(with(R"("10.0")", "1e12"), "the exponent is 1e+12, and not between 1e-06 and 1e+11", first + ".exponents[0]");
  refused(with(R"("10.0")", R"("nan")"), "not finite", first + ".exponents[0]");
  refused(with(R"("0.5")", "-1e7"), "the coefficient is -1e+07, and its size at most 1e+06",
          first + ".coefficients[0][0]");
  refused(with("[[1]]", "[[1e-12]]"), "the shell vanishes", oxygen + ".electron_shells[2].coefficients[0]");
}

TEST(qcschema_basis, users_name_sets_and_files) {
  EXPECT_FALSE(names_basis_file("cc-pVDZ"));
  EXPECT_FALSE(names_basis_file("6-31g(d,p)"));
  EXPECT_TRUE(names_basis_file("own.json"));
  EXPECT_TRUE(names_basis_file("./own"));
  EXPECT_TRUE(names_basis_file("DZ.GBS"));
  EXPECT_EQ(functions(orbital_basis_for(water(), "cc-pvdz")), 24u);
  const std::string file = testing::TempDir() + "qcschema_basis_own.json";
  std::ofstream(file) << own;
  EXPECT_EQ(functions(orbital_basis_for(water(), file)), 14u);
  std::filesystem::remove(file);
  expect_refused([] { (void)orbital_basis_for(water(), "/nowhere/own.json"); }, "cannot be read", "/nowhere/own.json");
  EXPECT_THROW((void)orbital_basis_for(water(), "cc-pvdz-ri"), error);
}

}  // namespace
}  // namespace tessera::chemistry
