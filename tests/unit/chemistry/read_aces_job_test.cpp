// ZMAT files: keys in every form that users have, and where mistakes are.
#include "libraries/chemistry/job/read_aces_job.hpp"

#include <filesystem>
#include <fstream>

#include "tests/unit/chemistry/expect_error.hpp"

namespace tessera::chemistry {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Two atoms, and sections from line 5 on.
std::string zmat(const std::string& sections) { return "title\nH 0 0 0\nH 0 0 0.74\n\n" + sections; }
job parsed(const std::string& sections) { return parse_aces_job(zmat(sections), "ZMAT"); }

TEST(read_aces_job, keys_are_between_brackets_over_lines) {
  const job read = parsed(
      "*ACES2(CALC=CCSD,BASIS=CC-PVDZ,\n#REF=UHF,MULT=2,CHARGE=-1\nCC_MAXCYC=3\nSYM=NONE,GUESS=CORE,"
      "DAMP_TYPE=DAVIDSON)\n\n*SIP\nMAXMEM=2500\nSIAL_PROGRAM=scf_rhf.siox\nSIAL_PROGRAM=tran_uhf_no4v.siox\n"
      "SIAL_PROGRAM=rccsd_rhf.siox\n");
  EXPECT_EQ(read.method, "ccsd");
  EXPECT_EQ(read.basis, "CC-PVDZ");
  EXPECT_EQ(read.reference, "rhf") << "of the program for the field; the line of REF is a comment";
  EXPECT_EQ(read.cc_iterations, 3);
  EXPECT_EQ(read.guess, "core");
  EXPECT_EQ(read.memory, "2500MiB");
  EXPECT_EQ(read.multiplicity, std::nullopt);
  EXPECT_THAT(read.notes, ElementsAre("DAMP_TYPE=DAVIDSON is not used: it has no counterpart"));
  ASSERT_EQ(read.geometry.atoms.size(), 2u);
  EXPECT_DOUBLE_EQ(read.geometry.atoms[1].at[2], 0.74 / angstrom_per_bohr);
}

TEST(read_aces_job, keys_are_on_lines_without_brackets) {
  const job read = parsed(
      "*ACES2\nBASIS=AUG-CC-PVDZ\n#GUESS=ATOMIC\nCALC=CCSD(T)\nREF=UHF\nMULT=3\nCHARGE=-2\nSPHERICAL=OFF\n"
      "DROPMO=1-2/3\nCC_CONV=8\nSCF_MAXCYC=77\n");
  EXPECT_EQ(read.method, "ccsd(t)");
  EXPECT_EQ(read.reference, "uhf");
  EXPECT_EQ(read.multiplicity, 3);
  EXPECT_EQ(read.charge, -2);
  EXPECT_EQ(read.spherical, false);
  EXPECT_EQ(read.frozen_orbitals, 3);
  EXPECT_DOUBLE_EQ(*read.convergence, 1e-10);
  EXPECT_EQ(read.scf_iterations, 77);
  EXPECT_EQ(read.guess, std::nullopt);
  EXPECT_EQ(parsed("*ACES2(BASIS=6-31G(d,p) MULT=1)").basis, "6-31G(d,p)");
  EXPECT_EQ(parsed("*aces2(basis=6-31G**)\r\n").basis, "6-31G**");
}

TEST(read_aces_job, programs_say_the_method) {
  const auto read = [](const std::string& calc, const std::string& programs) {
    return parsed("*ACES2(BASIS=STO-3G" + calc + ")\n*SIP\n" + programs);
  };
  const job triples = read(",CALC=CCSD", "SIAL_PROGRAM=scf_uhf\nSIAL_PROGRAM=rccsdpt_aab.siox\n");
  EXPECT_EQ(triples.method, "ccsd(t)");
  EXPECT_EQ(triples.reference, "uhf");
  EXPECT_THAT(triples.notes, ElementsAre(HasSubstr("CALC=CCSD is not used")));
  EXPECT_EQ(read("", "SIAL_PROGRAM=scf_rhf_coreh.siox").guess, "core");
  EXPECT_EQ(read(",CALC=CCSD", "MAXMEM=1").method, "ccsd") << "no program is named";
  EXPECT_EQ(read("", "MAXMEM=1").method, "scf") << "as there";
  EXPECT_THAT(read("", "SIAL_PROGRAM=rlambda_rhf.siox").notes, ElementsAre(HasSubstr("rlambda_rhf.siox is not run")));
}

TEST(read_aces_job, atoms_may_be_a_z_matrix) {
  const job read = parse_aces_job(
      "water\n# a comment\nO\n# a comment\nH 1 R*\nH 1 R* 2 A*\n\nR = 0.96\nA = "
      "104.5\n\n*ACES2(CALC=SCF,BASIS=STO-3G,COORD=INTERNAL)\n",
      "ZMAT");
  EXPECT_EQ(read.geometry.atoms.size(), 3u);
  EXPECT_EQ(parsed("*ACES2(BASIS=STO-3G,UNITS=BOHR)").geometry.atoms[1].at[2], 0.74);
}

TEST(read_aces_job, files_are_known_by_their_text) {
  const std::filesystem::path folder = std::filesystem::path(TESSERA_SOURCE_DIR) / "apps/chem/data";
  const job read = read_job(folder / "ZMAT_water");
  EXPECT_EQ(read.method, "ccsd(t)");
  EXPECT_EQ(read.frozen_orbitals, 1);
  EXPECT_DOUBLE_EQ(*read.convergence, 1e-9);
  EXPECT_EQ(read.geometry.atoms.size(), 3u);
  EXPECT_TRUE(is_aces_job("a\n*aces2(CALC=SCF)"));
  EXPECT_FALSE(is_aces_job("H\nH 1 0.74\n"));
}

class wrong_zmats : public ::testing::TestWithParam<wrong_text> {};

TEST_P(wrong_zmats, are_refused_with_their_place) {
  const wrong_text& c = GetParam();
  expect_refused([&] { (void)parse_aces_job(c.text, "ZMAT"); }, c.message, c.where, c.hint);
}

INSTANTIATE_TEST_SUITE_P(
    of, wrong_zmats,
    ::testing::Values(
        wrong_text{"empty", "", "the file is empty", "ZMAT:1:1"},
        wrong_text{"no_title", "H 0 0 0\nH 0 0 1\n\n*ACES2(BASIS=A)", "the title is missing", "ZMAT:1:1"},
        wrong_text{"no_section", "t\nH 0 0 0\n", "the section *ACES2 is missing", "ZMAT:2:1"},
        wrong_text{"no_atoms", "t\n\n*ACES2(BASIS=A)", "there are no atoms", "ZMAT:1:1"},
        wrong_text{"atom", "t\nH 0 0 0\nQ 0 0 1\n\n*ACES2(BASIS=A)", "'Q'", "ZMAT:3:1"},
        wrong_text{"section", zmat("*ACES2(BASIS=A)\n*CFOUR\n"), "the section '*CFOUR' is not known", "ZMAT:6:1"},
        wrong_text{"open_bracket", zmat("*ACES2(BASIS=A\nCALC=SCF\n"), "is not closed", "ZMAT:6:1"},
        wrong_text{"behind", zmat("*ACES2(BASIS=A) CALC=SCF\n"), "'CALC=SCF' is behind the bracket", "ZMAT:5:16"},
        wrong_text{"no_section_of_a_key", zmat("*ACES2\nBASIS=A\n\nCALC=SCF\n"), "is in no section", "ZMAT:8:1"},
        wrong_text{"no_value", zmat("*ACES2(BASIS=A\nCALC)\n"), "'CALC' is no key with a value", "ZMAT:6:1"},
        wrong_text{"unknown", zmat("*ACES2(BASIS=A,\n  CALCC=SCF)\n"), "no key 'CALCC'", "ZMAT:6:3",
                   "did you mean 'calc'?"},
        wrong_text{"gradient", zmat("*ACES2(BASIS=A,DERIV_LEVEL=1)\n"), "no key 'DERIV_LEVEL'", "ZMAT:5:16"},
        wrong_text{"method", zmat("*ACES2(BASIS=A,CALC=CCSDT)\n"), "CALC=CCSDT is not done here", "ZMAT:5:16"},
        wrong_text{"twice", zmat("*ACES2(BASIS=A,REF=RHF,REFERENCE=UHF)\n"), "REF is there twice", "ZMAT:5:24"},
        wrong_text{"no_basis", zmat("*ACES2(CALC=SCF)\n"), "has no BASIS", "ZMAT"},
        wrong_text{"special_basis", zmat("*ACES2(BASIS=SPECIAL)\n"), "BASIS=SPECIAL", "ZMAT:5:8"},
        wrong_text{"drop_a_hole", zmat("*ACES2(BASIS=A,DROPMO=1/3)\n"), "not the lowest orbitals", "ZMAT:5:16"},
        wrong_text{"drop_words", zmat("*ACES2(BASIS=A,DROPMO=1>x)\n"), "'x'", "ZMAT:5:16"},
        wrong_text{"multiplicity", zmat("*ACES2(BASIS=A,MULT=0)\n"), "multiplicity is 0", "ZMAT:5:16"},
        wrong_text{"program", zmat("*ACES2(BASIS=A)\n*SIP\nSIAL_PROGRAM=eom_rhf.siox\n"), "'eom_rhf.siox'", "ZMAT:7:1"},
        wrong_text{"two_references", zmat("*ACES2(BASIS=A,REF=UHF)\n*SIP\nSIAL_PROGRAM=scf_rhf.siox\n"),
                   "say different things", "ZMAT:7:1"},
        wrong_text{"memory", zmat("*ACES2(BASIS=A)\n*SIP\nMAXMEM=-1\n"), "MAXMEM=-1 is no size", "ZMAT:7:1"},
        wrong_text{"key_of_sip", zmat("*ACES2(BASIS=A)\n*SIP\nMAXMEN=1\n"), "no key 'MAXMEN'", "ZMAT:7:1",
                   "did you mean 'maxmem'?"}),
    [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace tessera::chemistry
