// Molecular dynamics as plain OpenMP loops over link cells, with the crystal and the cells of apps/comd. Each cell goes
// over its neighbours and writes its own atoms alone. The force loop is there twice: as one writes it down (atoms of a
// cell, 27 cells, their atoms), and with --loops tessera the functions that the regions of apps/comd call.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

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

struct simulation {
  lennard_jones by;
  cell_grid grid;
  atom_set now, next;
  std::vector<double> forces, energies;
  std::vector<std::int32_t> targets, leaving;
  long cells, capacity;

  explicit simulation(const crystal& start)
      : grid(make_cell_grid(start, by.cutoff)),
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
  double step(double dt) {
    kick(dt / 2);
    drift(dt);
    sort();
    const double potential = compute_forces();
    kick(dt / 2);
    return potential;
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

/// @param copies  each repetition works on a copy of the whole simulation, which then becomes the original: a deep copy
/// by hand, there and back
static void lj(const char* kase, std::int64_t lattice_cells, double known, bool copies = false) {
  crystal start = make_crystal({lattice_cells, lattice_cells, lattice_cells}, 3.615);
  set_temperature(start, mass, 600);
  const double atoms = double(start.atoms());
  simulation of(start);
  of.compute_forces();
  std::vector<double> microseconds;
  for (int rep = 0; rep <= reps; ++rep) {
    const double began = now();
    const auto run = [](simulation& s) {
      double energy = 0;
      for (long k = 0; k < steps; ++k) energy = s.step(1);
      return energy + s.kinetic();
    };
    double energy = 0;
    if (copies) {
      simulation copy = of;
      energy = run(copy);
      of = copy;
    } else {
      energy = run(of);
    }
    if (rep > 0) microseconds.push_back((now() - began) * 1e6 / (atoms * double(steps)));
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
  if (kase == "all" || kase == "lj_32000") lj("lj_32000", 20, -1.166059622057);
  if (kase == "all" || kase == "lj_32000_deepcopy") lj("lj_32000_deepcopy", 20, -1.166059622057, true);
  if (kase == "all" || kase == "lj_256000") lj("lj_256000", 40, 0);
}
