// Files of checkpoints: what is written is read, and nothing that is damaged is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>

#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"
#include "libraries/chemistry/basis/basis.hpp"
#include "libraries/chemistry/checkpoint/amplitudes.hpp"
#include "libraries/chemistry/checkpoint/energies.hpp"
#include "libraries/chemistry/checkpoint/field.hpp"
#include "libraries/chemistry/checkpoint/projection.hpp"
#include "libraries/chemistry/checkpoint/record.hpp"
#include "libraries/chemistry/scf/matrix.hpp"
#include "unit/plugin/folder.hpp"

namespace tessera::chemistry {
namespace {

using ::testing::HasSubstr;

/// A molecule in a basis.
struct functions_of {
  functions_of(const molecule& m, const std::string& basis)
      : system{m, basis, basis_for(m, basis)}, over(make_integrals(system.shells, system.of)) {}
  system_of_functions system;
  std::unique_ptr<integrals> over;
};

molecule hydrogen(double distance, int multiplicity = 1) {
  return {.atoms = {{1, {0, 0, 0}}, {1, {0, 0, distance}}}, .multiplicity = multiplicity, .name = "hydrogen"};
}

stored_field field_of(const functions_of& what, reference kind) {
  scf_settings how;
  how.kind = kind;
  return {what.system, kind, run_scf(what.system.of, *what.over, how), how.linear_dependence, 0, {}, {}};
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::input) << e.what();
    return e.what();
  }
  return "no error";
}

TEST(chemistry_checkpoints, fields_come_back_as_they_were) {
  const plugin_test::folder at;
  EXPECT_FALSE(load_field(at.path())) << "there is none yet";
  for (const reference kind : {reference::rhf, reference::uhf, reference::rohf}) {
    const functions_of what(hydrogen(1.4, kind == reference::rhf ? 1 : 3), "3-21g");
    const stored_field made = field_of(what, kind);
    save_field(at.path(), made);
    const std::optional<stored_field> read = load_field(at.path());
    ASSERT_TRUE(read);
    EXPECT_EQ(difference_between(read->system, made.system), "");
    EXPECT_EQ(read->kind, kind);
    EXPECT_EQ(read->scf.energy, made.scf.energy);
    EXPECT_EQ(read->scf.c, made.scf.c);
    EXPECT_EQ(read->scf.energies, made.scf.energies);
    EXPECT_EQ(read->scf.fock, made.scf.fock);
    EXPECT_EQ(read->scf.density, made.scf.density);
    EXPECT_EQ(read->scf.occupied, made.scf.occupied);
    EXPECT_EQ(name_of_orbitals(read->scf), name_of_orbitals(made.scf));
    EXPECT_FALSE(read->written_by.empty());
  }
}

TEST(chemistry_checkpoints, every_damaged_byte_is_found) {
  const plugin_test::folder at;
  const functions_of what(hydrogen(1.4), "sto-3g");
  save_field(at.path(), field_of(what, reference::rhf));
  const std::filesystem::path file = at.path() / field_file;
  std::string whole;
  ASSERT_FALSE(read_whole_file(file, whole));
  const auto load = [&](const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
    return message_of([&] { (void)load_field(at.path()); });
  };
  for (std::size_t k = 0; k < whole.size(); ++k)
    for (const char change : {'\x01', '\x80'}) {
      std::string damaged = whole;
      damaged[k] = static_cast<char>(damaged[k] ^ change);
      ASSERT_NE(load(damaged), "no error") << "byte " << k << " of " << whole.size();
    }
  for (std::size_t length = 0; length < whole.size(); length += 7)
    ASSERT_NE(load(whole.substr(0, length)), "no error") << "of " << length << " bytes";
  EXPECT_THAT(load(whole + "x"), HasSubstr("something follows"));
  EXPECT_EQ(load(whole), "no error");
}

TEST(chemistry_checkpoints, headers_that_contradict_themselves_are_refused) {
  const plugin_test::folder at;
  const functions_of what(hydrogen(1.4), "sto-3g");
  save_field(at.path(), field_of(what, reference::rhf));
  const std::filesystem::path file = at.path() / field_file;
  const record made = *load_record(file, "field");
  const auto with = [&](const std::function<void(nlohmann::ordered_json&)>& change) {
    nlohmann::ordered_json header = made.header;
    change(header);
    named_arrays arrays;
    for (const auto& [name, values] : made.arrays) arrays.emplace_back(name, values);
    save_record(file, "field", header, arrays);
    return message_of([&] { (void)load_field(at.path()); });
  };
  EXPECT_EQ(with([](auto&) {}), "no error");
  EXPECT_THAT(with([](auto& h) { h["functions"] = 3; }), HasSubstr("is not that of its shells"));
  EXPECT_THAT(with([](auto& h) { h["orbitals"] = 1; }), HasSubstr("and 2 belong there"));
  EXPECT_THAT(with([](auto& h) { h["orbitals"] = -1; }), HasSubstr("contradicts itself"));
  EXPECT_THAT(with([](auto& h) { h["occupied"] = {5, 5}; }), HasSubstr("more electrons than orbitals"));
  EXPECT_THAT(with([](auto& h) { h["reference"] = "ghf"; }), HasSubstr("no reference 'ghf'"));
  EXPECT_THAT(with([](auto& h) { h.erase("energy"); }), HasSubstr("header"));
  EXPECT_THAT(with([](auto& h) { h["system"]["atoms"][0]["number"] = 0; }), HasSubstr("no such element"));
  EXPECT_THAT(with([](auto& h) { h["system"]["shells"][0]["atom"] = 9; }), HasSubstr("an atom that is not there"));
  EXPECT_THAT(with([](auto& h) { h["system"]["shells"][0]["momentum"] = 99; }), HasSubstr("impossible momentum"));
  EXPECT_THAT(with([](auto& h) { h["reference"] = "uhf"; }), HasSubstr("lacks orbitals beta"));
  save_record(file, "amplitudes", made.header, {});
  EXPECT_THAT(message_of([&] { (void)load_field(at.path()); }), HasSubstr("of the kind 'amplitudes'"));
}

TEST(chemistry_checkpoints, amplitudes_and_energies_come_back) {
  const plugin_test::folder at;
  const functions_of what(hydrogen(1.4), "sto-3g");
  active_orbitals one{1, 1, {1, 2, 3, 4}}, other{0, 2, {5, 6, 7, 8}};
  amplitudes t = zero_amplitudes(false, {one, other});
  t.singles[0] = {0.25};
  t.alike[0] = {0.5};
  save_amplitudes(at.path(), what.system, t, {7, -0.5, 1e-3, 2e-4, false});
  const std::optional<stored_amplitudes> read = load_amplitudes(at.path());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->t.spins, t.spins);
  EXPECT_EQ(read->t.singles, t.singles);
  EXPECT_EQ(read->t.alike, t.alike);
  EXPECT_EQ(read->t.mixed, t.mixed);
  EXPECT_EQ(read->state.iteration, 7);
  EXPECT_EQ(read->state.residual, 2e-4);
  stored_energies energies{"name", 1, 2, -0.1, -0.2, -0.31, 9, 1e-9, 1e-8, 0.01, 0.02, std::nullopt, {}, {}};
  save_energies(at.path(), energies);
  const std::optional<stored_energies> found = load_energies(at.path());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ccsd, -0.31);
  EXPECT_FALSE(found->triples);
  EXPECT_EQ(found->frozen_virtual, 2);
}

TEST(chemistry_checkpoints, an_older_file_stays_until_the_new_one_is_whole) {
  const plugin_test::folder at;
  const functions_of what(hydrogen(1.4), "sto-3g");
  const stored_field made = field_of(what, reference::rhf);
  save_field(at.path(), made);
  std::filesystem::create_directory(at.path() / (std::string(field_file) + ".new"));  // nothing can be written there
  EXPECT_THROW(save_field(at.path(), made), error);
  EXPECT_TRUE(load_field(at.path()));
}

TEST(chemistry_checkpoints, a_projection_on_the_same_functions_changes_nothing) {
  const functions_of what(hydrogen(1.4), "cc-pvdz");
  const stored_field field = field_of(what, reference::rhf);
  const std::vector<double> cross = overlap_of_functions(what.system.shells, *what.over), s = what.over->overlap();
  ASSERT_EQ(cross.size(), s.size());
  for (std::size_t k = 0; k < s.size(); ++k) EXPECT_NEAR(cross[k], s[k], 1e-12);
  const auto densities = projected_densities(field.scf, cross, *what.over, {1, 1}, 1e-7);
  const std::vector<double> density = density_of(field.scf.functions, 1, field.scf.c[0]);
  for (std::size_t k = 0; k < density.size(); ++k) EXPECT_NEAR(densities[1][k], density[k], 1e-10);
}

TEST(chemistry_checkpoints, a_field_that_is_projected_begins_lower) {
  const functions_of small(hydrogen(1.4), "sto-3g"), large(hydrogen(1.5), "cc-pvdz");
  const stored_field field = field_of(small, reference::rhf);
  scf_settings how;
  how.guess = scf_guess::density;
  how.start =
      projected_densities(field.scf, overlap_of_functions(small.system.shells, *large.over), *large.over, {1, 1}, 1e-7);
  double first = 0;
  how.tell = [&](const scf_iteration& now) {
    if (now.number == 1) first = now.energy;
    return true;
  };
  const scf_result found = run_scf(large.system.of, *large.over, how);
  EXPECT_TRUE(found.converged);
  EXPECT_NEAR(found.energy, field_of(large, reference::rhf).scf.energy, 1e-10);
  EXPECT_GE(first, found.energy) << "the energy of a determinant";
  EXPECT_LT(first, found.energy + 0.05);
  EXPECT_THAT(message_of([&] {
                (void)projected_densities(field.scf, overlap_of_functions(small.system.shells, *large.over),
                                          *large.over, {3, 0}, 1e-7);
              }),
              HasSubstr("has 2 orbitals, and 3 electrons"));
}

TEST(chemistry_checkpoints, amplitudes_follow_their_orbitals) {
  // The same space with other orbitals: what is projected there and back is what it was.
  const functions_of what(hydrogen(1.4), "3-21g");
  const stored_field field = field_of(what, reference::rhf);
  const std::size_t n = 4;
  active_orbitals now{1, 3, field.scf.c[0]}, turned = now;
  const double c = std::cos(0.3), s = std::sin(0.3);
  for (std::size_t p = 0; p < n; ++p) {  // two empty orbitals turned, an occupied one with another sign
    turned.c[p] = -now.c[p];
    turned.c[p + n] = c * now.c[p + n] + s * now.c[p + 2 * n];
    turned.c[p + 2 * n] = -s * now.c[p + n] + c * now.c[p + 2 * n];
  }
  amplitudes t = zero_amplitudes(true, {now, {}});
  for (std::size_t k = 0; k < t.mixed.size(); ++k) t.mixed[k] = 0.1 * static_cast<double>(k + 1);
  t.singles[0] = {0.1, 0.2, 0.3};
  const std::vector<double> cross = what.over->overlap();
  const amplitude_projection there(t, cross, zero_amplitudes(true, {turned, {}}));
  ASSERT_EQ(there.why_not(), "");
  const amplitudes over_turned = there.improved(zero_amplitudes(true, {turned, {}}));
  EXPECT_NEAR(over_turned.singles[0][0], -(c * 0.1 + s * 0.2), 1e-10);
  const amplitude_projection again(over_turned, cross, zero_amplitudes(true, {now, {}}));
  const amplitudes same = again.improved(zero_amplitudes(true, {now, {}}));
  for (std::size_t k = 0; k < t.mixed.size(); ++k) EXPECT_NEAR(same.mixed[k], t.mixed[k], 1e-10);
  // Where the occupied orbital is another one, they mean nothing.
  active_orbitals swapped = now;
  std::swap_ranges(swapped.c.begin(), swapped.c.begin() + 4, swapped.c.begin() + 4);
  EXPECT_THAT(amplitude_projection(t, cross, zero_amplitudes(true, {swapped, {}})).why_not(),
              HasSubstr("occupied orbitals are others"));
}

}  // namespace
}  // namespace tessera::chemistry
