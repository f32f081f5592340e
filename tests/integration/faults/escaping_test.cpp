// An exception that comes out of an entry of a plugin ends no process: what it was called for fails, or goes another
// way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "tests/integration/faults/faulty.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;

struct escape {
  const char* entry;
  int at;
  bool fatal;  ///< no program can run without what was called
};
void PrintTo(const escape& e, std::ostream* to) { *to << e.entry << " at call " << e.at; }

machine throwing_out_of(const char* entry, int at) {
  const std::string sims = "[[plugin.sim.device]]\nmemory = \"64 KiB\"\n[[plugin.sim.device]]\nmemory = \"1 MiB\"\n";
  return testing::machine_of(
      "plugin_path = [\"" TESSERA_PLUGIN_DIR "\", \"" TESSERA_BINARY_DIR
      "/tests/plugins\"]\n"
      "plugins = [\"host\", \"sim\"]\nlayers = [\"escaping:sim\"]\nhistory = \"off\"\n"
      "[memory]\nslab_bytes = \"64 KiB\"\nstaging_bytes = \"64 KiB\"\n[plugin.escaping]\nout_of = \"" +
      std::string(entry) + "\"\nat = " + std::to_string(at) + "\n[plugin.sim]\nclock = \"real\"\n" + sims);
}

class escaping : public ::testing::TestWithParam<escape> {};

TEST_P(escaping, exceptions_are_failures_that_name_the_entry_or_cost_nothing) {
  const auto [entry, at, fatal] = GetParam();
  const testing::deadline limit(entry);
  std::string told;
  try {
    runtime rt(throwing_out_of(entry, at));
    testing::random_blocks program(rt, 24, 512);
    testing::run_random(program, 7, 300);
    rt.fence();
    program.check_all();
  } catch (const error& e) {
    told = e.what();
  }
  EXPECT_FALSE(fatal && told.empty());
  EXPECT_THAT(told, ::testing::AnyOf("", HasSubstr("threw a C++ exception out of " + std::string(entry) +
                                                   ": forty-two is not a prime")));
}

INSTANTIATE_TEST_SUITE_P(
    sim, escaping,
    ::testing::Values(escape{"link", 1, false}, escape{"mem_alloc", 1, false}, escape{"mem_alloc", 3, false},
                      escape{"mem_free", 1, false}, escape{"stream_create", 1, true},
                      escape{"stream_destroy", 1, false}, escape{"stream_signal", 5, false},
                      escape{"stream_progress", 5, false}, escape{"stream_wait", 3, false},
                      escape{"stream_callback", 4, false}, escape{"copy", 1, false}, escape{"copy", 20, false},
                      escape{"fill", 1, false}, escape{"host_register", 1, false}, escape{"thread_attach", 1, false},
                      escape{"thread_attach", 2, false}, escape{"supports", 1, false}, escape{"supports", 4, false}),
    [](const auto& test) { return std::string(test.param.entry) + "_" + std::to_string(test.param.at); });

TEST(escaping_workspace, costs_no_result) {
  const testing::deadline limit("workspace");
  runtime rt(throwing_out_of("workspace", 1));
  auto a = rt.make_array<double>("a", {16, 48}, {16, 16});
  for (int k = 0; k < 3; ++k) fill(rt, a(0, k), k + 1.0);
  contract(rt, 1.0, a(0, 0), "ik", a(0, 1), "kj", 0.0, a(0, 2), "ij", {.at = rt.at("sim1")});
  rt.fence();
  EXPECT_EQ(a.read_host(a(0, 2))[255], 32.0);
}

TEST(escaping_health, refuses_the_device_that_comes_back) {
  const testing::deadline limit("health");
  runtime rt(throwing_out_of("health", 1));
  rt.detach("sim1");
  try {
    rt.attach("sim1");
    FAIL() << "health was not asked";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr("threw a C++ exception out of health: forty-two is not a prime"));
  }
  EXPECT_NO_THROW(rt.attach("sim1")) << "the second question is answered";
}

TEST(escaping_graph_destroy, ends_no_process) {
  const testing::deadline limit("destroy of a graph");
  runtime rt(throwing_out_of("graph_destroy", 1));
  auto a = rt.make_array<double>("a", {32}, {16});
  const task_options there{.at = rt.at("sim1")};
  fill(rt, a(0), 3.0, there);
  fill(rt, a(1), 1.0, there);
  recording step = rt.record([&] {
    for (int k = 0; k < 4; ++k) axpy(rt, 0.5, a(0), a(1), there);
  });
  for (int k = 0; k < 4; ++k) {
    rt.replay(step);
    rt.fence();
  }
  EXPECT_EQ(a.read_host(a(1))[15], 25.0);
  EXPECT_GE(rt.statistics().graphs.captured, 1u) << "nothing was to be destroyed";
}

}  // namespace
}  // namespace tessera
