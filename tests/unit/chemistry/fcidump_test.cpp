// FCIDUMP files: forms that others write, and what is refused where.
#include "libraries/chemistry/exchange/fcidump.hpp"

#include "tests/unit/chemistry/expect_error.hpp"

namespace tessera::chemistry {
namespace {

TEST(fcidump, is_read_as_it_was_written) {
  hamiltonian h;
  h.orbitals = 3;
  h.electrons = 3;
  h.unpaired = 1;
  h.core_energy = -1.25;
  for (int k = 0; k < 6; ++k) h.one.push_back(k == 2 ? 0 : 0.1 * k - 1);
  for (int k = 0; k < 21; ++k) h.two.push_back(k == 7 ? 0 : 1.0 / (k + 3));
  const hamiltonian read = parse_fcidump(fcidump_text(h), "h");
  EXPECT_EQ(read.orbitals, 3u);
  EXPECT_EQ(read.electrons, 3);
  EXPECT_EQ(read.unpaired, 1);
  EXPECT_EQ(read.core_energy, -1.25);
  EXPECT_EQ(read.one, h.one);
  EXPECT_EQ(read.two, h.two);
}

TEST(fcidump, each_spin_has_its_blocks) {
  hamiltonian h;
  h.orbitals = 2;
  h.electrons = 1;
  h.unpaired = 1;
  h.core_energy = 0.5;
  h.one = {-1, 0.1, -2};
  h.one_beta = {-1.5, 0, -2.5};
  h.two = {0.5, 0.1, 0.2, 0.3, 0, 0.6};
  h.two_beta = {0.7, 0.11, 0.21, 0.31, 0.41, 0.61};
  for (int k = 0; k < 9; ++k) h.mixed.push_back(k == 5 ? 0 : 0.01 * k + 1);
  const std::string text = fcidump_text(h);
  EXPECT_THAT(text, testing::HasSubstr("IUHF=1"));
  const hamiltonian read = parse_fcidump(text, "h");
  EXPECT_EQ(read.core_energy, 0.5);
  EXPECT_EQ(read.one, h.one);
  EXPECT_EQ(read.one_beta, h.one_beta);
  EXPECT_EQ(read.two, h.two);
  EXPECT_EQ(read.two_beta, h.two_beta);
  EXPECT_EQ(read.mixed, h.mixed);
  EXPECT_EQ(read.mixed_repulsion(1, 0, 1, 1), h.mixed[5]);
  // The core may end the last block.
  const std::string short_form =
      "&FCI NORB=1,NELEC=1,MS2=1,UHF=.TRUE. /\n1 1 1 1 1\n0 0 0 0 0\n2 1 1 1 1\n0 0 0 0 0\n3 1 1 1 1\n"
      "0 0 0 0 0\n4 1 1 0 0\n0 0 0 0 0\n5 1 1 0 0\n6 0 0 0 0\n";
  const hamiltonian small = parse_fcidump(short_form, "h");
  EXPECT_EQ(small.mixed, std::vector<double>{3});
  EXPECT_EQ(small.one_beta, std::vector<double>{5});
  EXPECT_EQ(small.core_energy, 6);
}

TEST(fcidump, needs_no_more_memory_than_there_is) {
  EXPECT_NO_THROW(require_memory_for(1000, "they"));
  try {
    require_memory_for(1e15, "the integrals");
    ADD_FAILURE() << "there are machines with 8 PB";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::memory);
    EXPECT_THAT(e.message(), testing::HasSubstr("the integrals take 7.11 PiB"));
  }
}

TEST(fcidump, headers_have_many_forms) {
  const char* const integrals = "0.5 2 1 2 1\n 1.D0 1 2 0 0\n -3 1 0 0 0\n2.5 0 0 0 0\n";
  for (const char* header :
       {"&FCI NORB=2,NELEC=2,MS2=0,\n ORBSYM=1,1,\n ISYM=1,\n&END\n", "&fci norb= 2, nelec =2\n orbsym=1 1\n /\n",
        " &FCI NORB=2 NELEC=2 IUHF=0 UHF=.FALSE. /\n"}) {
    const hamiltonian read = parse_fcidump(std::string(header) + integrals, "h");
    EXPECT_EQ(read.orbitals, 2u) << header;
    EXPECT_EQ(read.electrons, 2) << header;
    EXPECT_EQ(read.h(0, 1), 1.0);
    EXPECT_EQ(read.h(1, 0), 1.0);
    EXPECT_EQ(read.h(0, 0), 0.0);
    EXPECT_EQ(read.repulsion(0, 1, 1, 0), 0.5);
    EXPECT_EQ(read.core_energy, 2.5);
  }
}

class wrong_fcidumps : public ::testing::TestWithParam<wrong_text> {};

TEST_P(wrong_fcidumps, are_refused_with_their_place) {
  const wrong_text& c = GetParam();
  expect_refused([&] { (void)parse_fcidump(c.text, "h"); }, c.message, c.where, c.hint);
}

const std::string two = "&FCI NORB=2,NELEC=2 &END\n", spins = "&FCI NORB=2,NELEC=2,IUHF=1 &END\n";

INSTANTIATE_TEST_SUITE_P(
    of, wrong_fcidumps,
    ::testing::Values(
        wrong_text{"empty", "", "the file is empty", "h:1:1"},
        wrong_text{"no_header", "1.0 1 1 0 0\n", "the header is missing", "h:1:1"},
        wrong_text{"no_end", "&FCI NORB=2\n", "the header has no end", "h:1:6"},
        wrong_text{"no_electrons", "&FCI NORB=2 /\n", "no NORB or no NELEC", "h:1:13"},
        wrong_text{"key", "&FCI NORB=2,NELEC=2,NOCC=1 /\n", "no key 'nocc'", "h:1:21"},
        wrong_text{"twice", "&FCI NORB=2,NORB=2 /\n", "'norb' is there twice", "h:1:13"},
        wrong_text{"spins", "&FCI NORB=2,NELEC=2,IUHF=2 /\n", "iuhf is '2'", "h:1:21"},
        wrong_text{"block", spins + "1.0 1 1 0 0\n", "does not belong to block 1", "h:2:12", "of alpha with beta"},
        wrong_text{"late_block", spins + "0 0 0 0 0\n0 0 0 0 0\n0 0 0 0 0\n1 1 1 1 1\n", "does not belong to block 4",
                   "h:5:10"},
        wrong_text{"block_end", spins + "0.1 0 0 0 0\n", "block 1 ends with 0.1", "h:2:12"},
        wrong_text{"few_blocks", spins + "1 1 1 1 1\n0 0 0 0 0\n", "the file ends in block 2 of five", "h:3:10"},
        wrong_text{"number", "&FCI NORB=x,NELEC=2 /\n", "'x'", "h:1:6"},
        wrong_text{"many", "&FCI NORB=501,NELEC=2 /\n", "501 orbitals are too many", "h:1:6"},
        wrong_text{"negative", "&FCI NORB=2,NELEC=-2 /\n", "'-2'", "h:1:13"},
        wrong_text{"electrons", "&FCI NORB=2,NELEC=5,MS2=1 /\n", "5 electrons, 1 unpaired", "h:1:27"},
        wrong_text{"odd", "&FCI NORB=2,NELEC=2,MS2=1 /\n", "2 electrons, 1 unpaired", "h:1:27"},
        wrong_text{"no_integrals", two, "there are no integrals", "h:1:21"},
        wrong_text{"no_electron", "&FCI NORB=2,NELEC=0 /\n", "'0'", "h:1:13"},
        wrong_text{"ordinal", two + "1.0 1 1 3 1\n", "'3'", "h:2:9"},
        wrong_text{"short_line", two + "1.0 1 1 0\n", "is missing", "h:2:10"},
        wrong_text{"long_line", two + "1.0 1 1 0 0 0\n", "more than this line", "h:2:13"},
        wrong_text{"zeros", two + "1.0 1 0 1 0\n", "no integral has such ordinals", "h:2:12"},
        wrong_text{"two_cores", two + "0.7 0 0 0 0\n0.1 0 0 0 0\n", "there twice, with 0.7 and 0.1", "h:3:12"},
        wrong_text{"contradiction", two + "1.0 1 2 0 0\n2.0 2 1 0 0\n", "there twice, with 1 and 2", "h:3:12"},
        wrong_text{"complex", two + "(1.0,0.0) 1 1 0 0\n", "not a number", "h:2:1"}),
    [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace tessera::chemistry
