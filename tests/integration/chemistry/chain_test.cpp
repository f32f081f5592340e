// Super instructions of chemistry, called by programs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <tuple>

#include "integration/chemistry/basis_arrays.hpp"
#include "integration/sial/jobs.hpp"
#include "languages/sial/chemistry/basis_of_data.hpp"
#include "languages/sial/chemistry/instructions.hpp"
#include "languages/sial/chemistry/orbitals.hpp"
#include "libraries/chemistry/basis/basis.hpp"
#include "libraries/chemistry/scf/scf.hpp"

namespace tessera {
namespace {

using testing::add_segments;
using testing::data_with_basis;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using testing::run_text;
using testing::sial_outcome;

const std::string programs = std::string(TESSERA_SOURCE_DIR) + "/tests/integration/chemistry/programs/";

chemistry::molecule water() {
  return {.atoms = {{8, {0.0, 0.0, -0.1211314446}},
                    {1, {0.0, 1.429936714, 0.986043855}},
                    {1, {0.0, -1.429936714, 0.986043855}}}};
}

std::unique_ptr<chemistry::integrals> water_in(const std::string& basis) {
  return chemistry::make_integrals(chemistry::basis_for(water(), basis), water());
}

std::vector<chemistry::shell> shells_of(const chemistry::integrals& over) {
  std::vector<chemistry::shell> all;
  for (std::size_t s = 0; s < over.shells(); ++s) all.push_back(over.shell_at(s));
  return all;
}

const std::vector<double>& values_of(const sial_outcome& from, const std::string& label) {
  return std::get<sial::kept_values>(from.items.at(label)).values;
}
double number_of(const sial_outcome& from, const std::string& label) { return std::get<double>(from.items.at(label)); }

sial_outcome run_over(const chemistry::integrals* over, const std::string& text, const sial::init_data& data,
                      unsigned workers = 1) {
  return run_text(text, data, {.workers = workers, .instructions = sial::chemistry_instructions(over, {})});
}

std::string failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const error& e) {
    return e.what();
  }
  return "no error";
}

/// All (ab|cd), the first index fastest.
std::vector<double> all_repulsion(const chemistry::integrals& over) {
  const std::size_t n = over.functions();
  std::vector<double> all(n * n * n * n);
  const chemistry::shell_range every{0, over.shells()};
  chemistry::fill_block(over, chemistry::schwarz_bounds(over), 0.0, *over.engine(0.0), {every, every, every, every},
                        all);
  return all;
}

std::vector<double> random_symmetric(std::size_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  std::vector<double> m(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) m[i * n + j] = m[j * n + i] = any(engine);
  return m;
}

/// F_ab = sum (ab|cd) (one + other)_cd - (ac|bd) one_cd.
std::vector<double> fock_of(const std::vector<double>& v, const std::vector<double>& one,
                            const std::vector<double>& other) {
  const auto n = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(one.size()))));
  std::vector<double> f(n * n, 0.0);
  for (std::size_t d = 0; d < n; ++d)
    for (std::size_t c = 0; c < n; ++c)
      for (std::size_t b = 0; b < n; ++b)
        for (std::size_t a = 0; a < n; ++a) {
          const double value = v[a + n * (b + n * (c + n * d))];
          f[a + n * b] += (one[c + n * d] + other[c + n * d]) * value;
          f[a + n * c] -= one[b + n * d] * value;
        }
  return f;
}

sial::init_data segments_of(const chemistry::integrals& over, std::size_t most) {
  sial::init_data data;
  add_segments(data, sial::basis_segments(over, most), {5}, {static_cast<std::int64_t>(over.functions()) - 5});
  return data;
}

TEST(chemistry_chain, fock_matrices_are_those_of_all_integrals) {
  for (const char* const basis : {"sto-3g", "6-31g**"}) {
    const auto over = water_in(basis);
    const auto n = static_cast<std::int64_t>(over->functions());
    const std::vector<double> v = all_repulsion(*over), da = random_symmetric(over->functions(), 1),
                              db = random_symmetric(over->functions(), 2), fa = fock_of(v, da, db),
                              fb = fock_of(v, db, da);
    const testing::sial_programs program = testing::programs_from_files({programs + "fock.sialx"});
    for (const std::size_t most : {1u, 3u, 6u, 9u, 100u})
      for (const unsigned workers : {1u, 3u}) {
        sial::init_data data = segments_of(*over, most);
        data.float_arrays["da"] = {{n, n}, da};
        data.float_arrays["db"] = {{n, n}, db};
        const sial_outcome found = testing::run_job(
            program, data, {.workers = workers, .instructions = sial::chemistry_instructions(over.get(), {})});
        EXPECT_THAT(values_of(found, "fa"), Pointwise(DoubleNear(1e-11), fa)) << basis << " " << most << " " << workers;
        EXPECT_THAT(values_of(found, "fb"), Pointwise(DoubleNear(1e-11), fb)) << basis << " " << most << " " << workers;
      }
  }
}

/// Whatever segments are equal, an instruction for all images counts none twice.
TEST(chemistry_chain, images_of_equal_segments_are_counted_once) {
  const auto over = water_in("sto-3g");
  const std::vector<double> d = random_symmetric(7, 3), f = fock_of(all_repulsion(*over), d, d);
  for (const std::size_t most : {1u, 3u, 100u}) {
    sial::init_data data = segments_of(*over, most);
    data.float_arrays["d"] = {{7, 7}, d};
    const sial_outcome found = run_over(over.get(), R"(
sial one_for_all
predefined int norb
aoindex mu = 1:norb
aoindex nu = 1:norb
aoindex la = 1:norb
aoindex si = 1:norb
special compute_ubatch1 wrruu
predefined static d[mu,nu]
static fa[mu,nu]
static fb[mu,nu]
temp v[mu,nu,la,si]
do mu
  do nu
  where mu >= nu
    do la
    where la <= mu
      do si
      where si <= la
        if mu > la
          execute compute_ubatch1 v[mu,nu,la,si] d d fa fb
        endif
        if mu == la
          if si <= nu
            execute compute_ubatch1 v[mu,nu,la,si] d d fa fb
          endif
        endif
      enddo si
    enddo la
  enddo nu
enddo mu
set_persistent fa "fa"
set_persistent fb "fb"
endsial one_for_all
)",
                                        data);
    EXPECT_THAT(values_of(found, "fa"), Pointwise(DoubleNear(1e-11), f)) << most;
    EXPECT_THAT(values_of(found, "fb"), Pointwise(DoubleNear(1e-11), f)) << most;
  }
}

constexpr const char* one_electron_program = R"(
sial one_electron
predefined int norb
aoindex mu = 1:norb
aoindex nu = 1:norb
special return_h1 w
special return_ovl w
special compute_dipole_integrals wur
special compute_nn_repulsion u
static h[mu,nu]
static s[mu,nu]
static x[mu,nu]
static y[mu,nu]
static z[mu,nu]
static same[mu,nu]
temp m[mu,nu]
scalar nuclear
scalar nx
scalar ny
scalar nz
scalar only_x
scalar only_y
scalar only_z
execute compute_nn_repulsion nuclear
execute return_ovl s
do mu
  do nu
    execute return_h1 m[mu,nu]
    h[mu,nu] = m[mu,nu]
    execute compute_dipole_integrals m[mu,nu] nx 1
    x[mu,nu] = m[mu,nu]
    execute compute_dipole_integrals m[mu,nu] ny 2
    y[mu,nu] = m[mu,nu]
    execute compute_dipole_integrals m[mu,nu] nz 3.0
    z[mu,nu] = m[mu,nu]
    execute compute_dipole_integrals m[mu,nu] only_x 10
    execute compute_dipole_integrals m[mu,nu] only_y 11
    execute compute_dipole_integrals m[mu,nu] only_z 12
  enddo nu
enddo mu
set_persistent h "h"
set_persistent s "s"
set_persistent x "x"
set_persistent y "y"
set_persistent z "z"
set_persistent nuclear "nuclear"
set_persistent nx "nx"
set_persistent ny "ny"
set_persistent nz "nz"
set_persistent only_x "only_x"
set_persistent only_y "only_y"
set_persistent only_z "only_z"
endsial one_electron
)";

TEST(chemistry_chain, matrices_of_one_electron) {
  chemistry::molecule bent = water();
  for (chemistry::atom& a : bent.atoms) a.at = {a.at[0] + 0.3, a.at[1] - 0.2, a.at[2] + 0.1};
  const auto over = chemistry::make_integrals(chemistry::basis_for(bent, "6-31g**"), bent);
  std::vector<double> core = over->kinetic();
  const std::vector<double> attraction = over->attraction();
  for (std::size_t k = 0; k < core.size(); ++k) core[k] += attraction[k];
  const auto dipole = over->dipole();
  for (const std::size_t most : {1u, 7u, 100u})
    for (const unsigned workers : {1u, 4u}) {
      const sial_outcome found = run_over(over.get(), one_electron_program, segments_of(*over, most), workers);
      EXPECT_EQ(values_of(found, "s"), over->overlap());
      EXPECT_EQ(values_of(found, "h"), core);
      EXPECT_EQ(values_of(found, "x"), dipole[0]);
      EXPECT_EQ(values_of(found, "y"), dipole[1]);
      EXPECT_EQ(values_of(found, "z"), dipole[2]);
      EXPECT_DOUBLE_EQ(number_of(found, "nuclear"), chemistry::nuclear_repulsion(bent));
      EXPECT_NEAR(number_of(found, "nx"), 10 * 0.3, 1e-12);
      EXPECT_NEAR(number_of(found, "ny"), -10 * 0.2, 1e-12);
      EXPECT_NEAR(number_of(found, "nz"), 10 * 0.1 - 8 * 0.1211314446 + 2 * 0.986043855, 1e-12);
      EXPECT_EQ(number_of(found, "only_x"), number_of(found, "nx"));
      EXPECT_EQ(number_of(found, "only_y"), number_of(found, "ny"));
      EXPECT_EQ(number_of(found, "only_z"), number_of(found, "nz"));
    }
}

TEST(chemistry_chain, a_field_by_a_program) {
  const auto over = water_in("6-31g**");
  const double dipole = chemistry::run_scf(water(), *over, {}).dipole[2];
  const testing::sial_programs program = testing::programs_from_files({programs + "rhf.sialx"});
  for (const unsigned workers : {1u, 2u, 4u}) {
    sial::init_data data = data_with_basis(shells_of(*over), water());
    add_segments(data, sial::basis_segments(*over, 9), {3, 2}, {12, 8});
    data.ints["scf_iter"] = 50;
    data.scalars["scf_conv"] = 1e-8;
    const auto basis = sial::integrals_for(program.all, data);
    const sial_outcome found = testing::run_job(
        program, data, {.workers = workers, .instructions = sial::chemistry_instructions(basis.get(), {})});
    EXPECT_LT(number_of(found, "scf_gradient"), 1e-8);
    EXPECT_LT(number_of(found, "scf_iterations"), 30);
    EXPECT_NEAR(number_of(found, "scf_energy"), -76.0231738316, 1e-9) << workers;
    EXPECT_NEAR(number_of(found, "nuclear_repulsion"), 9.196933718087, 1e-11);
    EXPECT_NEAR(number_of(found, "dipole_z"), dipole, 1e-7);
  }
}

/// Rows of a table until the one of -1.
std::vector<std::array<std::int64_t, 7>> table_of(const std::string& instruction, const sial::init_data& data,
                                                  std::size_t rows = 10000) {
  const sial_outcome found = run_over(nullptr,
                                      fmt::format(R"(
sial tables
index r = 1:{}
index c = 1:7
special {} w
static t[r,c]
execute {} t
set_persistent t "t"
endsial tables
)",
                                                  rows, instruction, instruction),
                                      data);
  const std::vector<double>& values = values_of(found, "t");
  std::vector<std::array<std::int64_t, 7>> table;
  for (std::size_t row = 0; row < rows; ++row) {
    table.emplace_back();
    for (std::size_t k = 0; k < 7; ++k) table.back()[k] = std::lround(values[row + rows * k]);
    if (table.back()[0] == -1) break;
  }
  EXPECT_EQ(table.back(), (std::array<std::int64_t, 7>{-1, -1, -1, -1, -1, -1, -1}));
  EXPECT_LE(table.size(), rows);
  table.pop_back();
  return table;
}

TEST(chemistry_chain, tables_of_batches_cover_each_triple_once) {
  for (const auto& [frozen, occupied] :
       std::vector<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>>{{{}, {5}},
                                                                                    {{}, {1, 4}},
                                                                                    {{}, {2, 2, 1}},
                                                                                    {{}, {1, 1, 1, 1, 1}},
                                                                                    {{1}, {4}},
                                                                                    {{1, 1}, {1, 3, 1}},
                                                                                    {{2}, {17, 6, 5}}}) {
    std::vector<std::int64_t> all = frozen, segment_of;
    all.insert(all.end(), occupied.begin(), occupied.end());
    sial::init_data data;
    add_segments(data, {1}, all, {3});
    data.ints["baocc"] = static_cast<std::int64_t>(frozen.size()) + 1;
    std::int64_t first = 1;
    for (const std::int64_t length : frozen) first += length;
    for (std::size_t s = 0; s < occupied.size(); ++s)
      segment_of.insert(segment_of.end(), static_cast<std::size_t>(occupied[s]), static_cast<std::int64_t>(s) + 1);
    const auto segments = static_cast<std::int64_t>(occupied.size()),
               orbitals = static_cast<std::int64_t>(segment_of.size());
    for (const char* const name : {"set_ijk_aaa", "set_ijk_aab"}) {
      // i, j and the segment of k, and how often they are there.
      std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, int> found, expected;
      for (const auto& [si, i0, i1, sj, j0, j1, sk] : table_of(name, data)) {
        EXPECT_LT(i1 - i0, 5);
        EXPECT_LT(j1 - j0, 5);
        for (std::int64_t i = i0; i <= i1; ++i)
          for (std::int64_t j = j0; j <= j1; ++j) {
            EXPECT_EQ(segment_of.at(static_cast<std::size_t>(i - first)), si);
            EXPECT_EQ(segment_of.at(static_cast<std::size_t>(j - first)), sj);
            ++found[{i, j, sk}];
          }
      }
      for (std::int64_t i = 0; i < orbitals; ++i)
        for (std::int64_t j = 0; j < orbitals; ++j)
          for (std::int64_t k = 1; k <= segments; ++k) {
            const std::int64_t si = segment_of[static_cast<std::size_t>(i)],
                               sj = segment_of[static_cast<std::size_t>(j)];
            if (si <= sj && (std::string(name) == "set_ijk_aab" || sj <= k)) expected[{first + i, first + j, k}] = 1;
          }
      EXPECT_EQ(found, expected) << name << " of " << occupied.size() << " segments";
    }
  }
}

TEST(chemistry_chain, tables_that_do_not_fit_are_refused) {
  sial::init_data data;
  add_segments(data, {1}, {2, 2}, {3});
  EXPECT_EQ(table_of("set_ijk_aab", data, 7).size(), 6u);
  EXPECT_THAT(failure_of([&] { (void)table_of("set_ijk_aab", data, 6); }), HasSubstr("t has 6 rows"));
  data.ints["eaocc"] = 4;
  EXPECT_THAT(failure_of([&] { (void)table_of("set_ijk_aab", data); }), HasSubstr("'eaocc'"));
  data.ints.erase("baocc");
  EXPECT_THAT(failure_of([&] { (void)table_of("set_ijk_aab", data); }), HasSubstr("'baocc'"));
}

/// Orbitals are counted from the first of their kind, whatever the lengths of segments and the kinds of indices.
TEST(chemistry_chain, numbers_of_orbitals_are_those_of_declared_kinds) {
  sial::init_data data;
  add_segments(data, {1}, {1, 1, 2}, {1, 2});
  data.ints["baocc"] = 2;
  data.float_arrays["e"] = {{6}, {-9, -2, -1.5, 2, 3, 5}};  // active ones alone
  data.float_arrays["fock"] = {{6, 6}, std::vector<double>(36, 7.0)};
  for (std::size_t k = 0; k < 6; ++k) data.float_arrays["fock"].values[7 * k] = data.float_arrays["e"].values[k];
  const sial_outcome found = run_over(nullptr, R"(
sial denominators
predefined int baocc
predefined int eaocc
predefined int bavirt
predefined int eavirt
moaindex p = baocc:eavirt
moaindex q = baocc:eavirt
moaindex i = baocc:eaocc
moaindex a = bavirt:eavirt
index n = 2:7
index o = 3:4
special energy_denominator_rhf ur
special stripi ru
predefined static fock[p,q]
predefined static e[n]
temp t[a,i]
temp u[a,i]
temp v[a,o]
static of_matrix[a,i]
static of_vector[a,i]
static single[a,o]
do a
  do i
    t[a,i] = 1.0
    execute energy_denominator_rhf t[a,i] fock
    of_matrix[a,i] = t[a,i]
    u[a,i] = 1.0
    execute energy_denominator_rhf u[a,i] e
    of_vector[a,i] = u[a,i]
  enddo i
  do o
    do i
      if i == 3
        u[a,i] = of_matrix[a,i]
        v[a,o] = 0.0
        execute stripi u[a,i] v[a,o]
        single[a,o] = v[a,o]
      endif
    enddo i
  enddo o
enddo a
set_persistent of_matrix "of_matrix"
set_persistent of_vector "of_vector"
set_persistent single "single"
endsial denominators
)",
                                      data);
  std::vector<double> expected, single;
  for (const double occupied : {-9.0, -2.0, -1.5})
    for (const double empty : {2.0, 3.0, 5.0}) expected.push_back(1 / (occupied - empty));
  EXPECT_THAT(values_of(found, "of_matrix"), Pointwise(DoubleNear(1e-14), expected));
  EXPECT_THAT(values_of(found, "of_vector"), Pointwise(DoubleNear(1e-14), expected));
  single.assign(expected.begin() + 3, expected.end());
  EXPECT_THAT(values_of(found, "single"), Pointwise(DoubleNear(1e-14), single));
}

TEST(chemistry_chain, a_basis_comes_back_from_initialization_data) {
  for (const char* const name : {"sto-3g", "6-31g**", "cc-pvdz"}) {
    std::vector<chemistry::shell> shells = chemistry::basis_for(water(), name);
    for (const bool sorted : {false, true}) {
      // By momentum: shells of one momentum come together, and become one with several functions.
      if (sorted)
        std::ranges::stable_sort(shells, {}, [](const chemistry::shell& s) { return std::pair(s.atom, s.momentum); });
      const auto before = chemistry::make_integrals(shells, water());
      const sial::init_data data = sial::from_binary(sial::to_binary(data_with_basis(shells, water())), "water.dat");
      const std::optional<sial::molecule_and_basis> found = sial::basis_of(data);
      ASSERT_TRUE(found);
      const auto after = chemistry::make_integrals(found->shells, found->molecule);
      ASSERT_EQ(after->functions(), before->functions());
      EXPECT_DOUBLE_EQ(chemistry::nuclear_repulsion(found->molecule), chemistry::nuclear_repulsion(water()));
      EXPECT_THAT(after->overlap(), Pointwise(DoubleNear(1e-13), before->overlap()));
      EXPECT_THAT(after->attraction(), Pointwise(DoubleNear(1e-12), before->attraction()));
      EXPECT_THAT(after->dipole()[2], Pointwise(DoubleNear(1e-13), before->dipole()[2]));
      const std::vector<double> v = all_repulsion(*after), old = all_repulsion(*before);
      double difference = 0;
      for (std::size_t k = 0; k < v.size(); ++k) difference = std::max(difference, std::abs(v[k] - old[k]));
      EXPECT_LT(difference, 1e-13) << name;
    }
  }
}

TEST(chemistry_chain, data_without_a_basis_have_none) {
  EXPECT_FALSE(sial::basis_of({}));
  sial::init_data data;
  data.float_arrays["coords"] = {{3, 1}, {0, 0, 0}};
  data.int_arrays["ivangmom"] = {{0}, {}};
  EXPECT_FALSE(sial::basis_of(data));
}

/// As readers of files do, with the same words.
TEST(chemistry_chain, numbers_of_a_basis_have_the_limits_of_files) {
  const sial::init_data good = data_with_basis(chemistry::basis_for(water(), "6-31g**"), water());
  const auto message_with = [&](const char* array, std::size_t element, double value) {
    sial::init_data data = good;
    data.float_arrays[array].values.at(element) = value;
    return failure_of([&] { (void)sial::basis_of(data); });
  };
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  for (const double value : {0.0, -1.0, nothing})
    EXPECT_THAT(message_with("alphas", 2, value),
                HasSubstr("array 'alphas', element 3, of shell 1: the exponent is not positive"));
  EXPECT_THAT(message_with("alphas", 2, 1e12), HasSubstr("the exponent is 1e+12, and not between 1e-06 and 1e+11"));
  EXPECT_THAT(message_with("alphas", 2, 1e-7), HasSubstr("the exponent is 1e-07, and not between 1e-06 and 1e+11"));
  EXPECT_THAT(
      message_with("pcoeffs", 1, -1e7),
      HasSubstr("array 'pcoeffs', element 2, of shell 1: the coefficient is -1e+07, and its size at most 1e+06"));
  EXPECT_THAT(message_with("pcoeffs", 1, nothing), HasSubstr("the coefficient is nan"));
  const std::size_t last = good.float_arrays.at("pcoeffs").values.size() - 1;  // a shell of one primitive
  EXPECT_THAT(message_with("pcoeffs", last, 0), HasSubstr("all coefficients of a shell are 0"));
  EXPECT_THAT(message_with("pcoeffs", last, 1e-12), HasSubstr("the shell vanishes"));
}

TEST(chemistry_chain, what_is_wrong_with_a_basis_is_told) {
  const sial::init_data good = data_with_basis(chemistry::basis_for(water(), "6-31g**"), water());
  const auto message = [&](const std::function<void(sial::init_data&)>& change) {
    sial::init_data data = good;
    change(data);
    return failure_of([&] { (void)sial::basis_of(data); });
  };
  EXPECT_EQ(message([](sial::init_data&) {}), "no error");
  for (const char* const name : {"coords", "charge", "alphas", "pcoeffs"}) {
    EXPECT_THAT(message([&](sial::init_data& d) { d.float_arrays.erase(name); }),
                HasSubstr(fmt::format("there is no array '{}'", name)));
    EXPECT_THAT(message([&](sial::init_data& d) { d.float_arrays[name].values.pop_back(); }),
                HasSubstr(fmt::format("array '{}' has ", name)));
  }
  for (const char* const name : {"ivangmom", "npfps", "ncfps", "atom", "ixalphas", "ixpcoeffs"}) {
    EXPECT_THAT(message([&](sial::init_data& d) { d.int_arrays.erase(name); }),
                HasSubstr(fmt::format("there is no array '{}'", name)));
    EXPECT_THAT(message([&](sial::init_data& d) { d.int_arrays[name].values.pop_back(); }),
                HasSubstr(fmt::format("array '{}' has ", name)));
    EXPECT_THAT(message([&](sial::init_data& d) { d.int_arrays[name].values[1] = -1; }),
                HasSubstr(fmt::format("array '{}' has -1 for shell 2", name)));
  }
  EXPECT_THAT(message([](sial::init_data& d) { d.int_arrays["npfps"].values.back() = 40; }), HasSubstr("'alphas'"));
  EXPECT_THAT(message([](sial::init_data& d) { d.float_arrays["charge"].values[0] = 7.5; }), HasSubstr("'charge'"));
  EXPECT_THAT(message([](sial::init_data& d) { d.float_arrays["tcoords"].values[0] = 1; }), HasSubstr("'tcoords'"));
  EXPECT_THAT(message([](sial::init_data& d) { d.int_arrays["end_nfps"].values[1] = 4; }), HasSubstr("'end_nfps'"));
  EXPECT_THAT(message([](sial::init_data& d) { d.ints.erase("intspherical"); }), HasSubstr("'intspherical'"));
  EXPECT_THAT(message([](sial::init_data& d) { d.ints["intspherical"] = 1; }), HasSubstr("'end_nfps'"));
  EXPECT_THAT(message([](sial::init_data& d) { d.ints["nshells"] = 0; }), HasSubstr("'nshells'"));
  EXPECT_THAT(message([](sial::init_data& d) { d.ints["iecp_on"] = 1; }), HasSubstr("'iecp_on'"));
  EXPECT_THAT(message([](sial::init_data& d) { d.ints["nbasis_funcs"] = 24; }), HasSubstr("'nbasis_funcs'"));
  EXPECT_THAT(message([](sial::init_data& d) {
                d.segments[sial::index_kind::ao] = {12, 12};
              }),
              HasSubstr("the segments of ao have 24 functions, and the shells 25"));
  EXPECT_THAT(message([](sial::init_data& d) {
                d.segments[sial::index_kind::ao] = {12, 13};
                d.int_arrays["ao_seg_ranges"] = {{2}, {13, 25}};
              }),
              HasSubstr("'ao_seg_ranges'"));
}

TEST(chemistry_chain, instructions_of_libraries_take_the_place_of_these) {
  sial::instruction_registry registry;
  registry.add({{"stripi", {"ru"}, "mine.so", [](const sial::instruction_call&) {}}});
  sial::add_chemistry(registry, nullptr);
  EXPECT_EQ(registry.find("stripi", "ru").library, "mine.so");
  EXPECT_EQ(registry.find("return_h1", "w").library, "");
}

TEST(chemistry_chain, wrong_arguments_are_told) {
  const auto over = water_in("sto-3g");
  sial::init_data data = segments_of(*over, 100);
  data.segments[sial::index_kind::mo] = {7};
  const auto message = [&](const chemistry::integrals* with, const std::string& body) {
    return failure_of([&] {
      (void)run_over(with, R"(
sial wrong
aoindex mu = 1:1
aoindex nu = 1:1
aoindex la = 1:1
aoindex si = 1:1
moindex p = 1:1
special return_h1 w
special compute_dipole_integrals wur
special compute_integral_batch w
special compute_ubatch6 wrruu
static h[mu,nu]
static c[mu,p]
temp v[mu,nu,la,si]
temp w[mu,nu,la,p]
scalar x
do mu
do nu
do la
do si
do p
)" + body + R"(
enddo p
enddo si
enddo la
enddo nu
enddo mu
endsial wrong
)",
                     data);
    });
  };
  EXPECT_THAT(
      message(nullptr, "execute return_h1 h"),
      ::testing::AllOf(HasSubstr("'return_h1' failed: it needs a molecule and its basis"), HasSubstr("ivangmom")));
  EXPECT_THAT(message(nullptr, "execute compute_integral_batch v[mu,nu,la,si]"), HasSubstr("it needs a molecule"));
  EXPECT_THAT(message(over.get(), "execute return_h1 c"), HasSubstr("c is not over basis functions alone"));
  EXPECT_THAT(message(over.get(), "execute return_h1 v[mu,nu,la,si]"), HasSubstr("rank 4, and 2 is expected"));
  EXPECT_THAT(message(over.get(), "execute compute_dipole_integrals h x 4"), HasSubstr("third argument is 4"));
  EXPECT_THAT(message(over.get(), "execute compute_integral_batch w[mu,nu,la,p]"),
              HasSubstr("is not over basis functions alone"));
  EXPECT_THAT(message(over.get(), "execute compute_ubatch6 v[mu,nu,la,si] h c h h"),
              HasSubstr("c is not over basis functions alone"));
  EXPECT_THAT(message(over.get(), "execute compute_ubatch6 v[mu,nu,la,si] h x h h"),
              HasSubstr("x is a scalar, and 7 x 7 is expected"));
  data.segments[sial::index_kind::ao] = {6};
  EXPECT_THAT(message(over.get(), "execute compute_ubatch6 v[mu,nu,la,si] h h h h"),
              HasSubstr("h is 6 x 6, and 7 x 7 is expected"));
  EXPECT_EQ(message(over.get(), "execute compute_integral_batch v[mu,nu,la,si]"), "no error");
  data.segments[sial::index_kind::ao] = {4};
  EXPECT_THAT(message(over.get(), "execute compute_integral_batch v[mu,nu,la,si]"), HasSubstr("cuts a shell"));
}

/// g_pqrs = g_rspq, packed over pairs of p, r and of q, s, and back.
TEST(chemistry_chain, pairs_come_back_as_they_were) {
  const std::size_t n = 6;
  std::mt19937 engine(7);
  std::uniform_real_distribution<double> any(-1.0, 1.0);
  std::vector<double> g(n * n * n * n);
  const auto at = [n](std::size_t p, std::size_t q, std::size_t r, std::size_t s) {
    return p + n * (q + n * (r + n * s));
  };
  for (std::size_t s = 0; s < n; ++s)
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t q = 0; q < n; ++q)
        for (std::size_t p = 0; p < n; ++p) g[at(p, q, r, s)] = g[at(r, s, p, q)] = any(engine);
  for (const std::vector<std::int64_t>& segments :
       {std::vector<std::int64_t>{6}, {1, 5}, {3, 3}, {2, 1, 3}, {1, 1, 1, 1, 1, 1}}) {
    sial::init_data data;
    data.segments[sial::index_kind::mo] = segments;
    auto& pairs = data.segments[sial::index_kind::la];
    sial::init_array<double> first, second;
    for (std::size_t q = 0; q < segments.size(); ++q)
      for (std::size_t p = 0; p <= q; ++p) {
        pairs.push_back(p == q ? segments[p] * (segments[p] + 1) / 2 : segments[p] * segments[q]);
        first.values.push_back(static_cast<double>(p + 1));
        second.values.push_back(static_cast<double>(q + 1));
      }
    const auto count = static_cast<std::int64_t>(pairs.size());
    first.dims = second.dims = {count};
    data.float_arrays["first_of"] = first;
    data.float_arrays["second_of"] = second;
    data.float_arrays["g"] = {{6, 6, 6, 6}, g};
    data.ints["segments"] = static_cast<std::int64_t>(segments.size());
    data.ints["pairs"] = count;
    const sial_outcome found = testing::run_job(testing::programs_from_files({programs + "pairs.sialx"}), data,
                                                {.instructions = sial::chemistry_instructions(nullptr, {})});
    EXPECT_THAT(values_of(found, "back"), Pointwise(DoubleNear(1e-14), g)) << segments.size();
  }
}

TEST(chemistry_chain, blocks_that_are_no_pairs_are_refused) {
  sial::init_data data;
  data.segments[sial::index_kind::mo] = {2, 3};
  data.segments[sial::index_kind::la] = {3, 6, 4};
  const auto message = [&](const std::string& body) {
    return failure_of([&] {
      (void)run_over(nullptr, R"(
sial wrong
moindex p = 1:1
moindex q = 2:2
laindex two = 1:1
laindex three = 2:2
laindex four = 3:3
special pack_symmetric wrr
special unpack_pairs wrr
static a[p,p,p,p]
static d[q,p,p,p]
static x[two,two]
static y[two,four]
static z[three,two]
static m[p,p]
do two
do three
do four
do p
do q
)" + body + R"(
enddo q
enddo p
enddo four
enddo three
enddo two
endsial wrong
)",
                     data);
    });
  };
  EXPECT_EQ(message("execute pack_symmetric x[two,two] a[p,p,p,p] a[p,p,p,p]"), "no error");
  EXPECT_THAT(message("execute pack_symmetric y[two,four] a[p,p,p,p] a[p,p,p,p]"),
              HasSubstr("y[1,3] is 3 x 4, and 3 x 3 pairs are expected"));
  EXPECT_THAT(message("execute pack_symmetric z[three,two] d[q,p,p,p] d[q,p,p,p]"),
              HasSubstr("the segments of d[2,1,1,1] are not in order"));
  EXPECT_THAT(message("execute pack_symmetric x[two,two] a[p,p,p,p] d[q,p,p,p]"),
              HasSubstr("is not a[1,1,1,1] with its second and fourth index exchanged"));
  EXPECT_THAT(message("execute pack_symmetric x[two,two] m[p,p] a[p,p,p,p]"), HasSubstr("rank 2, and 4 is expected"));
  EXPECT_THAT(message("execute pack_symmetric x[two,two] a[p,p,p,p] m[p,p]"), HasSubstr("rank 2, and 4 is expected"));
  EXPECT_THAT(message("execute unpack_pairs a[p,p,p,p] x[two,two] y[two,four]"), HasSubstr("3 x 3 pairs are expected"));
  EXPECT_THAT(message("execute unpack_pairs m[p,p] x[two,two] x[two,two]"), HasSubstr("rank 2, and 4 is expected"));
}

}  // namespace
}  // namespace tessera
