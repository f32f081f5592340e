// Molecular dynamics as plain OpenMP loops over link cells, with the crystal and the cells of apps/comd. Each cell goes
// over its neighbours and writes its own atoms alone. The force loops are there twice: as one writes them down (atoms
// of a cell, 27 cells, their atoms), and with --loops tessera the functions that the regions of apps/comd call.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "apps/comd/embedded_atom.hpp"
#include "apps/comd/lennard_jones.hpp"
#include "apps/comd/sorting.hpp"
#include "apps/comd/units.hpp"
#include "bench/common/measure.hpp"

using namespace bench;
using namespace tessera::apps::comd;

static int workers = 2, reps = 7;
static long steps = 10;
static bool our_loops = false;
static constexpr double mass = copper_mass * atomic_mass_unit;

struct atom_set {
  std::vector<std::int32_t> counts, ids;
  std::vector<double> positions, momenta;
  explicit atom_set(const cell_grid& grid)
      : counts(std::size_t(grid.cells())),
        ids(std::size_t(grid.cells() * grid.capacity)),
        positions(3 * ids.size()),
        momenta(3 * ids.size()) {}
};

/// Atoms in cells, and what moves them. A potential derives from it.
struct simulation {
  cell_grid grid;
  atom_set now, next;
  std::vector<double> forces, energies;
  std::vector<std::int32_t> targets, leaving;
  long cells, capacity;

  simulation(const crystal& start, double cutoff)
      : grid(make_cell_grid(start, cutoff)),
        now(grid),
        next(grid),
        forces(now.positions.size()),
        energies(now.ids.size()),
        targets(now.ids.size()),
        leaving(now.counts.size()),
        cells(grid.cells()),
        capacity(grid.capacity) {
    for (std::size_t id = 0; id < start.positions.size(); ++id) {
      std::array<std::int32_t, 3> at{};
      for (std::size_t a = 0; a < 3; ++a) at[a] = grid.along(a, start.positions[id][a]);
      const long cell = grid.cell(at), slot = now.counts[cell]++;
      now.ids[cell * capacity + slot] = std::int32_t(id);
      for (long a = 0; a < 3; ++a) {
        now.positions[(3 * cell + a) * capacity + slot] = start.positions[id][a];
        now.momenta[(3 * cell + a) * capacity + slot] = start.momenta[id][a];
      }
    }
  }

  void kick(double dt) {
#pragma omp parallel for schedule(static)
    for (long cell = 0; cell < cells; ++cell)
      for (long a = 3 * cell; a < 3 * cell + 3; ++a)
        for (long k = 0; k < now.counts[cell]; ++k) now.momenta[a * capacity + k] += dt * forces[a * capacity + k];
  }
  void drift(double dt) {
#pragma omp parallel for schedule(static)
    for (long cell = 0; cell < cells; ++cell)
      leaving[cell] = move_atoms(grid, cell, now.counts[cell], dt / mass, &now.momenta[3 * cell * capacity],
                                 &now.positions[3 * cell * capacity], &targets[cell * capacity], 0);
  }
  void sort() {
#pragma omp parallel for schedule(static)
    for (long cell = 0; cell < cells; ++cell)
      next.counts[cell] = pull_atoms<double>(
          grid, cell,
          {now.counts.data(), now.ids.data(), now.positions.data(), now.momenta.data(), targets.data(), leaving.data()},
          {&next.ids[cell * capacity], &next.positions[3 * cell * capacity], &next.momenta[3 * cell * capacity]});
    std::swap(now, next);
  }
  double kinetic() const {
    double squares = 0;
#pragma omp parallel for schedule(static) reduction(+ : squares)
    for (long cell = 0; cell < cells; ++cell)
      for (long a = 3 * cell; a < 3 * cell + 3; ++a)
        for (long k = 0; k < now.counts[cell]; ++k) {
          const double p = now.momenta[a * capacity + k];
          squares += p * p;
        }
    return squares / (2 * mass);
  }
};

struct lennard_jones_atoms : simulation {
  lennard_jones by;

  lennard_jones_atoms(const crystal& start, const lennard_jones& potential)
      : simulation(start, potential.cutoff), by(potential) {}

  double written_down() {
    const double shift = by.shift(), cutoff2 = by.cutoff * by.cutoff, sigma2 = by.sigma * by.sigma;
    double potential = 0;
#pragma omp parallel for schedule(static) reduction(+ : potential)
    for (long cell = 0; cell < cells; ++cell) {
      double *const fx = &forces[3 * cell * capacity], *const fy = fx + capacity, *const fz = fy + capacity;
      double* const energy = &energies[cell * capacity];
      const double *const px = &now.positions[3 * cell * capacity], *const py = px + capacity,
                          *const pz = py + capacity;
      std::fill_n(fx, 3 * capacity, 0.0);
      std::fill_n(energy, capacity, 0.0);
      grid.for_each_neighbour(cell, [&](long other, const vector3& moved) {
        const double *const qx = &now.positions[3 * other * capacity], *const qy = qx + capacity,
                            *const qz = qy + capacity;
        for (long i = 0; i < now.counts[cell]; ++i) {
          const double x = px[i] - moved[0], y = py[i] - moved[1], z = pz[i] - moved[2];
          double sx = 0, sy = 0, sz = 0, e = 0;
          for (long j = 0; j < now.counts[other]; ++j) {
            const double dx = x - qx[j], dy = y - qy[j], dz = z - qz[j], square = dx * dx + dy * dy + dz * dz;
            if (square < cutoff2 && square > 0) {
              const double inverse = 1 / square, s = sigma2 * inverse, s6 = s * s * s;
              const double force = 24 * by.epsilon * s6 * (2 * s6 - 1) * inverse;
              e += 2 * by.epsilon * (s6 * (s6 - 1) - shift);
              sx += force * dx, sy += force * dy, sz += force * dz;
            }
          }
          fx[i] += sx, fy[i] += sy, fz[i] += sz, energy[i] += e;
        }
      });
      for (long i = 0; i < now.counts[cell]; ++i) potential += energy[i];
    }
    return potential;
  }
  double with_our_loops() {
    double potential = 0;
#pragma omp parallel reduction(+ : potential)
    {
      neighbourhood<double> near;
#pragma omp for schedule(static)
      for (long cell = 0; cell < cells; ++cell) {
        near.collect(grid, cell, {now.counts.data(), now.positions.data()}, by.cutoff);
        const cell_atoms<double> on{now.counts[cell], grid.capacity, &now.positions[3 * cell * capacity]};
        potential += act(by, near, on, &forces[3 * cell * capacity], &energies[cell * capacity]);
      }
    }
    return potential;
  }
  double compute_forces() { return our_loops ? with_our_loops() : written_down(); }
};

struct embedded_atoms : simulation {
  double cutoff;
  std::vector<double> density, pair, embedding;  // coefficients
  embedded_atom_tables<double> by;
  std::vector<double> densities, slopes;

  embedded_atoms(const crystal& start, const embedded_atom& of)
      : simulation(start, of.cutoff),
        cutoff(of.cutoff),
        density(cubic_coefficients(of.density)),
        pair(cubic_coefficients(of.pair)),
        embedding(cubic_coefficients(of.embedding)),
        by{cutoff, table_of(density, of.density), table_of(pair, of.pair), table_of(embedding, of.embedding)},
        densities(energies.size()),
        slopes(energies.size()) {}

  static cubic_table<double> table_of(const std::vector<double>& coefficients, const samples& of) {
    return table_over(coefficients.data(), std::int64_t(coefficients.size() / 4), of.step);
  }

  /// Calls `use(i, square, dx, dy, dz, slot of the other)` for the pairs of a cell's atoms that are within the cutoff.
  template <class Use>
  void for_each_pair(long cell, const Use& use) const {
    const double cutoff2 = cutoff * cutoff;
    const double *const px = &now.positions[3 * cell * capacity], *const py = px + capacity, *const pz = py + capacity;
    grid.for_each_neighbour(cell, [&](long other, const vector3& moved) {
      const double *const qx = &now.positions[3 * other * capacity], *const qy = qx + capacity,
                          *const qz = qy + capacity;
      for (long i = 0; i < now.counts[cell]; ++i) {
        const double x = px[i] - moved[0], y = py[i] - moved[1], z = pz[i] - moved[2];
        for (long j = 0; j < now.counts[other]; ++j) {
          const double dx = x - qx[j], dy = y - qy[j], dz = z - qz[j], square = dx * dx + dy * dy + dz * dz;
          if (square < cutoff2 && square > 0) use(i, square, dx, dy, dz, other * capacity + j);
        }
      }
    });
  }
  double written_down() {
    double potential = 0;
#pragma omp parallel for schedule(static)
    for (long cell = 0; cell < cells; ++cell) {
      double* const sums = &densities[cell * capacity];
      std::fill_n(sums, capacity, 0.0);
      for_each_pair(cell, [&](long i, double square, double, double, double, long) {
        sums[i] += by.density.value(std::sqrt(square));
      });
      embed(by, now.counts[cell], sums, &energies[cell * capacity], &slopes[cell * capacity]);
    }
#pragma omp parallel for schedule(static) reduction(+ : potential)
    for (long cell = 0; cell < cells; ++cell) {
      double *const fx = &forces[3 * cell * capacity], *const fy = fx + capacity, *const fz = fy + capacity;
      double* const energy = &energies[cell * capacity];
      const double* const mine = &slopes[cell * capacity];
      std::fill_n(fx, 3 * capacity, 0.0);
      for_each_pair(cell, [&](long i, double square, double dx, double dy, double dz, long other) {
        const double r = std::sqrt(square);
        const double force = -(by.pair.slope(r) + (mine[i] + slopes[other]) * by.density.slope(r)) / r;
        energy[i] += 0.5 * by.pair.value(r);
        fx[i] += force * dx, fy[i] += force * dy, fz[i] += force * dz;
      });
      for (long i = 0; i < now.counts[cell]; ++i) potential += energy[i];
    }
    return potential;
  }
  double with_our_loops() {
    double potential = 0;
#pragma omp parallel reduction(+ : potential)
    {
      neighbourhood<double> near;
      const auto around = [&](long cell, const double* attached) {
        near.collect(grid, cell, {now.counts.data(), now.positions.data(), attached}, cutoff);
        return cell_atoms<double>{now.counts[cell], grid.capacity, &now.positions[3 * cell * capacity]};
      };
#pragma omp for schedule(static)
      for (long cell = 0; cell < cells; ++cell) {
        const cell_atoms<double> on = around(cell, nullptr);
        gather_density(by, near, on, &densities[cell * capacity]);
        embed(by, on.count, &densities[cell * capacity], &energies[cell * capacity], &slopes[cell * capacity]);
      }
#pragma omp for schedule(static)
      for (long cell = 0; cell < cells; ++cell) {
        const cell_atoms<double> on = around(cell, slopes.data());
        potential +=
            act(by, near, on, &slopes[cell * capacity], &forces[3 * cell * capacity], &energies[cell * capacity]);
      }
    }
    return potential;
  }
  double compute_forces() { return our_loops ? with_our_loops() : written_down(); }
};

template <class Atoms>
static double step(Atoms& of, double dt) {
  of.kick(dt / 2);
  of.drift(dt);
  of.sort();
  const double potential = of.compute_forces();
  of.kick(dt / 2);
  return potential;
}

/// @param copies  each repetition works on a copy of the whole simulation, which then becomes the original: a deep copy
/// by hand, there and back
template <class Atoms, class Potential>
static void timed(const char* kase, std::int64_t lattice_cells, double lattice_constant, const Potential& by,
                  double known, bool copies = false) {
  crystal start = make_crystal({lattice_cells, lattice_cells, lattice_cells}, lattice_constant);
  set_temperature(start, mass, 600);
  const double atoms = double(start.atoms());
  Atoms of(start, by);
  const double first = of.compute_forces() + of.kinetic();
  std::vector<double> microseconds;
  for (int rep = 0; rep <= reps; ++rep) {
    const double began = now();
    const auto run = [](Atoms& s) {
      double energy = 0;
      for (long k = 0; k < steps; ++k) energy = step(s, 1);
      return energy + s.kinetic();
    };
    double energy = 0;
    if constexpr (std::is_same_v<Atoms, lennard_jones_atoms>) {  // the other one has pointers into itself
      if (copies) {
        Atoms copy = of;
        energy = run(copy);
        of = copy;
      }
    }
    if (!copies) energy = run(of);
    if (rep > 0) microseconds.push_back((now() - began) * 1e6 / (atoms * double(steps)));
    if (std::abs(energy / first - 1) > 5e-5) fail("comd: the energy is not kept");
    if (rep == 0 && known != 0 && steps == 10 && std::abs(energy / atoms - known) > 1e-9) fail("comd: wrong energy");
  }
  row("comd", our_loops ? "OpenMP libgomp, loops of Tessera" : "OpenMP libgomp", kase, workers, "microseconds",
      median(microseconds));
}

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"workers", "reps", "case", "steps", "loops"});
  const std::string kase = args.text("case", "all");
  workers = int(args.number("workers", 2)), reps = int(args.number("reps", 7)), steps = long(args.number("steps", 10));
  our_loops = args.text("loops", "plain") == "tessera";
  omp_set_num_threads(workers);
  const auto wants = [&](const char* name) { return kase == "all" || kase == name; };
  const lennard_jones lj;
  constexpr double after_ten = -1.166059622057;
  if (wants("lj_32000")) timed<lennard_jones_atoms>("lj_32000", 20, 3.615, lj, after_ten);
  if (wants("lj_32000_deepcopy")) timed<lennard_jones_atoms>("lj_32000_deepcopy", 20, 3.615, lj, after_ten, true);
  if (wants("lj_256000")) timed<lennard_jones_atoms>("lj_256000", 40, 3.615, lj, 0);
  if (wants("eam_32000")) {
    const embedded_atom copper = sutton_chen_copper();
    timed<embedded_atoms>("eam_32000", 20, copper.lattice_constant, copper, -3.353368500193);
  }
}
