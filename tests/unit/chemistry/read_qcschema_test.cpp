// QCSchema: what is taken, and what is refused where.
#include "libraries/chemistry/job/read_qcschema.hpp"

#include <fmt/format.h>

#include "libraries/chemistry/basis/qcschema.hpp"
#include "tests/unit/chemistry/expect_error.hpp"

namespace tessera::chemistry {
namespace {

constexpr const char* two_atoms = R"("symbols": ["He", "H"], "geometry": [0, 0, 0, 0.0, 0.0, 1.5])";

/// A whole document: more of the molecule, of the model, and of the document.
std::string document(const std::string& molecule = two_atoms,
                     const std::string& model = R"("method": "MP2", "basis": "STO-3G")", const std::string& more = "") {
  return fmt::format(
      R"({{"schema_name": "qcschema_input", "driver": "energy", "molecule": {{{}}}, "model": {{{}}}{}}})", molecule,
      model, more);
}

TEST(read_qcschema, geometry_is_in_bohr) {
  const job read = parse_qcschema(
      document(std::string(two_atoms) + R"(, "molecular_charge": 1.0, "molecular_multiplicity": 1, "real": [true, true],
        "atomic_numbers": [2, 1], "masses": [4, 1], "fix_com": false, "provenance": {"creator": "me"})"),
      "a.json");
  EXPECT_EQ(read.method, "mp2");
  EXPECT_EQ(read.basis, "STO-3G");
  EXPECT_EQ(read.charge, 1);
  EXPECT_EQ(read.multiplicity, 1);
  ASSERT_EQ(read.geometry.atoms.size(), 2u);
  EXPECT_EQ(read.geometry.atoms[0].number, 2);
  EXPECT_EQ(read.geometry.atoms[1].at[2], 1.5);
  EXPECT_TRUE(read.notes.empty());
  const job nested = parse_qcschema(document(R"("symbols": ["H", "H"], "geometry": [[0, 0, 0], [0, 1, 2]])"), "a.json");
  EXPECT_EQ(nested.geometry.atoms[1].at, (std::array<double, 3>{0, 1, 2}));
}

TEST(read_qcschema, keywords_are_items_under_several_names) {
  const job read = parse_qcschema(document(two_atoms, R"("method": "UHF", "basis": "sto-3g")",
                                           R"(, "keywords": {"FREEZE_CORE": "True", "e_convergence": 1e-7,
                                              "num_frozen_uocc": 2, "segments": [4, 4, 4]})"),
                                  "a.json");
  EXPECT_EQ(read.method, "scf");
  EXPECT_EQ(read.reference, "uhf");
  EXPECT_EQ(read.frozen_core, true);
  EXPECT_EQ(read.convergence, 1e-7);
  EXPECT_EQ(read.frozen_virtual, 2);
  EXPECT_EQ(read.segments, (std::vector<int>{4, 4, 4}));
}

TEST(read_qcschema, protocols_become_notes) {
  const std::string usual = R"(, "protocols": {"wavefunction": "none", "stdout": true})";
  EXPECT_TRUE(parse_qcschema(document(two_atoms, R"("method": "hf", "basis": "a")", usual), "a").notes.empty());
  const std::string all = R"(, "protocols": {"wavefunction": "all"})";
  EXPECT_THAT(parse_qcschema(document(two_atoms, R"("method": "hf", "basis": "a")", all), "a").notes,
              testing::ElementsAre("the protocol 'wavefunction' is not followed"));
}

TEST(read_qcschema, basis_sets_may_be_inside) {
  const job read =
      parse_qcschema(document(two_atoms, R"("method": "hf", "basis": {"name": "mine", "center_data": {}})"), "a");
  EXPECT_EQ(read.basis, "mine");
  EXPECT_THAT(*read.own_basis, testing::HasSubstr("center_data"));
}

TEST(read_qcschema, places_have_lines_and_columns) {
  const std::string text =
      "{\n  \"schema_name\": \"qcschema_input\",\n  \"driver\": \"energy\",\n  \"model\": {\"basis\": {\"name\": 5}, "
      "\"method\": \"hf\"},\n  \"molecule\": {\"symbols\": [\"H\"], \"geometry\": [0, 0, 0]}\n}";
  expect_refused([&] { (void)parse_qcschema(text, "a.json"); }, "text is expected", "a.json:4:31: model.basis.name");
}

TEST(read_qcschema, a_key_that_is_given_twice_is_refused) {
  const std::string twice = "{\n  \"driver\": \"energy\",\n  \"model\": {},\n  \"driver\": \"energy\"\n}";
  expect_refused([&] { (void)parse_qcschema(twice, "a.json"); }, "the key 'driver' is given twice", "a.json:4:3",
                 "it is in line 2 already");
}

/// Its places are those of the whole file.
TEST(read_qcschema, a_basis_inside_is_where_it_is) {
  const std::string text =
      document("\"symbols\": [\"He\"], \"geometry\": [0, 0, 0]",
               "\"method\": \"hf\",\n\"basis\": {\"schema_name\": \"qcschema_basis\", \"name\": \"mine\",\n  "
               "\"center_data\": {\"he\": {\"ecp_electrons\": 2}}}");
  const job read = parse_qcschema(text, "a.json");
  expect_refused([&] { (void)parse_qcschema_basis(*read.own_basis, "a.json", molecule_of(read)); },
                 "effective core potentials are not supported", "a.json:3:43: center_data.he.ecp_electrons");
}

TEST(read_qcschema, the_example_is_water) {
  const job read = read_qcschema(std::string(TESSERA_SOURCE_DIR) + "/apps/chem/data/water.json");
  EXPECT_EQ(read.method, "ccsd(t)");
  EXPECT_EQ(read.frozen_core, true);
  EXPECT_EQ(electrons(molecule_of(read)), 10);
}

class wrong_qcschemas : public ::testing::TestWithParam<wrong_text> {};

TEST_P(wrong_qcschemas, are_refused_with_their_place) {
  const wrong_text& c = GetParam();
  expect_refused([&] { (void)parse_qcschema(c.text, "a.json"); }, c.message, json_place(c.where), c.hint);
}

constexpr const char* usual_model = R"("method": "hf", "basis": "sto-3g")";

INSTANTIATE_TEST_SUITE_P(
    of, wrong_qcschemas,
    ::testing::Values(
        wrong_text{"no_json", "{", "this is no JSON: syntax error", "a.json"},
        wrong_text{"list", "[]", "an object", "a.json"},
        wrong_text{"no_schema", "{}", "schema_name is missing", "a.json"},
        wrong_text{"other_schema", R"({"schema_name": "qcschema_output"})", "'qcschema_input' is expected",
                   "a.json: schema_name"},
        wrong_text{"version", R"({"schema_name": "qcschema_input", "schema_version": 2})", "version 1",
                   "a.json: schema_version"},
        wrong_text{"driver", R"({"schema_name": "qcschema_input", "driver": "gradient", "molecule": {}})",
                   "the driver is 'gradient'", "a.json: driver"},
        wrong_text{"unknown_key", document(two_atoms, usual_model, R"(, "keyword": {})"), "no key 'keyword'", "a.json",
                   "did you mean 'keywords'?"},
        wrong_text{"ghost", document(std::string(two_atoms) + R"(, "real": [true, false])"), "atom 2 is a ghost",
                   "a.json: molecule.real[1]"},
        wrong_text{"real_of_one", document(std::string(two_atoms) + R"(, "real": [true])"), "1 elements",
                   "a.json: molecule.real"},
        wrong_text{"half_charge", document(std::string(two_atoms) + R"(, "molecular_charge": 0.5)"), "it is 0.5",
                   "a.json: molecule.molecular_charge"},
        wrong_text{"multiplicity", document(std::string(two_atoms) + R"(, "molecular_multiplicity": 0)"),
                   "not between 1", "a.json: molecule.molecular_multiplicity"},
        wrong_text{"few_coordinates", document(R"("symbols": ["H"], "geometry": [0, 0])"), "2 coordinates",
                   "a.json: molecule.geometry"},
        wrong_text{"coordinate", document(R"("symbols": ["H"], "geometry": [0, "0", 0])"),
                   "a number is expected, and it is text", "a.json: molecule.geometry[1]"},
        wrong_text{"element", document(R"("symbols": ["Hx"], "geometry": [0, 0, 0])"), "'Hx'",
                   "a.json: molecule.symbols[0]"},
        wrong_text{"numbers", document(std::string(two_atoms) + R"(, "atomic_numbers": [2, 2])"), "atom 2",
                   "a.json: molecule.atomic_numbers[1]"},
        wrong_text{"molecule_key", document(std::string(two_atoms) + R"(, "charge": 1)"), "no key 'charge'",
                   "a.json: molecule"},
        wrong_text{"method", document(two_atoms, R"("method": "b3lyp", "basis": "sto-3g")"), "no method 'b3lyp'",
                   "a.json: model.method"},
        wrong_text{"no_basis", document(two_atoms, R"("method": "hf", "basis": null)"), "'basis' is missing",
                   "a.json: model"},
        wrong_text{"nameless_basis", document(two_atoms, R"("method": "hf", "basis": {})"), "'name' is missing",
                   "a.json: model.basis"},
        wrong_text{"keyword", document(two_atoms, usual_model, R"(, "keywords": {"frozen_cor": true})"),
                   "no keyword 'frozen_cor'", "a.json: keywords.frozen_cor", "did you mean 'frozen_core'?"},
        wrong_text{"keyword_of_model", document(two_atoms, usual_model, R"(, "keywords": {"basis": "a"})"),
                   "no keyword 'basis'", "a.json: keywords.basis"},
        wrong_text{"keyword_value", document(two_atoms, usual_model, R"(, "keywords": {"freeze_core": "policy"})"),
                   "frozen_core is not true or false", "a.json: keywords.freeze_core"},
        wrong_text{"keyword_twice",
                   document(two_atoms, usual_model, R"(, "keywords": {"freeze_core": true, "frozen_core": false})"),
                   "given twice", "a.json: keywords.frozen_core"},
        wrong_text{"two_cores",
                   document(two_atoms, usual_model, R"(, "keywords": {"freeze_core": true, "num_frozen_docc": 1})"),
                   "given twice", "a.json: keywords"}),
    [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace tessera::chemistry
