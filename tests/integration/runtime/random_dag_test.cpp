// Random task graphs with all intents on the host and two simulated devices against a sequential oracle.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "machines.hpp"

namespace tessera {
namespace {

std::uint64_t number_from(const char* name, std::uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t slow_down = 10;
#else
constexpr std::uint64_t slow_down = 1;
#endif

struct setting {
  const char* name;
  int devices;
  const char* memory;
  bool peer;
  const char* placement;
  std::uint64_t tasks;
  int blocks;
};
void PrintTo(const setting& s, std::ostream* out) { *out << s.name; }

class random_dag : public ::testing::TestWithParam<setting> {};

TEST_P(random_dag, agrees_with_a_sequential_oracle) {
  const setting& s = GetParam();
  const std::uint64_t tasks = number_from("TESSERA_DAG_TASKS", s.tasks) / slow_down;
  const std::uint64_t seed = number_from("TESSERA_SEED", std::random_device{}());
  std::printf("seed %llu (TESSERA_SEED), %llu tasks\n", static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(tasks));
  std::mt19937_64 random(seed);
  const auto pick = [&](int below) { return static_cast<int>(random() % static_cast<std::uint64_t>(below)); };

  const std::string placement = "placement = \"" + std::string(s.placement) + "\"\n";
  runtime rt(s.devices == 0 ? testing::machine_of("plugins = [\"host\"]\n" + placement)
                            : testing::with_sims(s.devices, s.memory, s.peer, 2, placement));
  constexpr std::int64_t extent = 32;
  auto a = rt.make_array<double>("a", {s.blocks * extent}, {extent});
  auto spare = rt.make_array<double>("spare", {8 * extent}, {extent});  // for the scratch intent
  std::vector<double> oracle(static_cast<std::size_t>(s.blocks));
  for (int k = 0; k < s.blocks; ++k) {
    fill(rt, a(k), double(k));
    oracle[static_cast<std::size_t>(k)] = k;
  }
  const auto value = [&](int k) -> double& { return oracle[static_cast<std::size_t>(k)]; };

  for (std::uint64_t t = 0; t < tasks; ++t) {
    const int x = pick(s.blocks), y = (x + 1 + pick(s.blocks - 1)) % s.blocks;
    int z = pick(s.blocks);
    while (z == x || z == y) z = (z + 1) % s.blocks;
    const task_options options{.priority = static_cast<std::int16_t>(pick(8) == 0 ? pick(3) : 0),
                               .at = pick(20) == 0 ? rt.tree().root() : location::no_node};
    switch (pick(11)) {
      case 0: fill(rt, a(x), double(t % 17), options); value(x) = double(t % 17); break;
      case 1: scal(rt, 0.5, a(x), options); value(x) *= 0.5; break;
      case 2: case 3: axpy(rt, 0.5, a(x), a(y), options); value(y) += 0.5 * value(x); break;
      case 4: case 5: case 6: axpy_accumulate(rt, 0.25, a(x), a(y), options); value(y) += 0.25 * value(x); break;
      case 7:
        rt.submit("mix", [](view<const double> p, view<const double> q, view<double> r) {
          for (std::int64_t i = 0; i < r.size(); ++i) r[i] = p[i] - 0.5 * q[i];
        }, read(a(x)), read(a(y)), write(a(z)));
        value(z) = value(x) - 0.5 * value(y);
        break;
      case 8:
        rt.submit("fold", [](view<double> p, view<double> room) {
          for (std::int64_t i = 0; i < p.size(); ++i) room[i] = std::fmod(p[i], 1000.0);
          for (std::int64_t i = 0; i < p.size(); ++i) p[i] = room[i] + 1;
        }, update(a(x)), scratch(spare(pick(8))));
        value(x) = std::fmod(value(x), 1000.0) + 1;
        break;
      case 9:
        rt.submit("add", [](view<const double> p, view<double> sum) {
          for (std::int64_t i = 0; i < p.size(); ++i) sum[i] += 0.125 * p[i];
        }, read(a(x)), accumulate(a(y)));
        value(y) += 0.125 * value(x);
        break;
      default:  // five blocks: more than a record holds inline
        rt.submit("five", [](view<const double> p, view<const double> q, view<const double> r, view<const double> p2, view<double> o) {
          for (std::int64_t i = 0; i < o.size(); ++i) o[i] = 0.25 * (p[i] + q[i]) + 0.125 * (r[i] + p2[i]);
        }, read(a(x)), read(a(y)), read(a(x)), read(a(y)), write(a(z)));
        value(z) = 0.25 * (value(x) + value(y)) + 0.125 * (value(x) + value(y));
        break;
    }
    if (pick(5000) == 0) {  // the program looks at a block in the middle
      const auto seen = a.read_host(a(x));
      EXPECT_NEAR(seen[extent - 1], value(x), 1e-9 * (1 + std::abs(value(x))));
    }
  }
  rt.fence();
  for (int k = 0; k < s.blocks; ++k) {
    const auto seen = a.read_host(a(k));
    for (const double v : seen) ASSERT_NEAR(v, value(k), 1e-9 * (1 + std::abs(value(k)))) << "block " << k;
  }
  const statistics after = rt.statistics();
  EXPECT_GE(after.tasks_retired, tasks);
  if (s.devices > 0) {
    EXPECT_GT(after.bytes_transferred(), 0u) << "nothing ran on the devices: the test tests nothing";
    EXPECT_GT(after.coherence.saved_fetches, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    machines, random_dag,
    ::testing::Values(setting{"host", 0, "", false, "locality", 100'000, 1000},
                      setting{"two_devices", 2, "64 MiB", true, "locality", 100'000, 1000},
                      setting{"two_devices_without_link", 2, "64 MiB", false, "eager", 20'000, 200},
                      setting{"tight_memory", 2, "96 KiB", true, "locality", 20'000, 100},
                      setting{"tight_memory_eager", 2, "64 KiB", false, "eager", 10'000, 60},
                      setting{"pinned", 1, "1 MiB", false, "pinned", 10'000, 100}),
    [](const auto& parameters) { return std::string(parameters.param.name); });

}  // namespace
}  // namespace tessera
