// Random task graphs with all intents on the host and two simulated devices against a sequential oracle.
#include <gtest/gtest.h>

#include "machines.hpp"
#include "random_program.hpp"

namespace tessera {
namespace {

struct setting {
  const char* name;
  int devices;
  const char* memory;
  bool peer;
  const char* placement;
  std::uint64_t tasks;
  int blocks;
  const char* memory_table = "";  ///< [memory]; with a host_limit, what does not fit goes to the disk plugin
};
void PrintTo(const setting& s, std::ostream* out) { *out << s.name; }

class random_dag : public ::testing::TestWithParam<setting> {};

TEST_P(random_dag, agrees_with_a_sequential_oracle) {
  const setting& s = GetParam();
  const std::uint64_t tasks = testing::number_from("TESSERA_DAG_TASKS", s.tasks) / testing::slow_down;
  std::mt19937_64 random = testing::seeded_random();

  const std::string placement = "placement = \"" + std::string(s.placement) + "\"\nhistory = \"off\"\n";
  const std::string memory = s.memory_table;
  const bool spills = memory.find("host_limit") != std::string::npos;
  runtime rt(s.devices == 0 ? testing::machine_of(std::string("plugins = [\"host\"") + (spills ? ", \"disk\"" : "") + "]\n" + placement + memory)
                            : testing::with_sims(s.devices, s.memory, s.peer, 2, placement, spills ? ", \"disk\"" : "", memory));
  constexpr std::int64_t extent = 32;
  auto a = rt.make_array<double>("a", {s.blocks * extent}, {extent});
  auto spare = rt.make_array<double>("spare", {8 * extent}, {extent});  // for the scratch intent
  std::vector<double> oracle(static_cast<std::size_t>(s.blocks));
  for (int k = 0; k < s.blocks; ++k) {
    fill(rt, a(k), double(k));
    oracle[static_cast<std::size_t>(k)] = k;
  }
  for (std::uint64_t k = 0; k < tasks; ++k) {
    const testing::random_task t = testing::random_task_on(s.blocks, random);
    testing::submit(rt, a, spare, t);
    testing::apply(t, oracle);
    if (random() % 5000 == 0) {  // the program looks at a block in the middle
      const double expected = oracle[static_cast<std::size_t>(t.x)];
      EXPECT_NEAR(a.read_host(a(t.x))[extent - 1], expected, 1e-9 * (1 + std::abs(expected)));
    }
  }
  rt.fence();
  for (int k = 0; k < s.blocks; ++k) {
    const auto seen = a.read_host(a(k));
    const double expected = oracle[static_cast<std::size_t>(k)];
    for (const double v : seen) ASSERT_NEAR(v, expected, 1e-9 * (1 + std::abs(expected))) << "block " << k;
  }
  const statistics after = rt.statistics();
  EXPECT_GE(after.tasks_retired, tasks);
  if (spills) {
    EXPECT_GT(after.coherence.written_back, 0u) << "nothing was spilled: the test tests nothing";
  }
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
                      setting{"tight_memory_lru", 2, "96 KiB", true, "locality", 10'000, 100, "[memory]\neviction = \"lru\"\n"},
                      setting{"tight_memory_fifo", 2, "96 KiB", true, "locality", 10'000, 100, "[memory]\neviction = \"fifo\"\n"},
                      setting{"host_spills_to_disk", 0, "", false, "locality", 5'000, 100,
                              "[memory]\nhost_limit = \"64 KiB\"\nslab_bytes = \"64 KiB\"\n"},
                      setting{"three_tiers", 1, "16 KiB", false, "locality", 5'000, 200,
                              "[memory]\nhost_limit = \"64 KiB\"\nslab_bytes = \"64 KiB\"\nstaging_bytes = \"64 KiB\"\n"},
                      setting{"cost", 2, "64 MiB", true, "cost", 100'000, 1000},
                      setting{"tight_memory_cost", 2, "64 KiB", false, "cost", 10'000, 60},
                      setting{"deterministic", 2, "96 KiB", true, "eager", 10'000, 100, "deterministic = true\n"},
                      setting{"deterministic_few_blocks", 0, "", false, "locality", 10'000, 5, "deterministic = true\n"},
                      setting{"pinned", 1, "1 MiB", false, "pinned", 10'000, 100}),
    [](const auto& parameters) { return std::string(parameters.param.name); });

}  // namespace
}  // namespace tessera
