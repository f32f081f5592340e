// The applications of apps/rodinia: time of their main parts. The peer is rodinia_openmp.cpp, with the same inputs. The
// largest cases, gaussian_4096 and lavamd_50, run only where they are named.
#include <algorithm>
#include <cmath>

#include "apps/rodinia/bfs/kernel.hpp"
#include "apps/rodinia/cfd/kernel.hpp"
#include "apps/rodinia/gaussian/kernel.hpp"
#include "apps/rodinia/hotspot/kernel.hpp"
#include "apps/rodinia/lavamd/kernel.hpp"
#include "apps/rodinia/lud/kernel.hpp"
#include "apps/rodinia/nn/kernel.hpp"
#include "apps/rodinia/nw/kernel.hpp"
#include "apps/rodinia/particlefilter/kernel.hpp"
#include "apps/rodinia/pathfinder/kernel.hpp"
#include "apps/rodinia/srad/kernel.hpp"
#include "bench/common/measure.hpp"
#include "tessera/region.hpp"
#include "tessera/tessera.hpp"

using namespace bench;
using namespace tessera;
using namespace tessera::apps::rodinia;

namespace {

struct measurement {
  runtime rt;
  location_model model{rt};
  region_options how{.policy = tessera::policy::static_split};
  int workers, reps, first;

  measurement(int with, int times, int warm)
      : rt({.workers = static_cast<std::uint32_t>(with)}), workers(with), reps(times), first(1 - warm) {}

  /// Times `part` after `before`, which is not timed; with --warm 1 the first time does not count.
  template <class Before, class Part>
  void timed(const char* kase, Before&& before, Part&& part) {
    std::vector<double> seconds;
    for (int rep = first; rep <= reps; ++rep) {
      before();
      model.fence();
      const double began = now();
      part();
      model.fence();
      if (rep > 0) seconds.push_back((now() - began) * 1e3);
    }
    row("rodinia", "Tessera", kase, workers, "milliseconds", median(seconds));
  }
  template <class T, std::size_t Rank>
  void copy(array<T, Rank>& to, const std::vector<T>& from) {
    std::ranges::copy(from, to.write().begin());
  }

  void hotspot() {
    hotspot_kernel<double> heat(model, how, 1024, hotspot_factors_of(1024, 1));
    timed(
        "hotspot_1024_10", [&] { heat.generate(5); },
        [&] {
          for (int k = 0; k < 10; ++k) heat.step();
        });
    hotspot_kernel<float> light(model, how, 1024, hotspot_factors_of(1024, 1000));
    timed(
        "hotspot_1024_100_f32", [&] { light.generate(5); },
        [&] {
          for (int k = 0; k < 100; ++k) light.step();
        });
  }
  void pathfinder() {
    pathfinder_kernel<std::int32_t> path(model, how, 500, 1'000'000);
    path.generate(9);
    timed(
        "pathfinder_1M_500", [&] { path.start(); }, [&] { path.run(); });
    if (path.costs().read()[1] <= 0) fail("pathfinder: wrong result");
  }
  void srad() {
    srad_kernel<double> image(model, how, 2048);
    timed(
        "srad_2048_2", [&] { image.generate(7); }, [&] { image.iteration(), image.iteration(); });
    if (std::abs(image.image().read()[0] / 1.09094153540 - 1) > 1e-9) fail("srad: wrong result");
  }
  void gaussian() {
    gaussian_kernel<float> single(model, how, 1024, 1);
    timed(
        "gaussian_1024_single", [&] { single.generate(); }, [&] { single.run(); });
    gaussian_kernel<float> system(model, how, 1024);
    timed(
        "gaussian_1024", [&] { system.generate(); }, [&] { system.run(); });
    if (std::abs(system.a.read()(5, 5) / gaussian_eliminated(5, 5) - 1) > 1e-3) fail("gaussian: wrong result");
  }
  void gaussian_large() {
    gaussian_kernel<float> system(model, how, 4096);
    timed(
        "gaussian_4096", [&] { system.generate(); }, [&] { system.run(); });
    if (std::abs(system.a.read()(5, 5) / gaussian_eliminated(5, 5) - 1) > 1e-3) fail("gaussian: wrong result");
  }
  void lud() {
    lud_kernel<float> matrix(model, how, 2048);
    timed(
        "lud_2048", [&] { matrix.generate(); }, [&] { matrix.run(); });
    if (std::abs(matrix.factors().back() / lud_factor(2047, 2047) - 1) > 2e-2) fail("lud: wrong result");
  }
  void nn() {
    for (const std::int64_t count : {42'764, 10'000'000}) {
      const nn_records records = make_nn_records(count, 1);
      nn_kernel kernel(model, how, count);
      copy(kernel.latitudes, records.latitudes);
      copy(kernel.longitudes, records.longitudes);
      double nearest = 0;
      timed(
          count > 50'000 ? "nn_10M" : "nn_42764", [] {},
          [&] {
            kernel.run(30, 90);
            nearest = nn_nearest(kernel.distances.read().elements(), 5)[0].distance;
          });
      if (!(nearest < 1)) fail("nn: wrong result");
    }
  }
  void bfs() {
    const bfs_graph graph = make_bfs_graph(1'000'000, 7);
    const bfs_edges back = reversed(graph.edges);
    bfs_kernel search(model, how, graph.edges.nodes(), static_cast<std::int64_t>(graph.edges.targets.size()));
    copy(search.starts, graph.edges.starts);
    copy(search.targets, graph.edges.targets);
    copy(search.sources_starts, back.starts);
    copy(search.sources, back.targets);
    timed(
        "bfs_1M", [&] { search.start(0); }, [&] { search.run(true); });
    timed(
        "bfs_1M_scan", [&] { search.start(0); }, [&] { search.run(false); });
    if (bfs_level_sizes(search.levels.read().elements()).back() != 3089) fail("bfs: wrong result");
  }
  void nw() {
    nw_kernel alignment(model, how, make_nw_input(2048, 7), nw_blosum62());
    timed(
        "nw_2048", [] {}, [&] { alignment.run(); });
    if (alignment.table().back() != -19) fail("nw: wrong result");
  }
  void lavamd(const char* kase, std::int64_t side) {
    lavamd_kernel boxes(model, how, side);
    boxes.generate(1);
    timed(
        kase, [] {}, [&] { boxes.run(); });
  }
  template <class T>
  void cfd(const char* kase, const cfd_mesh& mesh, double tolerance) {
    cfd_kernel<T> gas(model, how, mesh.elements());
    copy(gas.sizes, {mesh.sizes.begin(), mesh.sizes.end()});
    copy(gas.neighbours, mesh.neighbours);
    copy(gas.normals, {mesh.normals.begin(), mesh.normals.end()});
    timed(
        kase, [&] { gas.start(); }, [&] { gas.iteration(); });
    if (std::abs(gas.states.read()[0] - T(1.4)) > tolerance) fail("cfd: wrong result");
  }
  void particlefilter(const char* kase, std::int64_t n, std::int64_t frames, std::int64_t particles) {
    filter_kernel filter(model, how, n, frames, particles);
    filter.generate();
    timed(
        kase, [&] { filter.start(); }, [&] { filter.run(); });
    const auto seen = filter.estimates.read();
    if (!(std::abs(seen(frames - 1, 0) - double(filter_centre(n, frames - 1)[0]) - 0.5) < 0.5))
      fail("particlefilter: wrong result");
  }
};

}  // namespace

int main(int argc, char** argv) {
  const arguments args(argc, argv, {"workers", "reps", "warm", "case"});
  const std::string kase = args.text("case", "all");
  measurement m(static_cast<int>(args.number("workers", 2)), static_cast<int>(args.number("reps", 5)),
                static_cast<int>(args.number("warm", 1)));
  const auto wants = [&](const char* name) { return kase == "all" || kase == name; };
  if (wants("hotspot")) m.hotspot();
  if (wants("pathfinder")) m.pathfinder();
  if (wants("srad")) m.srad();
  if (wants("gaussian")) m.gaussian();
  if (wants("lud")) m.lud();
  if (wants("nn")) m.nn();
  if (wants("bfs")) m.bfs();
  if (wants("nw")) m.nw();
  if (wants("lavamd")) m.lavamd("lavamd_10", 10);
  if (wants("cfd")) {
    const cfd_mesh mesh = make_cfd_mesh(34, false);
    m.cfd<double>("cfd_34", mesh, 1e-12);
    m.cfd<float>("cfd_34_f32", mesh, 1e-5);
  }
  if (wants("particlefilter")) {
    m.particlefilter("particlefilter_128_10_10k", 128, 10, 10'000);
    m.particlefilter("particlefilter_128_10_100k", 128, 10, 100'000);
    m.particlefilter("particlefilter_1024_40_10k", 1024, 40, 10'000);
  }
  if (kase == "gaussian_4096") m.gaussian_large();
  if (kase == "lavamd_50") m.lavamd("lavamd_50", 50);
}
