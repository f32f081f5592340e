#include <fmt/format.h>

#include <algorithm>

#include "apps/common/application.hpp"
#include "apps/common/value_options.hpp"
#include "apps/common/worse.hpp"
#include "apps/rodinia/cfd/kernel.hpp"
#include "apps/rodinia/commands.hpp"

namespace tessera::apps::rodinia {
namespace {

struct cfd_options : application_options {
  std::int64_t size = 20, rounds = 1;
  std::string mesh, type = "f64";
  bool full = false;
};

template <class T>
void check_cfd(application_run& f, const cfd_options& o, const cfd_mesh& mesh, const std::vector<double>& states) {
  const std::vector<double> expected = cfd_serial(mesh, o.rounds);
  double worst = 0, largest = 0;
  for (std::size_t k = 0; k < states.size(); ++k) {
    const double error = std::abs(states[k] - expected[k]);
    worst = worse(worst, error);
    largest = std::max(largest, std::abs(expected[k]));
  }
  const bool single = sizeof(T) == 4;
  f.check("difference to a serial run in double, over the largest value", worst / largest, single ? 1e-4 : 1e-10);
  f.check("residuals that do not come through the boundary", cfd_imbalance(mesh, states), 1e-12);
}

template <class T>
void run_cfd(application_run& f, const cfd_options& o) {
  const cfd_mesh mesh = o.mesh.empty() ? make_cfd_mesh(o.size, !o.full) : read_cfd_mesh(o.mesh);
  const std::int64_t n = mesh.elements();
  f.s().require_memory(static_cast<double>(n) * (29.0 * sizeof(T) + 16), "the mesh and the states");
  cfd_kernel<T> gas(f.model(), f.how(), n);
  load<T>(f.model(), f.how(), gas.sizes, std::vector<T>(mesh.sizes.begin(), mesh.sizes.end()));
  load<std::int32_t>(f.model(), f.how(), gas.neighbours, mesh.neighbours);
  load<T>(f.model(), f.how(), gas.normals, std::vector<T>(mesh.normals.begin(), mesh.normals.end()));
  gas.start();
  f.input(fmt::format("{} elements, {}, {} iterations, {}", n, o.type, o.rounds,
                      o.mesh.empty() ? fmt::format("a mesh of {}^3 cubes", o.size) : o.mesh));
  f.main_part([&] {
    for (std::int64_t k = 0; k < o.rounds; ++k) gas.iteration();
  });
  f.compare_with(cfd_workload(mesh, o.rounds, sizeof(T)));
  const auto seen = gas.states.read();
  const std::vector<double> states(seen.begin(), seen.end());
  const char* const names[] = {"density", "x momentum", "y momentum", "z momentum", "energy"};
  for (std::size_t k = 0; k < 5; ++k) {
    double sum = 0;
    for (std::size_t i = k; i < states.size(); i += 5) sum += states[i];
    f.checksum(names[k], sum);
  }
  if (f.verify()) check_cfd<T>(f, o, mesh, states);
}

}  // namespace

void add_cfd(command_table& to) {
  auto o = std::make_shared<cfd_options>();
  command_table& sub = add_application(
      to,
      {"cfd", "The flow of a gas around a box, on a mesh of tetrahedra",
       "tessera cfd --size 20 --rounds 10 --policy static --verify"},
      o, [o](application_run& f) { o->type == "f32" ? run_cfd<float>(f, *o) : run_cfd<double>(f, *o); });
  sub.add({number_option("--size", o->size, "cubes along each side, each of six elements", 1, 200),
           {"--full", &o->full, "", "without the box in the middle"},
           {"--mesh", &o->mesh, "FILE", "a mesh; instead of --size", {.excludes = {"--size", "--full"}}}});
  sub.add({number_option("--rounds", o->rounds, "iterations", 0, 1'000'000), type_option(o->type, {"f64", "f32"})});
}

}  // namespace tessera::apps::rodinia
