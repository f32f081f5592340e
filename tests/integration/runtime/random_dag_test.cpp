// Random task graphs with all intents on the host and two simulated devices against a sequential oracle.
#include <gtest/gtest.h>

#include "machines.hpp"
#include "tests/support/random_program.hpp"

namespace tessera {
namespace {

using testing::random_setting;

class random_dag : public ::testing::TestWithParam<random_setting> {};

TEST_P(random_dag, agrees_with_a_sequential_oracle) {
  const random_setting& s = GetParam();
  const std::uint64_t tasks = testing::number_from("TESSERA_DAG_TASKS", s.tasks) / testing::slow_down;
  std::mt19937_64 random = testing::seeded_random();
  runtime rt(s.make());
  testing::random_blocks on(rt, s.blocks, s.extent());
  for (std::uint64_t k = 0; k < tasks; ++k) {
    on.run(on.any_task(random));
    if (random() % 5000 == 0) {  // the program looks at a block in the middle
      ASSERT_NO_FATAL_FAILURE(on.check_any(random));
    }
  }
  rt.fence();
  ASSERT_NO_FATAL_FAILURE(on.check_all());
  const statistics after = rt.statistics();
  EXPECT_GE(after.tasks_retired, tasks);
  if (s.spills()) {
    EXPECT_GT(after.coherence.written_back, 0u) << "nothing was spilled: the test tests nothing";
  }
  if (s.devices > 0) {
    EXPECT_GT(after.bytes_transferred(), 0u) << "nothing ran on the devices: the test tests nothing";
    EXPECT_GT(after.coherence.saved_fetches, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(
    machines, random_dag,
    ::testing::Values(
        random_setting{"host", 0, "", false, "locality", 100'000, 1000},
        random_setting{"two_devices", 2, "64 MiB", true, "locality", 100'000, 1000},
        random_setting{"two_devices_without_link", 2, "64 MiB", false, "eager", 20'000, 200},
        random_setting{"tight_memory", 2, "96 KiB", true, "locality", 20'000, 100},
        random_setting{"tight_memory_much_ahead", 2, "96 KiB", true, "locality", 10'000, 100,
                       "[memory]\nwrite_ahead = 40\n"},
        random_setting{"tight_memory_eager", 2, "64 KiB", false, "eager", 10'000, 60},
        random_setting{"tight_memory_lru", 2, "96 KiB", true, "locality", 10'000, 100,
                       "[memory]\neviction = \"lru\"\n"},
        random_setting{"tight_memory_fifo", 2, "96 KiB", true, "locality", 10'000, 100,
                       "[memory]\neviction = \"fifo\"\n"},
        random_setting{"host_spills_to_disk", 0, "", false, "locality", 5'000, 100,
                       "[memory]\nhost_limit = \"64 KiB\"\nslab_bytes = \"64 KiB\"\n"},
        random_setting{"small_blocks_spill_to_disk", 0, "", false, "locality", 5'000, 400,
                       "[memory]\nhost_limit = \"64 KiB\"\nslab_bytes = \"64 KiB\"\n", "", 40},
        random_setting{"three_tiers", 1, "16 KiB", false, "locality", 5'000, 200,
                       "[memory]\nhost_limit = \"64 KiB\"\nslab_bytes = \"64 KiB\"\nstaging_bytes = \"64 KiB\"\n"},
        random_setting{"three_tiers_much_ahead", 1, "16 KiB", false, "locality", 5'000, 200,
                       "[memory]\nwrite_ahead = 50\nhost_limit = \"64 KiB\"\nslab_bytes = \"64 KiB\"\nstaging_bytes = "
                       "\"64 KiB\"\n"},
        random_setting{"three_tiers_four_devices", 4, "4 KiB", false, "eager", 3'000, 400,
                       "[memory]\nhost_limit = \"320 KiB\"\nslab_bytes = \"64 KiB\"\nstaging_bytes = \"64 KiB\"\n"},
        random_setting{"three_tiers_lru", 2, "8 KiB", false, "eager", 3'000, 400,
                       "[memory]\neviction = \"lru\"\nhost_limit = \"192 KiB\"\nslab_bytes = \"64 KiB\"\nstaging_bytes "
                       "= \"64 KiB\"\n"},
        random_setting{"cost", 2, "64 MiB", true, "cost", 100'000, 1000},
        random_setting{"tight_memory_cost", 2, "64 KiB", false, "cost", 10'000, 60},
        random_setting{"deterministic", 2, "96 KiB", true, "eager", 10'000, 100, "deterministic = true\n"},
        random_setting{"deterministic_few_blocks", 0, "", false, "locality", 10'000, 5, "deterministic = true\n"},
        random_setting{"pinned", 1, "1 MiB", false, "pinned", 10'000, 100},
        random_setting{"two_hosts", 0, "", false, "locality", 50'000, 500, "", "", 0, 2},
        random_setting{"two_hosts_eager", 0, "", false, "eager", 20'000, 100, "", "", 0, 2},
        random_setting{"two_hosts_deterministic", 0, "", false, "eager", 10'000, 100, "deterministic = true\n", "", 0,
                       2},
        random_setting{"two_hosts_spill_to_disk", 0, "", false, "eager", 5'000, 100,
                       "[memory]\nhost_limit = \"64 KiB\"\nslab_bytes = \"64 KiB\"\n", "", 0, 2},
        random_setting{"two_hosts_two_devices", 2, "96 KiB", true, "eager", 10'000, 100, "", "", 0, 2},
        random_setting{"two_hosts_emulated_gpus", 2, "64 MiB", true, "eager", 5'000, 100, "", "cuda_emulated", 0, 2},
        random_setting{"emulated_gpus", 2, "64 MiB", true, "eager", 10'000, 200, "", "cuda_emulated"},
        random_setting{"emulated_gpus_without_link", 3, "96 KiB", false, "locality", 5'000, 100, "", "cuda_emulated"},
        random_setting{"managed_memory", 2, "64 MiB", true, "eager", 10'000, 200, "", "cuda_emulated", 0, 1,
                       "memory = \"managed\"\n"},
        random_setting{"tight_managed_memory", 2, "96 KiB", true, "eager", 5'000, 100, "", "cuda_emulated", 0, 1,
                       "memory = \"managed\"\n"},
        random_setting{"hip_emulated_gpus", 2, "96 KiB", true, "eager", 5'000, 200, "", "hip_emulated"}),
    [](const auto& parameters) { return std::string(parameters.param.name); });

#if defined(TESSERA_TEST_OPENCL)
INSTANTIATE_TEST_SUITE_P(
    opencl, random_dag,
    ::testing::Values(random_setting{"opencl", 1, "64 MiB", false, "eager", 20'000, 200, "", "opencl"},
                      random_setting{"opencl_tight_memory", 1, "96 KiB", false, "locality", 10'000, 100, "", "opencl"}),
    [](const auto& parameters) { return std::string(parameters.param.name); });
#endif

// 10^6 tasks on 10^4 blocks of which host memory holds two fifths and the device a tenth. Takes minutes: see
// CMakeLists.txt.
std::string two_fifths(const char* eviction) {
  return std::string("[memory]\neviction = \"") + eviction +
         "\"\nhost_limit = \"1 MiB\"\nslab_bytes = \"64 KiB\"\nstaging_bytes = \"64 KiB\"\n";
}
const std::string next_use = two_fifths("next_use"), lru = two_fifths("lru"), fifo = two_fifths("fifo");

INSTANTIATE_TEST_SUITE_P(
    DISABLED_million, random_dag,
    ::testing::Values(random_setting{"next_use", 1, "256 KiB", false, "locality", 1'000'000, 10'000, next_use.c_str()},
                      random_setting{"lru", 1, "256 KiB", false, "locality", 1'000'000, 10'000, lru.c_str()},
                      random_setting{"fifo", 1, "256 KiB", false, "locality", 1'000'000, 10'000, fifo.c_str()},
                      random_setting{"eager", 1, "256 KiB", false, "eager", 1'000'000, 10'000, next_use.c_str()},
                      random_setting{"cost", 1, "256 KiB", false, "cost", 1'000'000, 10'000, next_use.c_str()}),
    [](const auto& parameters) { return std::string(parameters.param.name); });

}  // namespace
}  // namespace tessera
