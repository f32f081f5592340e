// What a device says of its limits is kept to: it is never asked for more.
#include <gtest/gtest.h>

#include "tests/integration/faults/faulty.hpp"
#include "tests/integration/runtime/machines.hpp"

namespace tessera {
namespace {

/// Two simulated devices that refuse what is beyond the limits that they state; copies between them go through the
/// host, or over a link.
machine limited(const std::string& limits, const std::string& memory, bool link) {
  std::string tables =
      "[memory]\nslab_bytes = \"256 KiB\"\nstaging_bytes = \"64 KiB\"\n[plugin.sim]\nclock = \"real\"\n";
  for (int k = 0; k < 2; ++k) tables += "[[plugin.sim.device]]\nmemory = \"" + memory + "\"\n" + limits;
  if (link) tables += "[[plugin.sim.link]]\nfrom = 0\nto = 1\n[[plugin.sim.link]]\nfrom = 1\nto = 0\n";
  return testing::machine_of("plugins = [\"host\", \"sim\"]\nhistory = \"off\"\n" + tables);
}

struct limit {
  const char *name, *keys;
  std::int64_t elements;  ///< of a block
};
void PrintTo(const limit& l, std::ostream* to) { *to << l.name; }

class limits : public ::testing::TestWithParam<std::tuple<limit, bool>> {};

TEST_P(limits, that_a_device_states_cost_no_result) {
  const auto& [stated, link] = GetParam();
  const std::uint64_t seed = testing::number_from("TESSERA_SEED", std::random_device{}());
  SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed));
  runtime rt(limited(stated.keys, "512 KiB", link));
  testing::random_blocks program(rt, 24, stated.elements);
  testing::run_random(program, seed, 200);
  rt.fence();
  program.check_all();
}

INSTANTIATE_TEST_SUITE_P(
    sim, limits,
    ::testing::Combine(
        ::testing::Values(limit{"copies_of_a_page_and_some", "max_copy = 5000\n", 4096},
                          limit{"copies_below_a_page", "max_copy = 1000\n", 512},
                          limit{"copies_as_large_as_blocks", "max_copy = 32768\n", 4096},
                          limit{"allocations", "max_allocation = \"40 KiB\"\n", 4096},
                          limit{"one_stream", "max_streams = 1\n", 512}, limit{"two_streams", "max_streams = 2\n", 512},
                          limit{"three_streams", "max_streams = 3\n", 512},
                          limit{"all", "max_copy = 5000\nmax_allocation = \"40 KiB\"\nmax_streams = 1\n", 4096}),
        ::testing::Bool()),
    [](const auto& test) {
      return std::string(std::get<0>(test.param).name) + (std::get<1>(test.param) ? "_linked" : "");
    });

TEST(limits, a_block_larger_than_an_allocation_stays_where_it_fits) {
  runtime rt(limited("max_allocation = \"40 KiB\"\n", "512 KiB", false));
  auto a = rt.make_array<double>("a", {2 * 8192}, {8192});  // blocks of 64 KiB
  for (int k = 0; k < 2; ++k) fill(rt, a(k), 1.0 + k, {.at = rt.at("sim0")});
  axpy(rt, 2.0, a(0), a(1), {.at = rt.at("sim0")});
  rt.fence();
  EXPECT_EQ(a.read_host(a(1))[8191], 4.0);
  for (const auto& space : rt.statistics().spaces)
    EXPECT_TRUE(space.name.starts_with("host:") || space.statistics.peak_bytes == 0) << space.name;
}

}  // namespace
}  // namespace tessera
