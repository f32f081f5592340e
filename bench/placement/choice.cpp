// What it costs to choose a place by learnt times: the pure model, and a whole choice in a runtime with 8 devices.
#include <latch>

#include "bench/common/measure.hpp"
#include "core/operation/blas.hpp"
#include "core/placement/history.hpp"
#include "core/placement/policy.hpp"
#include "tessera/front_end.hpp"
#include "tessera/machine.hpp"
#include "tessera/tessera.hpp"

namespace {

using namespace tessera;
constexpr std::uint32_t places = 9;  // the host and 8 devices
constexpr std::int64_t most = 16384;

/// Estimates for all places, the choice, the note of it: what `cost` adds to any choice.
void pure(long n) {
  std::vector<placement::place_kind> kinds(places);
  for (std::uint32_t k = 0; k < places; ++k) kinds[k].name = "place " + std::to_string(k);
  placement::history model(kinds);
  const operation::definition what = operation::gemm();
  placement::history::profile* profile = model.profile_of(what, element_type::f64);
  for (std::uint32_t k = 0; k < places; ++k)
    for (int sample = 0; sample < 20; ++sample)
      for (double amount = 1e3; amount < 1e9; amount *= 10) model.observe(*profile, k, {amount}, amount * (k + 1));
  std::uint32_t sum = 0;
  std::vector<placement::candidate> plan(places);
  std::vector<placement::history::option> options(places);
  const double started = bench::now();
  for (long i = 0; i < n; ++i) {
    const double amount = 1e3 * double(1 + i % 4096);
    placement::history::profile* p = model.profile_of(what, element_type::f64);
    for (std::uint32_t k = 0; k < places; ++k) {
      plan[k].place = k;
      plan[k].queue_seconds = 1e-9 * double((i * 7 + k) % 64);
      plan[k].execute_seconds = model.seconds(p, k, amount);
      options[k] = {k, plan[k].finish_seconds(), plan[k].execute_seconds};
    }
    const std::size_t best = placement::choose_place(placement::placement_policy::cost, plan);
    sum += static_cast<std::uint32_t>(model.decide(*p, amount, options, best));
  }
  bench::row("placement", "tessera", "model", 1, "ns_per_choice", (bench::now() - started) / double(n) * 1e9);
  if (sum == 0) std::puts("");  // the choices must be made
  const double measuring = bench::now();
  for (long i = 0; i < n; ++i)
    model.observe(*profile, std::uint32_t(i % places), {1e3 * double(1 + i % 4096)}, 1e3 * double(1 + i % 4096));
  bench::row("placement", "tessera", "measurement", 1, "ns_per_task", (bench::now() - measuring) / double(n) * 1e9);
}

std::latch* opened = nullptr;

bool on_devices(const plugin::device& device, element_type) {
  return device.description().device_class != TSR_DEVICE_CPU;
}

/// Submits n tasks of 3 blocks (read, read, write) while all devices are held back; they are ready at once, and placed,
/// or wait for a task that is held back, and are not. Returns nanoseconds per submission.
double submission(const std::string& placement, bool ready, long n) {
  std::string toml =
      "[runtime]\nworkers = 1\nwindow_tasks = 1000000\nplugins = [\"host\", \"sim\"]\nhistory = \"off\"\nplacement = "
      "\"" +
      placement + "\"\n[memory]\nslab_bytes = \"1 MiB\"\n[plugin.sim]\npoison = false\n";
  for (std::uint32_t k = 1; k < places; ++k) toml += "[[plugin.sim.device]]\nflops = \"1 GFLOP/s\"\n";
  config::document document = config::document::parse(toml);
  runtime rt(hierarchy::assemble(document));
  const operation::definition& gate = rt.define(
      {.name = "gate", .enqueue = [](const operation::context&) { opened->wait(); }, .available = on_devices});
  const operation::definition& nothing =
      rt.define({.name = "nothing",
                 .enqueue = [](const operation::context&) {},
                 .available = on_devices,
                 .work = [](const void*, std::span<const block::access>) { return 1e6; }});
  constexpr std::int64_t blocks = most;
  auto gates = rt.make_array<double>("gates", {places}, {1});
  auto a = rt.make_array<double>("a", {2 * 16}, {16}), c = rt.make_array<double>("c", {blocks * 16}, {16});
  for (int k = 0; k < 2; ++k)
    rt.submit(
        "set",
        [](view<double> x) {
          for (double& v : x) v = 1;
        },
        write(a(k)));
  rt.fence();
  double seconds = 0;
  for (int round = 0; round < 3; ++round) {  // the last counts: by then memory is there, and times are known
    std::latch open(1);
    opened = &open;
    for (std::uint32_t k = 0; k + 1 < places; ++k)
      rt.submit_operation(gate, nullptr, 0, std::array<block::access, 1>{write(gates(k))},
                          {.at = rt.at("sim" + std::to_string(k))});
    if (!ready)  // behind the gate of the first device
      for (std::int64_t k = 0; k < blocks; ++k)
        rt.submit_operation(nothing, nullptr, 0, std::array<block::access, 2>{read(gates(0)), write(c(k))});
    const double started = bench::now();
    for (long i = 0; i < n; ++i)
      rt.submit_operation(nothing, nullptr, 0,
                          std::array<block::access, 3>{read(a(0)), read(a(1)), write(c(i % blocks))});
    seconds = bench::now() - started;
    open.count_down();
    rt.fence();
  }
  return seconds / double(n) * 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::arguments arguments(argc, argv, {"n", "reps"});
  const long n = arguments.number("n", 1000000), reps = arguments.number("reps", 5);
  for (long k = 0; k < reps; ++k) pure(n);
  for (const char* placement : {"cost", "locality"}) {
    std::vector<double> placed, waiting;
    for (long k = 0; k < reps; ++k) {
      placed.push_back(submission(placement, true, most));  // as many as there are blocks: none waits for another
      waiting.push_back(submission(placement, false, most));
    }
    bench::row("placement", "tessera", std::string("choice_") + placement, 1, "ns_per_choice",
               bench::median(placed) - bench::median(waiting));
  }
}
