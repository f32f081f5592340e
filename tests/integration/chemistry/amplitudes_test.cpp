// The largest amplitudes of coupled cluster, against those of PySCF 2.14.
#include "languages/sial/chemistry/amplitudes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "integration/runtime/machines.hpp"
#include "languages/sial/chemistry/correlation.hpp"
#include "libraries/chemistry/basis/basis.hpp"
#include "support/slow_down.hpp"

namespace tessera {
namespace {

chemistry::molecule imidogen() {  // 1.04 angstrom
  return {.atoms = {{7, {0, 0, 0}}, {1, {0, 0, 1.04 / chemistry::angstrom_per_bohr}}}, .multiplicity = 3};
}
chemistry::molecule bent_water() {
  return {
      .atoms = {{8, {0, 0, -0.1211314446}}, {1, {0, 1.429936714, 0.986043855}}, {1, {0, -1.429936714, 0.986043855}}}};
}

sial::correlation_result correlated(const chemistry::molecule& of, chemistry::reference kind,
                                    const sial::correlation_settings& how) {
  const auto over = chemistry::make_integrals(chemistry::basis_for(of, "6-31g**"), of);
  chemistry::scf_settings field;
  field.kind = kind;
  const chemistry::scf_result scf = chemistry::run_scf(of, *over, field);
  runtime rt(testing::host_only(1));
  return sial::correlation_job(rt, *over, scf, how, {}).run();
}

std::string words_of(const std::vector<sial::orbital_label>& orbitals) {
  std::string text;
  for (const sial::orbital_label& one : orbitals) text += (text.empty() ? "" : " ") + sial::to_text(one);
  return text;
}

struct known_amplitude {
  double magnitude;
  std::string orbitals;
};
void expect_first(const std::vector<sial::amplitude>& found, const std::vector<known_amplitude>& known) {
  ASSERT_EQ(found.size(), 10u);
  for (std::size_t k = 0; k < known.size(); ++k) {
    EXPECT_NEAR(std::abs(found[k].value), known[k].magnitude, 1e-6);
    EXPECT_EQ(words_of(found[k].from) + " -> " + words_of(found[k].to), known[k].orbitals);
  }
  for (std::size_t k = 1; k < found.size(); ++k)
    EXPECT_GE(std::abs(found[k - 1].value), std::abs(found[k].value)) << "they descend";
}

class amplitudes_of_water : public ::testing::TestWithParam<std::size_t> {};

TEST_P(amplitudes_of_water, are_known_whatever_the_segments) {
  if (testing::watches_threads && GetParam() < 100) GTEST_SKIP() << "many iterations of what other tests begin";
  sial::correlation_settings how;
  how.method = sial::correlation_method::ccsd;
  how.orbitals.frozen_core = 1;
  how.orbitals.occupied_segment = how.orbitals.virtual_segment = GetParam();
  const sial::correlation_result found = correlated(bent_water(), chemistry::reference::rhf, how);
  expect_first(found.largest_singles, {{0.0104349, "4 -> 6"}, {0.0064876, "5 -> 11"}, {0.0062580, "3 -> 7"}});
  expect_first(found.largest_doubles, {{0.0518956, "5 5 -> 11 11"},
                                       {0.0374461, "3 3 -> 7 7"},
                                       {0.0293137, "4 4 -> 10 10"},
                                       {0.0286215, "3 3 -> 8 8"},
                                       {0.0248797, "4 5 -> 10 11"},
                                       {0.0247891, "3 5 -> 12 11"}});
}

INSTANTIATE_TEST_SUITE_P(of, amplitudes_of_water, ::testing::Values(3, 100), ::testing::PrintToStringParamName());

TEST(amplitudes, of_open_shells_say_the_spin) {
  sial::correlation_settings how;
  how.method = sial::correlation_method::ccsd;
  const sial::correlation_result found = correlated(imidogen(), chemistry::reference::uhf, how);
  expect_first(found.largest_singles, {{0.0135083, "2b -> 6b"}, {0.0095118, "3b -> 6b"}, {0.0087898, "2b -> 11b"}});
  expect_first(found.largest_doubles, {{0.0437487, "3a 3b -> 6a 6b"}, {0.0401171, "3a 3b -> 9a 7b"}});
  // Orbitals 4a and 5a have one energy, as do 7a and 8a: of what has them, only this does not depend on their choice.
  const auto all = std::ranges::find_if(found.largest_doubles, [](const sial::amplitude& a) {
    return words_of(a.from) + " -> " + words_of(a.to) == "4a 5a -> 7a 8a";
  });
  ASSERT_NE(all, found.largest_doubles.end());
  EXPECT_NEAR(std::abs(all->value), 0.0341319, 1e-6);
}

}  // namespace
}  // namespace tessera
