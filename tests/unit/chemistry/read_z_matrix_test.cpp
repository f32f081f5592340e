// Z-matrices: where atoms come to be, and where each mistake is found.
#include "libraries/chemistry/molecule/read_z_matrix.hpp"

#include <cmath>
#include <numbers>

#include "tests/unit/chemistry/expect_error.hpp"

namespace tessera::chemistry {
namespace {

using vector3 = std::array<double, 3>;

vector3 from_to(const atom& a, const atom& b) { return {b.at[0] - a.at[0], b.at[1] - a.at[1], b.at[2] - a.at[2]}; }
double dot(const vector3& a, const vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
vector3 times(const vector3& a, const vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
/// In ångström.
double distance_of(const atom& a, const atom& b) {
  return std::sqrt(dot(from_to(a, b), from_to(a, b))) * angstrom_per_bohr;
}
/// At b, in degrees.
double angle_of(const atom& a, const atom& b, const atom& c) {
  const vector3 u = from_to(b, a), v = from_to(b, c);
  return std::acos(dot(u, v) / std::sqrt(dot(u, u) * dot(v, v))) * 180 / std::numbers::pi;
}
/// In degrees; the sign of IUPAC.
double dihedral_of(const atom& a, const atom& b, const atom& c, const atom& d) {
  const vector3 u = from_to(a, b), v = from_to(b, c), w = from_to(c, d);
  const vector3 first = times(u, v), second = times(v, w);
  return std::atan2(std::sqrt(dot(v, v)) * dot(u, second), dot(first, second)) * 180 / std::numbers::pi;
}

TEST(read_z_matrix, atoms_have_the_distances_angles_and_dihedrals_that_it_says) {
  const molecule m = parse_z_matrix(
      "H\n"
      "O 1 0.95\n"
      "O 2 1.40 1 101.5\n"
      "H 3 0.96 2 102.5 1 -113.25\n"
      "F 2 2.00 3 60 4 45\n",
      "hooh");
  ASSERT_EQ(m.atoms.size(), 5u);
  EXPECT_EQ(m.atoms[1].number, 8);
  EXPECT_EQ(m.name, "hooh");
  EXPECT_NEAR(distance_of(m.atoms[0], m.atoms[1]), 0.95, 1e-12);
  EXPECT_NEAR(distance_of(m.atoms[1], m.atoms[2]), 1.40, 1e-12);
  EXPECT_NEAR(angle_of(m.atoms[2], m.atoms[1], m.atoms[0]), 101.5, 1e-10);
  EXPECT_NEAR(distance_of(m.atoms[3], m.atoms[2]), 0.96, 1e-12);
  EXPECT_NEAR(angle_of(m.atoms[3], m.atoms[2], m.atoms[1]), 102.5, 1e-10);
  EXPECT_NEAR(dihedral_of(m.atoms[3], m.atoms[2], m.atoms[1], m.atoms[0]), -113.25, 1e-10);
  EXPECT_NEAR(distance_of(m.atoms[4], m.atoms[1]), 2.00, 1e-12);
  EXPECT_NEAR(angle_of(m.atoms[4], m.atoms[1], m.atoms[2]), 60, 1e-10);
  EXPECT_NEAR(dihedral_of(m.atoms[4], m.atoms[1], m.atoms[2], m.atoms[3]), 45, 1e-10);
}

TEST(read_z_matrix, a_positive_dihedral_is_clockwise) {
  // Who looks from 3 to 2, along -x, with z above, has y on the right. The farther bond points down: the nearer one, on
  // the right, turns clockwise to cover it.
  const molecule m = parse_z_matrix("H\nO 1 1\nO 2 1 1 90\nH 3 1 2 90 1 90\n", "m");
  for (const double coordinate : m.atoms[3].at) EXPECT_NEAR(coordinate * angstrom_per_bohr, 1, 1e-12);
  EXPECT_NEAR(dihedral_of(m.atoms[3], m.atoms[2], m.atoms[1], m.atoms[0]), 90, 1e-10);
  EXPECT_NEAR(dihedral_of(m.atoms[0], m.atoms[1], m.atoms[2], m.atoms[3]), 90, 1e-10);
}

TEST(read_z_matrix, the_first_atoms_are_at_the_origin_on_z_and_in_xz) {
  const molecule m = parse_z_matrix("O\nH 1 0.9\nH 1 0.9 2 90\nH 2 0.9 1 90 3 0", "m");
  EXPECT_EQ(m.atoms[0].at, (vector3{0, 0, 0}));
  EXPECT_DOUBLE_EQ(m.atoms[1].at[2], 0.9 / angstrom_per_bohr);
  EXPECT_EQ(m.atoms[1].at[0], 0);
  EXPECT_DOUBLE_EQ(m.atoms[2].at[0], 0.9 / angstrom_per_bohr);
  EXPECT_EQ(m.atoms[2].at[1], 0);
  EXPECT_NEAR(m.atoms[2].at[2], 0, 1e-15);
  EXPECT_NEAR(m.atoms[3].at[0], m.atoms[2].at[0], 1e-14);
  EXPECT_NEAR(m.atoms[3].at[2], m.atoms[1].at[2], 1e-14);
}

TEST(read_z_matrix, variables_follow_a_blank_line_or_a_title) {
  const char* endings[] = {
      "\nr 0.9575\na 104.51\n", "Variables:\nR=0.9575\na = 104.51\n",
      "  ! a comment does not end the matrix\n\n\nVARIABLES\nr,0.9575\nConstants:\n a 104.51D0 # fixed",
      "\r\nr 0.9575\r\n\r\na 104.51\r\n"};
  for (const char* ending : endings) {
    const molecule m =
        parse_z_matrix(std::string("\xef\xbb\xbf\nO\nH, 1, r\nh 1 R 2 A ! the second\n") + ending, "water");
    ASSERT_EQ(m.atoms.size(), 3u);
    EXPECT_NEAR(distance_of(m.atoms[0], m.atoms[2]), 0.9575, 1e-12);
    EXPECT_NEAR(angle_of(m.atoms[1], m.atoms[0], m.atoms[2]), 104.51, 1e-10);
  }
}

TEST(read_z_matrix, variables_may_have_a_sign) {
  const molecule m =
      parse_z_matrix("C\nH 1 r\nF 1 r 2 t\nCl 1 r 2 t 3 d\nBr 1 +r 2 t 3 -d\n\nr 1.1\nt 109.5\nd 120\n", "m");
  EXPECT_NEAR(dihedral_of(m.atoms[3], m.atoms[0], m.atoms[1], m.atoms[2]), 120, 1e-10);
  EXPECT_NEAR(dihedral_of(m.atoms[4], m.atoms[0], m.atoms[1], m.atoms[2]), -120, 1e-10);
}

TEST(read_z_matrix, labels_dummies_and_charges_are_taken) {
  const molecule m = parse_z_matrix("-1 2\nC1\nX2 C1 1.0\nN3 1 1.2 x2 90\nC4 c1 1.5 X2 90.0 n3 180\n", "m");
  EXPECT_EQ(m.charge, -1);
  EXPECT_EQ(m.multiplicity, 2);
  ASSERT_EQ(m.atoms.size(), 3u);
  EXPECT_EQ(m.atoms[1].number, 7);
  EXPECT_NEAR(angle_of(m.atoms[1], m.atoms[0], m.atoms[2]), 180, 1e-5);
  EXPECT_EQ(parse_z_matrix("8\n1 1 0.97\n", "oh").atoms[0].number, 8);
  EXPECT_EQ(parse_z_matrix("He", "he").atoms.size(), 1u);
}

TEST(read_z_matrix, straight_chains_need_no_dummies) {
  const molecule m = parse_z_matrix("H\nC 1 1.06\nC 2 1.2 1 180\nH 3 1.06 2 180 1 0\n", "acetylene");
  EXPECT_NEAR(distance_of(m.atoms[0], m.atoms[3]), 3.32, 1e-12);
}

class z_matrix_mistake : public testing::TestWithParam<wrong_text> {};

TEST_P(z_matrix_mistake, is_found_at_its_place) {
  const auto& one = GetParam();
  expect_refused([&] { (void)parse_z_matrix(one.text, "m.zmat"); }, one.message, std::string("m.zmat:") + one.where,
                 one.hint);
}

const std::string three = "O\nH 1 0.9\nH 1 0.9 2 104\n";

INSTANTIATE_TEST_SUITE_P(
    texts, z_matrix_mistake,
    testing::Values(
        wrong_text{"empty", "", "the Z-matrix is empty", "1:1", "a line is"},
        wrong_text{"charge_alone", "0 1\n", "no atoms", "1:3"},
        wrong_text{"variables_alone", "Variables:\nr 1\n", "no atoms", "1:1"},
        wrong_text{"multiplicity", "0 0\nH\n", "the multiplicity is '0'", "1:3"},
        wrong_text{"charge", "99999999999 1\nH\n", "the charge is '99999999999', which is not between", "1:1"},
        wrong_text{"unknown", "O\nHx 1 0.9\n", "'hx'", "2:1", "did you mean 'H'?"},
        wrong_text{"number_of_element", "O\n119 1 0.9\n", "'119'", "2:1"},
        wrong_text{"dummies", "X\nX 1 1\n", "dummies alone", "2:6"},
        wrong_text{"cartesian", "O 0 0 0\n", "'0' is more", "1:3", "a line is"},
        wrong_text{"no_reference", "O\nH\n", "the distance is missing", "2:2"},
        wrong_text{"no_distance", "O\nH 1\n", "the distance is missing", "2:4"},
        wrong_text{"no_angle", "O\nH 1 0.9\nH 1 0.9\n", "the angle is missing", "3:8"},
        wrong_text{"no_dihedral", three + "H 1 0.9 2 104\n", "the dihedral is missing", "4:14"},
        wrong_text{"second_angle", three + "H 1 0.9 2 104 3 104 1\n", "'1' is more", "4:21"},
        wrong_text{"later", "O\nH 2 0.9\n", "the reference of the distance is '2', which is not between 1 and 1",
                   "2:3"},
        wrong_text{"zero", "O\nH 0 0.9\n", "which is not between 1 and 1", "2:3"},
        wrong_text{"fraction", "O\nH 1.0 0.9\n", "which is not a whole number", "2:3"},
        wrong_text{"same", "O\nH 1 0.9\nH 1 0.9 1 104\n", "the reference of the angle is one of this line's", "3:9"},
        wrong_text{"label", "O1\nH2 O2 0.9\n", "no atom before this one has the label 'o2'", "2:4"},
        wrong_text{"ambiguous", "O\nO 1 1.2\nO O 1.2 1 110\n", "several atoms have the label 'o'", "3:3", "ordinal"},
        wrong_text{"word", "O\nH 1 0,9x\n", "'9x' is more", "2:7"},
        wrong_text{"digits_first", "O\nH 1 2r\n", "'2r', which is not a number", "2:5"},
        wrong_text{"signs", "O\nH 1 --r\n", "'--r', which is not a number", "2:5"},
        wrong_text{"infinite", "O\nH 1 1e999\n", "too large", "2:5"},
        wrong_text{"negative", "O\nH 1 -0.9\n", "the distance is not positive", "2:5"},
        wrong_text{"no_length", "O\nH 1 0\n", "the distance is not positive", "2:5"},
        wrong_text{"negative_variable", "O\nH 1 -r\n\nr 0.9\n", "the distance is not positive", "2:5"},
        wrong_text{"too_far", "O\nH 1 1.7e308\n", "the distance is too large", "2:5"},
        wrong_text{"zero_angle", "O\nH 1 0.9\nH 1 0.9 2 0\n", "the angle is 0 degrees", "3:11"},
        wrong_text{"wide_angle", "O\nH 1 0.9\nH 1 0.9 2 181\n", "the angle is 181 degrees", "3:11", "dihedral"},
        wrong_text{"line", "H\nC 1 1\nC 2 1.2 1 180\nH 3 1 2 120 1 0\n", "lie on a line", "4:15", "dummy"},
        wrong_text{"no_variable", "O\nH 1 roh\n\nrho 1\n", "no variable has the name 'roh'", "2:5", "'rho'"},
        wrong_text{"no_variables", "O\nH 1 r\n", "no variable has the name 'r'", "2:5", "behind a blank line"},
        wrong_text{"nan", "O\nH 1 nan\n", "no variable has the name 'nan'", "2:5"},
        wrong_text{"unused", "O\nH 1 r\n\nr 1\ns 1\n", "uses the variable 's'", "5:1"},
        wrong_text{"twice", "O\nH 1 r\n\nr 1\nR 1\n", "the variable 'r' is given twice", "5:1"},
        wrong_text{"no_value", "O\nH 1 r\n\nr =\n", "the value of 'r' is missing", "4:2"},
        wrong_text{"not_finite", "O\nH 1 r\n\nr inf\n", "'inf', which is not finite", "4:3"},
        wrong_text{"of_variable", "O\nH 1 r\n\nr s\n", "the value of 'r' is 's', which is not a number", "4:3"},
        wrong_text{"scan", "O\nH 1 r\n\nr 1 S 10 0.1\n", "'S' is more", "4:5", "such as 'r 0.96'"},
        wrong_text{"atom_behind", "O\n\nH 1 0.9\n", "'0.9' is more", "3:5", "behind a blank line are variables"},
        wrong_text{"title", "O\nH 1 r\nVariables: r 1\n", "'r' is more", "3:12"},
        wrong_text{"no_name", "O\nH 1 r\n\n1 1\n", "'1' is no name of a variable", "4:1"}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace tessera::chemistry
