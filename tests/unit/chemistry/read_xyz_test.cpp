// XYZ files: what they may say, and where each mistake in one is found.
#include "libraries/chemistry/molecule/read_xyz.hpp"

#include <unistd.h>

#include <clocale>
#include <filesystem>
#include <fstream>
#include <locale>

#include "tests/unit/chemistry/expect_error.hpp"

namespace tessera::chemistry {
namespace {

TEST(read_xyz, coordinates_are_in_angstrom) {
  const molecule m =
      parse_xyz("3\nwater, charge 7, multiplicity 3\nO 0 0 0.5\nH 0.529177210903 0 -1e-1\nh 1 +2 3\n", "w");
  ASSERT_EQ(m.atoms.size(), 3u);
  EXPECT_EQ(m.atoms[0].number, 8);
  EXPECT_EQ(m.atoms[2].number, 1);
  EXPECT_DOUBLE_EQ(m.atoms[0].at[2], 0.5 / 0.529177210903);
  EXPECT_DOUBLE_EQ(m.atoms[1].at[0], 1.0);
  EXPECT_DOUBLE_EQ(m.atoms[2].at[1], 2 / 0.529177210903);
  EXPECT_EQ(m.charge, 0);
  EXPECT_EQ(m.multiplicity, 1);
  EXPECT_EQ(m.name, "w");
}

TEST(read_xyz, the_comment_or_the_caller_says_bohr) {
  const auto x_of = [](const char* comment, std::optional<length_unit> unit = std::nullopt) {
    return parse_xyz(std::string("1\n") + comment + "\nHe 1 0 0\n", "he", unit).atoms[0].at[0];
  };
  const double angstrom = 1 / angstrom_per_bohr;
  EXPECT_EQ(x_of("in bohr"), 1);
  EXPECT_EQ(x_of("units=Bohr;"), 1);
  EXPECT_EQ(x_of(""), angstrom);
  EXPECT_EQ(x_of("Niels Bohring"), angstrom);
  EXPECT_EQ(x_of("in \xc3\xa5ngstr\xc3\xb6m"), angstrom);
  EXPECT_EQ(x_of("in bohr", length_unit::angstrom), angstrom);
  EXPECT_EQ(x_of("in angstrom", length_unit::bohr), 1);
  EXPECT_EQ(x_of("from bohr to angstrom", length_unit::bohr), 1);
}

TEST(read_xyz, takes_what_other_systems_write) {
  const molecule m = parse_xyz("\xef\xbb\xbf 2 \r\n\r\n8\t0 0 0\r\n  H  .9  -0.D0 1.5d-1  \r\n\r\n  \r\n", "m");
  ASSERT_EQ(m.atoms.size(), 2u);
  EXPECT_EQ(m.atoms[0].number, 8);
  EXPECT_DOUBLE_EQ(m.atoms[1].at[2], 0.15 / angstrom_per_bohr);
}

class decimal_comma : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
};

TEST(read_xyz, does_not_mind_the_locale) {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  const std::locale streams = std::locale::global(std::locale(std::locale::classic(), new decimal_comma));
  (void)std::setlocale(LC_NUMERIC, "de_DE.UTF-8");  // where it is installed
  const molecule m = parse_xyz("1\nbohr\nHe 1.25 0 0\n", "m");
  (void)std::locale::global(streams);
  (void)std::setlocale(LC_NUMERIC, before.c_str());
  EXPECT_EQ(m.atoms[0].at[0], 1.25);
}

TEST(read_xyz, reads_files) {
  const auto file = std::filesystem::temp_directory_path() / ("tessera_he_" + std::to_string(::getpid()) + ".xyz");
  std::ofstream(file) << "1\nbohr\nHe 1 2 x\n";
  expect_refused([&] { (void)read_xyz(file); }, "the z coordinate is 'x'", file.string() + ":3:8");
  std::ofstream(file) << "1\nbohr\nHe 1 2 3\n";
  EXPECT_EQ(read_xyz(file).atoms[0].at[2], 3);
  std::filesystem::remove(file);
  expect_refused([&] { (void)read_xyz(file); }, "cannot be read", file.string());
  expect_refused([] { (void)read_xyz("/"); }, "cannot be read", "/");
}

class xyz_mistake : public testing::TestWithParam<wrong_text> {};

TEST_P(xyz_mistake, is_found_at_its_place) {
  const auto& one = GetParam();
  expect_refused([&] { (void)parse_xyz(one.text, "m.xyz"); }, one.message, std::string("m.xyz:") + one.where, one.hint);
}

INSTANTIATE_TEST_SUITE_P(
    files, xyz_mistake,
    testing::Values(
        wrong_text{"empty", "", "the file is empty", "1:1", "an XYZ file"},
        wrong_text{"blank", " \r\n\n", "the file is empty", "2:1"},
        wrong_text{"no_count", "O 0 0 0\n", "the number of atoms is 'O', which is not a whole number", "1:1"},
        wrong_text{"fraction", "2.5\n", "'2.5', which is not a whole number", "1:1"},
        wrong_text{"negative", "-1\n\n", "'-1', which is not between 1", "1:1"},
        wrong_text{"none", "0\n\n", "'0', which is not between 1", "1:1"},
        wrong_text{"huge", "99999999999999999999\n\n", "not between", "1:1"},
        wrong_text{"more_in_count", "1 2\n\nH 0 0 0\n", "'2' is more", "1:3", "an XYZ file"},
        wrong_text{"no_comment", "1", "the comment line is missing", "1:2"},
        wrong_text{"two_units", "1\nbohr, not angstrom\nH 0 0 0\n", "both bohr and angstrom", "2:1"},
        wrong_text{"too_few", "3\n\nH 0 0 0\nH 0 0 1\n", "ends after 2 of 3 atoms", "4:8"},
        wrong_text{"absurd_count", "2000000000\n\nH 0 0 0\n", "ends after 1 of 2000000000", "3:8"},
        wrong_text{"too_many", "1\n\nH 0 0 0\nH 0 0 1\n", "more behind the 1 atoms", "4:1", "one molecule"},
        wrong_text{"two_frames", "1\n\nH 0 0 0\n1\n\nH 0 0 0\n", "more behind the 1 atoms", "4:1", "one molecule"},
        wrong_text{"unknown", "1\n\n  Hx 0 0 0\n", "'Hx'", "3:3", "did you mean 'H'?"},
        wrong_text{"label", "1\n\nC1 0 0 0\n", "'C1'", "3:1", "'C'"},
        wrong_text{"number", "1\n\n119 0 0 0\n", "the number '119'", "3:1", "1 to 118"},
        wrong_text{"number_zero", "1\n\n0 0 0 0\n", "the number '0'", "3:1"},
        wrong_text{"long_number", "1\n\n99999999999999 0 0 0\n", "the number '99999999999999'", "3:1"},
        wrong_text{"no_z", "1\n\nH 0 0\n", "the z coordinate is missing", "3:6"},
        wrong_text{"charge", "1\n\nH 0 0 0 0.5\n", "'0.5' is more", "3:9"},
        wrong_text{"word", "1\n\nH 0 zero 0\n", "the y coordinate is 'zero'", "3:5"},
        wrong_text{"comma", "1\n\nH 0,5 0 0\n", "'0,5', which is not a number", "3:3"},
        wrong_text{"tail", "1\n\nH 0 0 0x\n", "'0x', which is not a number", "3:7"},
        wrong_text{"hexadecimal", "1\n\nH 0x1p3 0 0\n", "not a number", "3:3"},
        wrong_text{"nan", "1\n\nH nan 0 0\n", "'nan', which is not finite", "3:3"},
        wrong_text{"inf", "1\n\nH 0 -inf 0\n", "'-inf', which is not finite", "3:5"},
        wrong_text{"too_large", "1\n\nH 0 0 1e999\n", "too large", "3:7"},
        wrong_text{"too_large_in_bohr", "1\n\nH 1.7e308 0 0\n", "the x coordinate is too large", "3:3"},
        wrong_text{"two_signs", "1\n\nH +-1 0 0\n", "'+-1', which is not a number", "3:3"},
        wrong_text{"bytes", std::string("1\n\n\0\x01\x7f 0 0 0\n", 12), R"('???')", "3:1"},
        wrong_text{"long_word", "1\n\nH " + std::string(100, '7') + "z 0 0\n", "7...', which is not a number", "3:3"}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace tessera::chemistry
