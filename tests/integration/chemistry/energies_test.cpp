// Energies of molecules against those of established packages, and against each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "integration/runtime/machines.hpp"
#include "languages/sial/chemistry/correlation.hpp"
#include "languages/sial/chemistry/programs.hpp"
#include "libraries/chemistry/basis/basis.hpp"
#include "libraries/chemistry/molecule/element.hpp"
#include "libraries/chemistry/scf/scf.hpp"
#include "support/slow_down.hpp"

namespace tessera {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const nlohmann::json& references() {
  static const nlohmann::json all = nlohmann::json::parse(
      std::ifstream(std::string(TESSERA_SOURCE_DIR) + "/tests/integration/chemistry/reference_energies.json"));
  return all;
}

chemistry::molecule molecule_of(const std::string& name) {
  const nlohmann::json& from = references().at("molecules").at(name);
  chemistry::molecule m;
  m.name = name;
  m.charge = from.at("charge");
  m.multiplicity = from.at("multiplicity");
  for (const auto& a : from.at("atoms"))
    m.atoms.push_back({chemistry::element_number(a[0].get<std::string>()), {a[1], a[2], a[3]}});
  return m;
}

/// A molecule in a basis with its field.
struct reference_state {
  reference_state(chemistry::molecule what, const std::string& basis, chemistry::reference kind,
                  chemistry::scf_settings how = {})
      : molecule(std::move(what)), over(chemistry::make_integrals(chemistry::basis_for(molecule, basis), molecule)) {
    how.kind = kind;
    scf = chemistry::run_scf(molecule, *over, how);
  }
  chemistry::molecule molecule;
  std::unique_ptr<chemistry::integrals> over;
  chemistry::scf_result scf;
};

reference_state closed(const std::string& name, const std::string& basis) {
  return {molecule_of(name), basis, chemistry::reference::rhf};
}

sial::correlation_result correlate(const reference_state& of, const sial::correlation_settings& how,
                                   machine on = testing::host_only(1)) {
  runtime rt(std::move(on));
  return sial::correlation_job(rt, *of.over, of.scf, how, {}).run();
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const error& e) {
    return e.what();
  }
  return "no error";
}

struct energy_case {
  std::string molecule, basis;
  int frozen_core;
};
std::string name_of_case(const ::testing::TestParamInfo<energy_case>& info) {
  std::string name = info.param.molecule + "_" + info.param.basis + (info.param.frozen_core != 0 ? "_frozen" : "");
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

class chemistry_energies : public ::testing::TestWithParam<energy_case> {};

TEST_P(chemistry_energies, are_those_of_established_packages) {
  const energy_case& c = GetParam();
  const auto row = std::ranges::find_if(references().at("energies"), [&](const nlohmann::json& e) {
    return e.at("molecule") == c.molecule && e.at("basis") == c.basis && e.at("frozen_core") == c.frozen_core;
  });
  ASSERT_NE(row, references().at("energies").end());
  const reference_state state = closed(c.molecule, c.basis);
  const double tolerance = c.molecule == "c6h6" ? 1e-7 : 1e-8;  // hartree
  EXPECT_NEAR(chemistry::nuclear_repulsion(state.molecule), row->at("e_nuc").get<double>(), 1e-10);
  ASSERT_TRUE(state.scf.converged);
  EXPECT_NEAR(state.scf.energy, row->at("e_scf").get<double>(), tolerance);
  sial::correlation_settings how;
  how.orbitals.frozen_core = c.frozen_core;
  const bool triples = row->contains("e_t_corr");
  const sial::correlation_result found = correlate(state, how);
  EXPECT_TRUE(found.converged);
  EXPECT_NEAR(found.mp2(), row->at("e_mp2_corr").get<double>(), tolerance);
  ASSERT_TRUE(found.ccsd && found.triples);
  EXPECT_NEAR(*found.ccsd, row->at("e_ccsd_corr").get<double>(), tolerance);
  EXPECT_NEAR(*found.triples, triples ? row->at("e_t_corr").get<double>() : 0.0, tolerance) << "of two electrons: none";
}

INSTANTIATE_TEST_SUITE_P(of, chemistry_energies,
                         ::testing::Values(energy_case{"h2o", "sto-3g", 0}, energy_case{"h2o", "6-31gss", 0},
                                           energy_case{"h2o", "6-31gss", 1}, energy_case{"h2o", "cc-pvdz", 0},
                                           energy_case{"h2o", "cc-pvdz", 1}, energy_case{"h2o", "aug-cc-pvdz", 0},
                                           energy_case{"h2o", "aug-cc-pvdz", 1}, energy_case{"hf", "cc-pvdz", 0},
                                           energy_case{"h2", "cc-pvdz", 0}, energy_case{"n2", "cc-pvdz", 0},
                                           energy_case{"n2", "cc-pvdz", 2}),
                         name_of_case);
// Minutes: tests/nightly runs them.
INSTANTIATE_TEST_SUITE_P(DISABLED_large, chemistry_energies,
                         ::testing::Values(energy_case{"c6h6", "cc-pvdz", 0}, energy_case{"c6h6", "cc-pvdz", 6}),
                         name_of_case);

TEST(chemistry, dipole_of_water) {
  const reference_state water = closed("h2o", "cc-pvdz");
  EXPECT_THAT(water.scf.dipole, ElementsAre(DoubleNear(0, 1e-9), DoubleNear(0, 1e-9), DoubleNear(0.809015117, 1e-7)));
}

TEST(chemistry, open_shells) {
  const reference_state apart(molecule_of("o2"), "cc-pvdz", chemistry::reference::uhf);
  EXPECT_TRUE(apart.scf.converged);
  EXPECT_NEAR(apart.scf.energy, -149.6277575037, 1e-8);
  EXPECT_GT(apart.scf.spin_squared, 2.01) << "not a pure triplet";
  const reference_state shared(molecule_of("o2"), "cc-pvdz", chemistry::reference::rohf);
  EXPECT_TRUE(shared.scf.converged);
  EXPECT_NEAR(shared.scf.energy, -149.608084466, 1e-8);
  EXPECT_DOUBLE_EQ(shared.scf.spin_squared, 2.0);
}

TEST(chemistry, fields_do_not_depend_on_the_way_there) {
  const double energy = -76.0268081738;
  chemistry::scf_settings how;
  how.guess = chemistry::scf_guess::core;
  EXPECT_NEAR(reference_state(molecule_of("h2o"), "cc-pvdz", chemistry::reference::rhf, how).scf.energy, energy, 1e-9);
  how = {};
  how.threads = 3;
  EXPECT_NEAR(reference_state(molecule_of("h2o"), "cc-pvdz", chemistry::reference::rhf, how).scf.energy, energy, 1e-9);
  how = {};
  how.kept_bytes = 0;  // every integral is computed in every iteration
  EXPECT_NEAR(reference_state(molecule_of("h2o"), "cc-pvdz", chemistry::reference::rhf, how).scf.energy, energy, 1e-9);
  how.kept_bytes = 1 << 16;
  how.level_shift = 0.5;
  how.damping = 0.3;
  EXPECT_NEAR(reference_state(molecule_of("h2o"), "cc-pvdz", chemistry::reference::rhf, how).scf.energy, energy, 1e-9);
  EXPECT_NEAR(reference_state(molecule_of("h2o"), "cc-pvdz", chemistry::reference::uhf).scf.energy, energy, 1e-9);
}

TEST(chemistry, fewer_primitives_give_the_same_energies) {
  reference_state few = closed("h2o", "cc-pvdz");
  const reference_state all = closed("h2o", "cc-pvdz");
  few.over = chemistry::make_integrals(chemistry::orbital_basis_for(few.molecule, "cc-pvdz"), few.molecule);
  few.scf = chemistry::run_scf(few.molecule, *few.over, {});
  EXPECT_NEAR(few.scf.energy, all.scf.energy, 1e-10);
  sial::correlation_settings how;
  how.method = sial::correlation_method::mp2;
  EXPECT_NEAR(correlate(few, how).mp2(), correlate(all, how).mp2(), 1e-10);
}

TEST(chemistry, coupled_cluster_of_open_shells) {
  const reference_state oxygen(molecule_of("o2"), "cc-pvdz", chemistry::reference::uhf);
  for (const nlohmann::json& row : references().at("energies")) {
    if (row.at("molecule") != "o2") continue;
    sial::correlation_settings how;
    how.orbitals.frozen_core = row.at("frozen_core");
    const sial::correlation_result found = correlate(oxygen, how);
    EXPECT_NEAR(found.mp2(), row.at("e_mp2_corr").get<double>(), 1e-8);
    EXPECT_NEAR(*found.ccsd, row.at("e_ccsd_corr").get<double>(), 1e-8);
    EXPECT_NEAR(*found.triples, row.at("e_t_corr").get<double>(), 1e-8);
    how.method = sial::correlation_method::mp2;
    EXPECT_NEAR(correlate(oxygen, how).mp2(), found.mp2(), 1e-10) << "by the program of second order alone";
  }
  const sial::correlation_result shared = correlate({molecule_of("o2"), "cc-pvdz", chemistry::reference::rohf}, {});
  EXPECT_NEAR(*shared.ccsd, -0.370329326, 1e-8);
}

TEST(chemistry, spin_orbitals_give_the_energies_of_closed_shells) {
  const reference_state water = closed("h2o", "6-31gss");
  sial::correlation_settings how;
  const sial::correlation_result without = correlate(water, how);
  how.orbitals = {.spin_orbitals = true, .occupied_segment = 3, .virtual_segment = 7};
  how.programs.workers = 2;
  const sial::correlation_result with = correlate(water, how);
  EXPECT_NEAR(with.mp2_same_spin, without.mp2_same_spin, 1e-10);
  EXPECT_NEAR(with.mp2_opposite_spin, without.mp2_opposite_spin, 1e-10);
  EXPECT_NEAR(*with.ccsd, *without.ccsd, 1e-9);
  EXPECT_NEAR(*with.triples, *without.triples, 1e-9);
}

TEST(chemistry, one_electron_is_not_correlated) {
  chemistry::molecule hydrogen = molecule_of("h2");
  hydrogen.charge = 1;
  hydrogen.multiplicity = 2;
  const sial::correlation_result found = correlate({hydrogen, "cc-pvdz", chemistry::reference::uhf}, {});
  EXPECT_TRUE(found.converged);
  EXPECT_NEAR(*found.ccsd, 0, 1e-12);
  EXPECT_EQ(*found.triples, 0.0);
}

TEST(chemistry, frozen_core_and_virtual_orbitals) {
  sial::correlation_settings how;
  how.orbitals.frozen_core = 1;
  how.orbitals.frozen_virtual = 2;
  const sial::correlation_result found = correlate(closed("h2o", "cc-pvdz"), how);
  EXPECT_NEAR(*found.ccsd, -0.191473528, 1e-8);
  EXPECT_NEAR(*found.triples, -0.002641613, 1e-8);
}

TEST(chemistry, the_program_of_second_order_alone) {
  sial::correlation_settings how;
  how.method = sial::correlation_method::mp2;
  const reference_state water = closed("h2o", "cc-pvdz");
  const sial::correlation_result found = correlate(water, how);
  EXPECT_NEAR(found.mp2(), -0.203948168, 1e-8);
  EXPECT_FALSE(found.ccsd);
  how.orbitals = {.basis_segment = 5, .occupied_segment = 2, .virtual_segment = 3};
  how.programs.workers = 3;
  EXPECT_NEAR(correlate(water, how).mp2(), found.mp2(), 1e-11);
}

/// What is wrong by one orbital shows.
TEST(chemistry, energies_do_not_depend_on_segments) {
  const reference_state water = closed("h2o", "sto-3g"), nitrogen = closed("n2", "sto-3g");
  for (const reference_state* state : {&water, &nitrogen}) {
    sial::correlation_settings how;
    how.energy_threshold = 1e-12;
    how.residual_threshold = 1e-10;
    const sial::correlation_result whole = correlate(*state, how);
    for (const std::size_t most : {1u, 2u, 4u, 7u})
      for (const std::size_t basis : {1u, 6u}) {
        how.orbitals.occupied_segment = most;
        how.orbitals.virtual_segment = most == 4 ? 3 : most;
        how.orbitals.basis_segment = basis;
        const sial::correlation_result cut = correlate(*state, how);
        EXPECT_NEAR(cut.mp2(), whole.mp2(), 1e-11) << most << " " << basis;
        EXPECT_NEAR(*cut.ccsd, *whole.ccsd, 1e-11) << most << " " << basis;
        EXPECT_NEAR(*cut.triples, *whole.triples, 1e-11) << most << " " << basis;
      }
  }
}

TEST(chemistry, energies_do_not_depend_on_workers_and_places) {
  const reference_state water = closed("h2o", testing::is_slow ? "sto-3g" : "6-31gss");
  sial::correlation_settings how;
  how.orbitals = {.occupied_segment = 3, .virtual_segment = testing::is_slow ? 1 : 8};
  const sial::correlation_result one = correlate(water, how);
  for (const unsigned workers : {2u, 4u}) {
    how.programs.workers = workers;
    const sial::correlation_result many = correlate(water, how);
    EXPECT_NEAR(*many.ccsd, *one.ccsd, 1e-10) << workers;
    EXPECT_NEAR(*many.triples, *one.triples, 1e-10) << workers;
  }
  how.programs.workers = 2;
  how.programs.devices = sial::device_use::always;
  const sial::correlation_result simulated = correlate(water, how, testing::with_sims(2, "8 MiB", false, 1));
  EXPECT_NEAR(*simulated.ccsd, *one.ccsd, 1e-10);
  EXPECT_NEAR(*simulated.triples, *one.triples, 1e-10);
}

class chemistry_devices : public ::testing::TestWithParam<const char*> {};

/// With the kernels and streams of GPU plugins.
TEST_P(chemistry_devices, give_the_same_energies) {
  const reference_state water = closed("h2o", "sto-3g");
  sial::correlation_settings how;
  how.orbitals = {.occupied_segment = 3, .virtual_segment = 2};
  const sial::correlation_result host = correlate(water, how);
  how.programs.workers = 2;
  how.programs.devices = sial::device_use::always;
  const sial::correlation_result found = correlate(water, how, testing::with_gpus(GetParam(), 1, "64 MiB", ""));
  EXPECT_NEAR(found.mp2(), host.mp2(), 1e-10);
  EXPECT_NEAR(*found.ccsd, *host.ccsd, 1e-10);
  EXPECT_NEAR(*found.triples, *host.triples, 1e-10);
  for (const sial::program_report& p : found.programs) EXPECT_GT(p.counters.on_devices, 0u) << p.name;
}
INSTANTIATE_TEST_SUITE_P(emulated, chemistry_devices, ::testing::Values("cuda_emulated"));
#ifdef TESSERA_TEST_OPENCL
INSTANTIATE_TEST_SUITE_P(on_opencl, chemistry_devices, ::testing::Values("opencl"));
#endif

TEST(chemistry, a_deterministic_run_gives_the_same_bits) {
  const reference_state water = closed("h2o", "sto-3g");
  sial::correlation_settings how;
  how.orbitals = {.occupied_segment = 2, .virtual_segment = 1};
  how.programs.workers = 3;
  how.programs.deterministic = true;
  const sial::correlation_result first = correlate(water, how), second = correlate(water, how);
  EXPECT_EQ(*first.ccsd, *second.ccsd);
  EXPECT_EQ(*first.triples, *second.triples);
}

/// Pairs of functions that hardly overlap: the square of that is far below what their integrals are.
TEST(chemistry, small_overlaps_are_not_lost) {
  chemistry::molecule apart;
  apart.atoms = {{3, {0, 0, 0}}, {9, {0, 0, 11}}};
  chemistry::scf_settings tight;
  tight.energy_change = 1e-12;
  const reference_state state(apart, "6-31g**", chemistry::reference::rhf, tight);
  EXPECT_NEAR(state.scf.energy, -106.68193413217, 1e-8) << "PySCF's";
  const std::vector<double> bounds = chemistry::schwarz_bounds(*state.over);
  EXPECT_GT(*std::ranges::min_element(bounds), 0.0) << "all of them overlap";
}

TEST(chemistry, programs_refuse_the_other_list_of_orbitals) {
  const reference_state water = closed("h2o", "sto-3g");
  runtime rt(testing::host_only(1));
  sial::correlation_settings how;
  how.orbitals.spin_orbitals = true;
  const sial::correlation_job of_spins(rt, *water.over, water.scf, how, {});
  const sial::init_data spins = of_spins.data(), pairs = sial::orbital_data(*water.over, water.scf, {});
  for (const char* const name : {"mp2", "rccsd", "triples", "ump2", "uccsd", "utriples"}) {
    sial::init_data data = name[0] == 'u' ? pairs : spins;
    data.ints["max_iterations"] = 1;
    data.scalars["energy_threshold"] = data.scalars["residual_threshold"] = 1;
    sial::instruction_registry instructions;
    instructions.add(sial::chemistry_instructions(water.over.get(), {}));
    std::string printed;
    sial::job job(rt, data, instructions, {}, [&](const std::string& text) { printed += text; });
    const sial::job_program program =
        sial::compile_program(std::string(name) + ".sialx", sial::chemistry_reader(), {}, [](const std::string&) {});
    EXPECT_NE(message_of([&] { (void)job.run(program); }), "no error") << name;
    EXPECT_THAT(printed, HasSubstr(std::string(name) + ": this program is for"));
  }
}

/// The scalar that a program of examples/chemistry keeps under the label.
double number_of_example(const reference_state& of, const sial::orbital_choice& orbitals, unsigned workers,
                         const std::string& program, const std::string& label) {
  runtime rt(testing::host_only(1));
  const sial::init_data data = sial::orbital_data(*of.over, of.scf, orbitals);
  sial::instruction_registry instructions;
  instructions.add(sial::chemistry_instructions(of.over.get(), {}));
  sial::job job(rt, data, instructions, {.workers = workers}, [](const std::string&) {});
  (void)job.run(sial::compile_program(std::string(TESSERA_SOURCE_DIR) + "/examples/chemistry/" + program,
                                      sial::chemistry_reader(), {}, [](const std::string&) {}));
  return std::get<double>(job.items().at(label));
}

// Third order: from PySCF's integrals over spin orbitals, by the definition with antisymmetrised integrals.
TEST(chemistry, methods_of_ones_own_give_their_energies) {
  const reference_state water = closed("h2o", "cc-pvdz");
  sial::orbital_choice uneven;
  uneven.basis_segment = 7;
  uneven.occupied_segment = 2;
  uneven.virtual_segment = 5;
  EXPECT_NEAR(number_of_example(water, {}, 1, "my_mp2.sialx", "mp2_energy"), -0.2039481679, 1e-9);
  EXPECT_NEAR(number_of_example(water, {}, 1, "my_mp3.sialx", "mp3_energy"), -0.2107444779, 1e-9);
  EXPECT_NEAR(number_of_example(water, uneven, 2, "my_mp2.sialx", "mp2_energy"), -0.2039481679, 1e-9);
  EXPECT_NEAR(number_of_example(water, uneven, 2, "my_mp3.sialx", "mp3_energy"), -0.2107444779, 1e-9);
}

TEST(chemistry, what_has_not_converged_has_no_triples) {
  sial::correlation_settings how;
  how.max_iterations = 3;
  const sial::correlation_result found = correlate(closed("h2o", "cc-pvdz"), how);
  EXPECT_FALSE(found.converged);
  EXPECT_EQ(found.iterations, 3);
  EXPECT_FALSE(found.triples);
  chemistry::scf_settings few;
  few.max_iterations = 4;
  const reference_state water(molecule_of("h2o"), "cc-pvdz", chemistry::reference::rhf, few);
  EXPECT_FALSE(water.scf.converged);
  EXPECT_EQ(water.scf.iterations, 4);
}

/// Each statement belongs to the term that it stands in.
TEST(chemistry, terms_of_the_equations_add_up_to_their_programs) {
  if (testing::is_slow) GTEST_SKIP() << "many iterations of what other tests begin";
  sial::correlation_settings how;
  how.orbitals = {.occupied_segment = 3, .virtual_segment = 8};
  how.programs.workers = 2;
  const reference_state water = closed("h2o", "6-31gss");
  for (const sial::program_report& p : correlate(water, how).programs) EXPECT_TRUE(p.terms.empty()) << "not asked for";
  how.programs.profile = true;
  for (const sial::program_report& p : correlate(water, how).programs) {
    double flops = 0;
    std::uint64_t bytes = 0;
    for (const sial::term_report& t : p.terms) {
      flops += t.flops;
      bytes += t.bytes;
      EXPECT_GE(t.seconds, t.waited) << t.name;
    }
    EXPECT_NEAR(flops, p.counters.flops, 1e-9 * flops) << p.name;
    EXPECT_EQ(bytes, p.counters.exchanged_bytes()) << p.name;
    const auto term = [&](const std::string& name) {
      const auto found = std::ranges::find(p.terms, name, &sial::term_report::name);
      return found == p.terms.end() ? sial::term_report{} : *found;
    };
    if (p.name == "triples") {
      EXPECT_NEAR(term("connected").flops, p.counters.flops, 1e-9 * flops) << "all of its products";
      continue;
    }
    EXPECT_EQ(term("dress_ooov").meaning, "(kc|lj) with the singles in j.");
    EXPECT_EQ(term("over_functions").flops, 0) << "of the imported program";
    EXPECT_GT(term("over_functions").bytes, 0u);
    EXPECT_GT(term("").statements, 0u) << "outside of procedures";
  }
}

TEST(chemistry, the_ladder_over_functions_gives_the_same_energies) {
  if (testing::is_slow) GTEST_SKIP() << "many iterations of what other tests begin";
  const reference_state water = closed("h2o", "cc-pvdz");
  const sial::correlation_result stored = correlate(water, {});
  for (const auto& [basis, occupied, empty, workers] :
       {std::array<std::size_t, 4>{24, 12, 32, 1}, {100, 100, 100, 2}, {5, 2, 4, 2}, {7, 3, 9, 4}}) {
    sial::correlation_settings how;
    how.direct_ladder = true;
    how.orbitals.basis_segment = basis;
    how.orbitals.occupied_segment = occupied;
    how.orbitals.virtual_segment = empty;
    how.programs.workers = static_cast<unsigned>(workers);
    const sial::correlation_result direct = correlate(water, how);
    EXPECT_EQ(direct.iterations, stored.iterations);
    EXPECT_NEAR(*direct.ccsd, *stored.ccsd, 1e-10);
    EXPECT_NEAR(*direct.triples, *stored.triples, 1e-10);
  }
}

TEST(chemistry, a_plan_covers_what_the_programs_take) {
  const reference_state water = closed("h2o", "cc-pvdz");
  runtime rt(testing::host_only(1));
  sial::correlation_job job(rt, *water.over, water.scf, {}, {});
  double planned = 0;
  for (const sial::program_estimate& e : sial::estimate_correlation(
           *water.over,
           sial::unknown_field(water.molecule, chemistry::reference::rhf, water.scf.functions, water.scf.orbitals), {}))
    planned = std::max(planned, judge(e, {1e12, 0}).all);
  (void)job.run();
  std::uint64_t peak = 0;
  for (const named_space_statistics& space : rt.statistics().spaces) peak += space.statistics.peak_bytes;
  EXPECT_LE(static_cast<double>(peak), 1.10 * planned);
}

TEST(chemistry, wrong_choices_are_told) {
  const reference_state water = closed("h2o", "sto-3g");
  sial::correlation_settings how;
  how.orbitals.frozen_core = 5;
  EXPECT_THAT(message_of([&] { (void)correlate(water, how); }), HasSubstr("5 occupied orbitals are frozen"));
  how.orbitals = {.frozen_virtual = 2};
  EXPECT_THAT(message_of([&] { (void)correlate(water, how); }), HasSubstr("no virtual orbital is left"));
  EXPECT_THAT(message_of([] { reference_state(molecule_of("o2"), "sto-3g", chemistry::reference::rhf); }),
              HasSubstr("rhf is for closed shells"));
  chemistry::molecule crowded = molecule_of("h2");
  crowded.multiplicity = 3;
  crowded.charge = -2;
  EXPECT_THAT(message_of([&] { reference_state(crowded, "sto-3g", chemistry::reference::uhf); }),
              HasSubstr("the basis has 2 orbitals"));
}

}  // namespace
}  // namespace tessera
