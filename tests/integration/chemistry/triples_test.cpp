// (T) that ends in its midst, and goes on with the triples that are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/error.hpp"
#include "integration/runtime/machines.hpp"
#include "languages/sial/chemistry/correlation.hpp"
#include "libraries/chemistry/basis/basis.hpp"

namespace tessera {
namespace {

struct field_of_triples {
  const char* name;
  chemistry::molecule molecule;
  chemistry::reference kind;
  std::size_t triples;  ///< of occupied orbitals
};

class triples_of_a_job : public ::testing::TestWithParam<field_of_triples> {
 protected:
  triples_of_a_job()
      : m_over(chemistry::make_integrals(chemistry::basis_for(GetParam().molecule, "3-21g"), GetParam().molecule)) {
    chemistry::scf_settings how;
    how.kind = GetParam().kind;
    m_scf = chemistry::run_scf(GetParam().molecule, *m_over, how);
  }
  double energy_with(std::optional<sial::triples_keeping> keeping) const {
    sial::correlation_settings how;
    how.orbitals.occupied_segment = 2;
    how.orbitals.virtual_segment = 6;
    how.programs.workers = 2;
    how.programs.deterministic = true;
    how.keeping_triples = std::move(keeping);
    runtime rt(testing::host_only(1));
    return *sial::correlation_job(rt, *m_over, m_scf, how, {}).run().triples;
  }
  const std::unique_ptr<chemistry::integrals> m_over;
  chemistry::scf_result m_scf;
};

std::size_t known(const std::vector<double>& energies) {
  return static_cast<std::size_t>(std::ranges::count_if(energies, [](double e) { return !std::isnan(e); }));
}

TEST_P(triples_of_a_job, are_computed_once) {
  const double whole = energy_with(std::nullopt);
  for (const std::size_t end : {std::size_t{1}, GetParam().triples / 2}) {
    SCOPED_TRACE(end);
    std::vector<double> kept;
    sial::triples_keeping until;  // a job that fails when it has kept so many
    until.is_due = [] { return true; };
    until.keep = [&](const std::vector<double>& energies) {
      kept = energies;
      if (known(energies) >= end) throw error(error_kind::output, "the job is cut off");
    };
    EXPECT_THROW(energy_with(until), error);
    ASSERT_GE(known(kept), end);
    std::size_t more = 0;
    sial::triples_keeping after;
    after.begin = [&](std::size_t count) {
      EXPECT_EQ(count, kept.size());
      return kept;
    };
    after.is_due = [&] { return ++more > 0; };
    after.keep = [](const std::vector<double>&) {};
    EXPECT_EQ(energy_with(after), whole) << "bit for bit";
    EXPECT_LE(more, GetParam().triples - known(kept)) << "what is known is not computed again";
  }
  std::size_t all = 0;
  sial::triples_keeping counting;
  counting.is_due = [&] {
    ++all;
    return false;
  };
  counting.keep = [](const std::vector<double>&) {};
  EXPECT_EQ(energy_with(counting), whole);
  EXPECT_EQ(all, GetParam().triples);
}

INSTANTIATE_TEST_SUITE_P(of, triples_of_a_job,
                         ::testing::Values(field_of_triples{"water",
                                                            {.atoms = {{8, {0, 0, -0.1211314446}},
                                                                       {1, {0, 1.429936714, 0.986043855}},
                                                                       {1, {0, -1.429936714, 0.986043855}}}},
                                                            chemistry::reference::rhf,
                                                            35},
                                           field_of_triples{
                                               "imidogen",
                                               {.atoms = {{7, {0, 0, 0}}, {1, {0, 0, 1.965}}}, .multiplicity = 3},
                                               chemistry::reference::uhf,
                                               56}),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace tessera
