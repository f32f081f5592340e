// Devices that leave and come back in the middle of a run.
//
// One thread submits steps of an iteration without a pause; another takes a simulated device out of the run, and brings
// it back. No task is lost, nothing is computed twice, and the answer is the same. The machine is the host and two
// simulated devices; the second one starts detached.
#include <tessera/machine.hpp>
#include <tessera/tessera.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr const char* machine_text = R"(
[runtime]
plugins = ["host", "sim"]
placement = "eager"
detached = ["sim1"]
[[plugin.sim.device]]
memory = "64 MiB"
[[plugin.sim.device]]
memory = "64 MiB"
)";

constexpr int blocks = 16, steps = 600;

/// Tasks that each place has run so far, in the order of `places`.
std::vector<std::uint64_t> counts(tessera::runtime& rt, const std::vector<std::string>& places) {
  std::vector<std::uint64_t> tasks(places.size());
  for (const auto& o : rt.statistics().operations)
    for (std::size_t k = 0; k < places.size(); ++k)
      if (o.place == places[k]) tasks[k] += o.tasks;
  return tasks;
}

}  // namespace

int main() try {
  tessera::runtime rt({.text = machine_text});
  auto x = rt.make_array<double>("x", {blocks * 1000}, {1000});
  for (int k = 0; k < blocks; ++k) tessera::fill(rt, x(k), 0.0);
  auto one = rt.make_array<double>("one", {1000}, {1000});
  tessera::fill(rt, one(0), 1.0);
  rt.fence();

  const std::vector<std::string> places = rt.places();
  std::printf("%-28s", "tasks run at");
  for (const std::string& p : places) std::printf("%12s", p.c_str());
  std::printf("\n");
  std::vector<std::uint64_t> before = counts(rt, places);
  const auto row = [&](const char* phase) {
    const std::vector<std::uint64_t> now = counts(rt, places);
    std::printf("%-28s", phase);
    for (std::size_t k = 0; k < now.size(); ++k)
      std::printf("%12llu", static_cast<unsigned long long>(now[k] - before[k]));
    std::printf("\n");
    before = now;
  };

  // The operator: waits until so many tasks have ended, then changes the machine.
  const std::uint64_t start = rt.tasks_retired();
  const auto until = [&](int step) {
    while (rt.tasks_retired() < start + static_cast<std::uint64_t>(step) * blocks) std::this_thread::yield();
  };
  std::thread operator_thread([&] {
    until(steps / 4);
    row("sim1 is detached");
    rt.attach("sim1");
    until(steps / 2);
    row("both devices");
    rt.detach(rt.tree().root());  // every device: what they hold comes back to the host
    until(3 * steps / 4);
    row("no device");
    rt.attach("sim0");
  });

  const std::uint32_t wishes[] = {rt.tree().root(), rt.at("sim0"), rt.at("sim1")};  // followed while they can be
  for (int step = 0; step < steps; ++step)
    for (int k = 0; k < blocks; ++k) tessera::axpy(rt, 1.0, one(0), x(k), {.at = wishes[k % 3]});
  operator_thread.join();
  rt.fence();
  row("sim0 alone");

  for (int k = 0; k < blocks; ++k)
    for (const double v : x.read_host(x(k)))
      if (v != steps) {
        std::printf("block %d: %g instead of %d\n", k, v, steps);
        return 1;
      }
  const tessera::statistics s = rt.statistics();
  std::printf("%llu queued tasks were placed again, %llu blocks were written back; every element is %d\n",
              static_cast<unsigned long long>(s.devices.placed_elsewhere),
              static_cast<unsigned long long>(s.coherence.written_back), steps);
  return 0;
} catch (const tessera::error& e) {
  std::fprintf(stderr, "error: %s\n", e.what());
  return tessera::exit_code_of(e.kind());
}
