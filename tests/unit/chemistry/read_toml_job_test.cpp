// Calculations as TOML: every key, and where each mistake is found.
#include "libraries/chemistry/job/read_toml_job.hpp"

#include "tests/unit/chemistry/expect_error.hpp"

namespace tessera::chemistry {
namespace {

constexpr const char* molecule_lines = "[molecule]\nunit = \"bohr\"\natoms = \"\"\"\nHe 0 0 0\nhe 0 0 3.5\n\"\"\"\n";

TEST(read_toml_job, has_every_key) {
  const job read = parse_toml_job(
      std::string("method = \"CCSD(T)\"\nbasis = \"cc-pVDZ\"\nreference = \"UHF\"\nguess = \"core\"\ncharge = -1\n"
                  "multiplicity = 2\nspherical = false\nfrozen_orbitals = 3\nfrozen_virtual = 2\nmemory = \"2GiB\"\n"
                  "segments = [8, 4, 16]\nworkers = 2\ndeterministic = true\nconvergence = 1e-8\n"
                  "scf_iterations = 7\ncc_iterations = 9\nlevel_shift = 1\ndamping = 0.5\n") +
          molecule_lines,
      "a.toml");
  EXPECT_EQ(read.method, "ccsd(t)");
  EXPECT_EQ(read.basis, "cc-pVDZ");
  EXPECT_EQ(read.reference, "uhf");
  EXPECT_EQ(read.guess, "core");
  EXPECT_EQ(read.charge, -1);
  EXPECT_EQ(read.multiplicity, 2);
  EXPECT_EQ(read.spherical, false);
  EXPECT_EQ(read.frozen_core, std::nullopt);
  EXPECT_EQ(read.frozen_orbitals, 3);
  EXPECT_EQ(read.frozen_virtual, 2);
  EXPECT_EQ(read.memory, "2GiB");
  EXPECT_EQ(read.segments, (std::vector<int>{8, 4, 16}));
  EXPECT_EQ(read.workers, 2);
  EXPECT_EQ(read.deterministic, true);
  EXPECT_EQ(read.convergence, 1e-8);
  EXPECT_EQ(read.scf_iterations, 7);
  EXPECT_EQ(read.cc_iterations, 9);
  EXPECT_EQ(read.level_shift, 1.0);
  EXPECT_EQ(read.damping, 0.5);
  ASSERT_EQ(read.geometry.atoms.size(), 2u);
  EXPECT_EQ(read.geometry.atoms[1].at[2], 3.5);
  EXPECT_EQ(molecule_of(read).multiplicity, 2);
}

TEST(read_toml_job, molecules_are_in_files_or_beside_the_keys) {
  const std::string folder = std::string(TESSERA_SOURCE_DIR) + "/apps/chem/data/";
  EXPECT_EQ(parse_toml_job("molecule = \"water.xyz\"", folder + "x.toml").geometry.atoms.size(), 3u);
  const job read = read_toml_job(folder + "water.toml");
  EXPECT_EQ(read.geometry.atoms.size(), 3u);
  EXPECT_EQ(read.frozen_core, true);
  const double one = parse_toml_job("[molecule]\natoms = \"H 1 0 0\"", "a").geometry.atoms[0].at[0];
  EXPECT_EQ(one, 1 / angstrom_per_bohr) << "in angstrom where nothing else is said";
  EXPECT_EQ(parse_toml_job("[molecule]\nz_matrix = \"\"\"\nH\nH 1 0.74\n\"\"\"", "a").geometry.atoms.size(), 2u);
}

TEST(read_toml_job, files_are_beside_it) {
  const std::string folder = std::string(TESSERA_SOURCE_DIR) + "/apps/chem/data/";
  const job read = parse_toml_job("basis = \"mine.gbs\"\nmolecule = \"water.xyz\"", folder + "x.toml");
  EXPECT_EQ(read.basis, folder + "mine.gbs");
  EXPECT_THAT(read.reads, testing::UnorderedElementsAre(folder + "water.xyz", folder + "mine.gbs"));
  EXPECT_EQ(parse_toml_job("basis = \"sto-3g\"\nmolecule = \"water.xyz\"", folder + "x.toml").basis, "sto-3g");
}

class wrong_toml_jobs : public ::testing::TestWithParam<wrong_text> {};

TEST_P(wrong_toml_jobs, are_refused_with_their_place) {
  const wrong_text& c = GetParam();
  expect_refused([&] { (void)parse_toml_job(c.text, "a.toml"); }, c.message, c.where, c.hint);
}

INSTANTIATE_TEST_SUITE_P(
    of, wrong_toml_jobs,
    ::testing::Values(
        wrong_text{"syntax", "basis = \n", "", "a.toml:1:9"},
        wrong_text{"unknown_key", "x = 1", "there is no key 'x'", "a.toml:1:1", "there are molecule"},
        wrong_text{"near_key", "\nbassis = \"a\"", "there is no key 'bassis'", "a.toml:2:1", "did you mean 'basis'?"},
        wrong_text{"molecule_misspelt", "molecul = \"a\"", "there is no key", "a.toml:1:1", "did you mean 'molecule'?"},
        wrong_text{"type", "charge = \"1\"", "charge is not a whole number", "a.toml:1:1"},
        wrong_text{"real_charge", "charge = 1.0", "charge is not a whole number", "a.toml:1:1"},
        wrong_text{"range", "damping = 1.5", "damping is 1.5, and not between 0 and 0.99", "a.toml:1:1"},
        wrong_text{"not_a_number", "level_shift = nan", "level_shift is nan", "a.toml:1:1"},
        wrong_text{"method", "method = \"cisd\"", "there is no method 'cisd'", "a.toml:1:1", "mp2"},
        wrong_text{"reference", "reference = \"rfh\"", "reference is 'rfh'", "a.toml:1:1", "did you mean 'rhf'?"},
        wrong_text{"memory", "memory = \"much\"", "'much' is no size", "a.toml:1:1"},
        wrong_text{"two_segments", "segments = [1, 2]", "segments has 2 numbers", "a.toml:1:1"},
        wrong_text{"segment_of_none", "segments = [1, 2, 0]", "segments is 0", "a.toml:1:1"},
        wrong_text{"both_cores", "frozen_core = true\nfrozen_orbitals = 1", "both given", "a.toml:2:1"},
        wrong_text{"no_molecule", "basis = \"sto-3g\"", "there is no molecule", "a.toml"},
        wrong_text{"no_atoms", "[molecule]\nunit = \"bohr\"", "the molecule has no atoms", "a.toml:1:2"},
        wrong_text{"two_molecules", "[molecule]\natoms = \"H 0 0 0\"\nfile = \"a.xyz\"", "more than once",
                   "a.toml:1:2"},
        wrong_text{"unit", "[molecule]\natoms = \"H 0 0 0\"\nunit = \"nm\"", "no unit of length", "a.toml:3:1"},
        wrong_text{"key_of_molecule", "[molecule]\natom = \"H 0 0 0\"", "no key 'atom' of a molecule", "a.toml:2:1",
                   "did you mean 'atoms'?"},
        wrong_text{"atom", "[molecule]\natoms = \"\"\"\nH 0 0 0\nHx 0 0 1\n\"\"\"", "Hx", "a.toml:2:1: atoms:2:1"},
        wrong_text{"file_of_a_job", "molecule = \"b.toml\"", "cannot end in '.toml'", "a.toml:1:1"}),
    [](const auto& c) { return c.param.name; });

TEST(read_toml_job, a_file_that_is_not_there_is_named) {
  expect_refused([] { (void)parse_toml_job("molecule = \"none.xyz\"", "/nowhere/a.toml"); }, "cannot be read",
                 "/nowhere/none.xyz");
}

}  // namespace
}  // namespace tessera::chemistry
