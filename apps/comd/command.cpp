#include "apps/comd/command.hpp"

#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <cmath>

#include "apps/comd/potential_file.hpp"
#include "apps/comd/units.hpp"
#include "apps/comd/verification.hpp"
#include "apps/comd/workload.hpp"
#include "apps/common/application.hpp"
#include "apps/common/value_options.hpp"
#include "core/base/units.hpp"

namespace tessera::apps::comd {
namespace {

struct comd_options : application_options {
  std::string size = "20", potential = "lj", file, type = "f64", data = "shared";
  std::int64_t steps = 100, every = 10;
  double dt = 1, temperature = 600;
};

[[noreturn]] void refuse(const char* option, std::string text, std::string hint) {
  throw error(error_kind::usage, std::move(text), option, std::move(hint));
}

/// NX or NX,NY,NZ.
std::array<std::int64_t, 3> size_of(const std::string& text) {
  constexpr std::int64_t most = 800;  // the atoms' numbers have 31 bits
  std::array<std::int64_t, 3> size{};
  const char *at = text.data(), *const end = at + text.size();
  std::size_t count = 0;
  for (; count < 3; ++count) {
    const auto [after, failed] = std::from_chars(at, end, size[count]);
    if (failed != std::errc() || size[count] < 1 || size[count] > most || (after != end && *after != ',')) break;
    if (after == end) {
      if (count == 0) return {size[0], size[0], size[0]};
      if (count == 2) return size;
      break;
    }
    at = after + 1;
  }
  refuse("--size", fmt::format("'{}' is no size", text),
         fmt::format("one number of lattice cells, or three with commas between them, each from 1 to {}", most));
}

void check_number(const char* option, double value, double low, double high) {
  if (!(value >= low && value <= high))
    refuse(option, fmt::format("{} is out of range", value), fmt::format("from {} to {}", low, high));
}

material material_of(const comd_options& o) {
  if (o.potential == "lj") {
    if (!o.file.empty())
      refuse("--potential-file", "the potential of Lennard and Jones is in no file", "take --potential eam");
    return {"Lennard-Jones", copper_mass, 3.615, lennard_jones()};
  }
  embedded_atom of = o.file.empty() ? sutton_chen_copper() : read_potential(o.file);
  return {"embedded atom, " + of.name, of.mass, of.lattice_constant, of};
}

template <class T>
std::unique_ptr<interaction<T>> regions_of(const potential& acts, application_run& f, const cell_grid& grid) {
  if (const auto* const lj = std::get_if<lennard_jones>(&acts))
    return std::make_unique<lennard_jones_regions<T>>(f.model(), f.how(), grid, *lj);
  return std::make_unique<embedded_atom_regions<T>>(f.model(), f.how(), grid, std::get<embedded_atom>(acts));
}

double temperature_of(const totals& t) { return t.kinetic / (thermal_energy(1) * static_cast<double>(t.atoms)); }

/// The table of what was measured.
void show(report& to, std::span<const measurement> rows) {
  auto list = nlohmann::ordered_json::array();
  for (const measurement& row : rows) {
    const auto atoms = static_cast<double>(row.all.atoms);
    const double total = row.all.energy() / atoms, potential = row.all.potential / atoms,
                 kinetic = row.all.kinetic / atoms, kelvin = temperature_of(row.all);
    to.add("", fmt::format("step {}", row.step),
           fmt::format("{:.12f} eV per atom, potential {:.12f}, kinetic {:.12f}, {:.4f} K", total, potential, kinetic,
                       kelvin),
           nullptr);
    list.push_back({{"step", row.step},
                    {"total", total},
                    {"potential", potential},
                    {"kinetic", kinetic},
                    {"temperature", kelvin},
                    {"atoms", row.all.atoms}});
  }
  to.note("steps", list);
}

/// How the data was moved.
void show_data(report& to, const std::string& way, const data_traffic& took) {
  std::string text = way;
  if (took.copies != 0)
    text += fmt::format(", {} copies there and back of {}", took.copies, format_bytes(static_cast<double>(took.bytes)));
  to.add("data", "data", text, way);
  to.note("deep_copies", {{"copies", took.copies}, {"bytes", took.bytes}});
}

template <class T>
std::vector<measurement> advance(application_run& f, const comd_options& o, simulation<T>& of, const totals& first) {
  std::vector<measurement> rows{{0, first}};
  std::atomic<std::int64_t> done{0};
  const progress line(
      [&](double seconds) { return fmt::format("comd: step {} of {}, {:.1f} s", done.load(), o.steps, seconds); },
      {o.quiet ? progress_where::nowhere : progress_where::everywhere});
  f.main_part([&] {
    for (std::int64_t k = 1; k <= o.steps; ++k) {
      of.step(o.dt);
      if (k % o.every == 0 || k == o.steps) rows.push_back({k, of.measure()});
      done = k;
      f.s().check_interrupt();
    }
  });
  return rows;
}

template <class T>
void run_comd(application_run& f, const comd_options& o) {
  const std::array<std::int64_t, 3> size = size_of(o.size);
  const data_choice data = data_choice_of(o.data);
  check_number("--dt", o.dt, 1e-6, 1000);
  check_number("--temperature", o.temperature, 0, 1e6);
  experiment e{material_of(o), {}, o.temperature, o.dt, sizeof(T) == 4, o.seed};
  const double atoms = 4.0 * static_cast<double>(size[0]) * static_cast<double>(size[1]) * static_cast<double>(size[2]);
  constexpr double slots_per_atom = 2.6, reals_per_slot = 16, bytes_per_slot = 16, bytes_per_number = 48;
  const double bytes = slots_per_atom * (bytes_per_slot + reals_per_slot * sizeof(T));
  f.s().require_memory(atoms * (bytes_per_number + (data == data_choice::deepcopy ? 2 : 1) * bytes), "the atoms");
  e.start = make_crystal(size, e.of.lattice_constant);
  const double mass = e.of.mass * atomic_mass_unit;
  set_temperature(e.start, mass, o.temperature, o.seed);
  const cell_grid grid = make_cell_grid(e.start, cutoff_of(e.of.acts));
  simulation<T> atoms_in_motion(f.model(), f.how(), grid, e.start, mass, regions_of<T>(e.of.acts, f, grid), data);
  f.input(fmt::format("{} atoms, {}, {} x {} x {} cells, {} steps of {} fs, {} K, {}", e.start.atoms(), e.of.name,
                      grid.count[0], grid.count[1], grid.count[2], o.steps, o.dt, o.temperature, o.type));
  atoms_in_motion.compute_forces();
  const totals first = atoms_in_motion.measure();
  const auto vectors = [&](const T* of) { return by_number(grid, *atoms_in_motion.data().atoms, of, e.start.atoms()); };
  std::vector<vector3> lattice_forces;
  if (f.verify()) lattice_forces = vectors(atoms_in_motion.data().forces->forces);
  const std::vector<measurement> rows = advance(f, o, atoms_in_motion, first);
  f.compare_with(comd_workload({.atoms = e.start.atoms(),
                                .steps = o.steps,
                                .lines = static_cast<std::int64_t>(rows.size()) - 1,
                                .partners = partners_of(e.start.atoms(), grid, cutoff_of(e.of.acts)),
                                .embedded = std::holds_alternative<embedded_atom>(e.of.acts),
                                .element = sizeof(T)}));
  if (o.steps > 0) {
    const double microseconds = f.seconds() * 1e6 / (atoms * static_cast<double>(o.steps));
    f.output().add("microseconds_per_atom_and_step", "per atom", fmt::format("{:.4g} us and step", microseconds),
                   microseconds);
  }
  show(f.output(), rows);
  show_data(f.output(), o.data, atoms_in_motion.traffic());
  f.checksum("total energy", rows.back().all.energy());
  f.checksum("potential energy", rows.back().all.potential);
  if (!f.verify()) return;
  check_start(f, e, first, lattice_forces);
  check_run(f, e, rows);
  const simulation_data<T>& now = atoms_in_motion.data();
  check_end(f, e, rows.back().all, vectors(now.atoms->positions), vectors(now.forces->forces));
}

}  // namespace
}  // namespace tessera::apps::comd

namespace tessera::apps {

void add_comd(command_table& to) {
  auto o = std::make_shared<comd::comd_options>();
  command_table& sub = add_application(
      to,
      {"comd", "Molecular dynamics of copper: atoms in cells that act on their neighbours",
       "tessera comd --size 10 --steps 100 --policy percentage:60,40 --verify"},
      o, [o](application_run& f) { o->type == "f32" ? comd::run_comd<float>(f, *o) : comd::run_comd<double>(f, *o); });
  sub.add({{"--size",
            &o->size,
            "NX[,NY,NZ]",
            "lattice cells, of four atoms each, along all axes or along each",
            {.shows_default = true}},
           number_option("--steps", o->steps, "time steps", 0, 1'000'000'000),
           number_option("--every", o->every, "steps from one line of the report to the next", 1, 1'000'000'000),
           {"--dt", &o->dt, "FS", "the time step in femtoseconds", {.shows_default = true}},
           {"--temperature", &o->temperature, "K", "of the start, in kelvin", {.shows_default = true}},
           {"--potential",
            &o->potential,
            "",
            "lj (Lennard-Jones) or eam (embedded atom)",
            {.choices = {"lj", "eam"}, .shows_default = true}},
           {"--potential-file", &o->file, "FILE",
            "the tables of --potential eam, in the format funcfl or setfl; instead of Sutton-Chen copper"},
           {"--data",
            &o->data,
            "WAY",
            "how loops get at the atoms, which are nested structures of the program: shared (adopted; the runtime "
            "moves what a loop needs), chain (chains of pointers name the arrays) or deepcopy (of all of it, from "
            "one line of the report to the next)",
            {.shows_default = true}},
           type_option(o->type, {"f64", "f32"})});
}

}  // namespace tessera::apps
