#include "apps/common/machine_rates.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "core/base/wide_vectors.hpp"
#include "tessera/region.hpp"
#include "tessera/tessera.hpp"

namespace tessera::apps {
namespace {

constexpr std::int64_t max_elements = std::int64_t{1} << 24;  // of each of three arrays: 128 MiB
constexpr double scalar = 0.4;

/// A runtime of the host alone, that neither records nor learns.
start_options host_alone(std::uint32_t workers) {
  return {.text = "[runtime]\nplugins = [\"host\"]\n",
          .settings = {"runtime.plugins=[\"host\"]", "runtime.history=off", "runtime.trace=false", "runtime.report=",
                       "runtime.trace_file=", "runtime.stats=false", "runtime.validate=false", "region.policy=static"},
          .workers = workers};
}

/// The shortest of some runs, behind one that does not count.
double fastest(int runs, const std::function<void()>& run) {
  double best = std::numeric_limits<double>::infinity();
  for (int k = 0; k <= runs; ++k) {
    const auto began = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    if (k > 0) best = std::min(best, took.count());
  }
  return best;
}

/// Bytes per second of the triad, each worker over a row of its own. Small rows are gone over many times: else the
/// launches would be what is measured.
double host_triad(location_model& model, std::int64_t elements, int runs) {
  const auto workers = static_cast<std::int64_t>(model.owner().workers());
  const std::int64_t row = std::max<std::int64_t>(elements / workers, 64);
  const auto a = model.make_array<double>("a", {workers, row}), b = model.make_array<double>("b", {workers, row}),
             c = model.make_array<double>("c", {workers, row});
  model.region("start", iterate({0, workers}, {0, row}), write(a), write(b), write(c),
               [](auto i, auto j, auto to_a, auto to_b, auto to_c) { to_a(i, j) = 0, to_b(i, j) = 1, to_c(i, j) = 2; });
  const double bytes = 3.0 * sizeof(double) * static_cast<double>(workers * row);
  const auto passes = static_cast<std::int64_t>(std::max(1.0, std::ceil(0x1p24 / bytes)));
  const double seconds = fastest(runs, [&] {
    model.region("triad", iterate(0, workers), read(b), read(c), write(a),
                 [row, passes](auto i, auto x, auto y, auto to) {
                   const double *const from = &x(i, 0), *const also = &y(i, 0);
                   double* const there = &to(i, 0);
                   for (std::int64_t pass = 0; pass < passes; ++pass) {
#pragma GCC ivdep
                     for (std::int64_t j = 0; j < row; ++j) there[j] = from[j] + scalar * also[j];
                     asm volatile("" : : "r"(there) : "memory");  // each pass counts
                   }
                 });
    model.fence();
  });
  return bytes * static_cast<double>(passes) / seconds;
}

/// What all workers do together per second, of a loop with so many operations that each of them runs.
double together(location_model& model, double operations, void (*loop)(double&)) {
  const auto workers = static_cast<std::int64_t>(model.owner().workers());
  const auto results = model.make_array<double>("results", {workers});
  const double seconds = fastest(3, [&] {
    model.region("operations", iterate(0, workers), write(results), [loop](auto i, auto to) { loop(to[i]); });
    model.fence();
  });
  return operations * static_cast<double>(workers) / seconds;
}

constexpr std::int64_t turns = 400'000, sums = 48;

/// Products and sums in vectors that do not wait for each other: 2 sums turns of them.
void multiply_and_add(double& to) {
  std::array<double, static_cast<std::size_t>(sums)> x;
  x.fill(to);
  with_wide_vectors([&x] {
    std::array<double, static_cast<std::size_t>(sums)> of = x;
    for (std::int64_t k = 0; k < turns; ++k)
      for (double& v : of) v = v * 0.999 + 0.001;
    x = of;
  });
  to = x[0];
  for (const double v : x) to = std::max(to, v);
}

/// Exponentials: turns of them.
void exponentiate(double& to) {
  double sum = 0;
  for (std::int64_t k = 0; k < turns; ++k) sum += std::exp(-1e-4 * static_cast<double>(k));
  to = sum;
}

/// Bytes per second of the triad on a device. 0: it has not run there.
double device_triad(location_model& model, const std::string& leaf, std::int64_t elements) {
  const array_options here{.at = leaf};
  const auto a = model.make_array<double>("a", {elements}, here), b = model.make_array<double>("b", {elements}, here),
             c = model.make_array<double>("c", {elements}, here);
  const region_options how{.policy = policy::static_split, .at = leaf};
  model.region("start", how, iterate(0, elements), write(a), write(b), write(c),
               TESSERA_BODY((), (auto i, auto x, auto y, auto z), { x[i] = 0, y[i] = 1, z[i] = 2; }));
  constexpr int launches = 4;
  const double s = scalar;
  const double seconds = fastest(3, [&] {
    for (int k = 0; k < launches; ++k)
      model.region("triad", how, iterate(0, elements), read(b), read(c), write(a),
                   TESSERA_BODY((s), (auto i, auto x, auto y, auto to), { to[i] = x[i] + s * y[i]; }));
    model.fence();
  });
  return 3.0 * sizeof(double) * static_cast<double>(elements) * launches / seconds;
}

/// Elements of each of the triad's arrays for data of a size.
std::int64_t elements_for(double data) {
  return static_cast<std::int64_t>(std::clamp(data / (3 * sizeof(double)), 1024.0, double{max_elements}));
}

void measure_devices(machine_rates& to, const rates_wanted& wanted, machine&& on) {
  runtime rt(std::move(on));
  location_model model(rt);
  for (const std::string& leaf : wanted.devices) {
    try {
      const auto node = rt.tree().find(leaf);
      const double memory = node ? static_cast<double>(rt.tree().at(*node).properties.memory_bytes) : 0;
      const double data = memory > 0 ? std::min(wanted.data, memory / 4) : wanted.data;
      to.devices[leaf].bytes = device_triad(model, leaf, elements_for(data));
    } catch (const error&) {  // too little memory, no doubles: there is no rate
      to.devices[leaf] = {};
    }
  }
}

}  // namespace

double triad_bandwidth(std::uint32_t workers) {
  runtime rt(host_alone(workers));
  location_model model(rt);
  return host_triad(model, max_elements, 10);
}

machine_rates measure_rates(const rates_wanted& wanted, const std::function<machine()>& find_machine) {
  machine_rates found;
  {
    runtime rt(host_alone(wanted.workers));
    location_model model(rt);
    found.host.bytes = host_triad(model, elements_for(wanted.data), 5);
    if (wanted.arithmetic) {
      found.host.flops = together(model, 2.0 * turns * sums, multiply_and_add);
      found.host.functions = together(model, double{turns}, exponentiate);
    }
  }
  for (const std::string& leaf : wanted.devices) found.devices[leaf] = {};
  try {
    if (!wanted.devices.empty()) measure_devices(found, wanted, find_machine());
  } catch (const error&) {  // the devices cannot be opened twice
  }
  return found;
}

}  // namespace tessera::apps
