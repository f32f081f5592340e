// An exception that comes out of an entry of a plugin ends no process: what it was called for fails, or goes another way.
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

class escaping : public ::testing::TestWithParam<escape> {};

TEST_P(escaping, exceptions_are_failures_that_name_the_entry_or_cost_nothing) {
  const auto [entry, at, fatal] = GetParam();
  const testing::deadline limit(entry);
  const std::string sims = "[[plugin.sim.device]]\nmemory = \"64 KiB\"\n[[plugin.sim.device]]\nmemory = \"1 MiB\"\n";
  std::string told;
  try {
    runtime rt(testing::machine_of("plugin_path = [\"" TESSERA_PLUGIN_DIR "\", \"" TESSERA_BINARY_DIR "/tests/plugins\"]\n"
                                   "plugins = [\"host\", \"sim\"]\nlayers = [\"escaping:sim\"]\nhistory = \"off\"\n"
                                   "[memory]\nslab_bytes = \"64 KiB\"\nstaging_bytes = \"64 KiB\"\n[plugin.escaping]\nout_of = \"" +
                                   std::string(entry) + "\"\nat = " + std::to_string(at) + "\n[plugin.sim]\nclock = \"real\"\n" + sims));
    testing::random_blocks program(rt, 24, 512);
    testing::run_random(program, 7, 300);
    rt.fence();
    program.check_all();
  } catch (const error& e) {
    told = e.what();
  }
  EXPECT_FALSE(fatal && told.empty());
  EXPECT_THAT(told, ::testing::AnyOf("", HasSubstr("threw a C++ exception out of " + std::string(entry) + ": forty-two is not a prime")));
}

INSTANTIATE_TEST_SUITE_P(sim, escaping,
                         ::testing::Values(escape{"link", 1, false}, escape{"mem_alloc", 1, false}, escape{"mem_alloc", 3, false}, escape{"mem_free", 1, false},
                                           escape{"stream_create", 1, true}, escape{"stream_destroy", 1, false}, escape{"stream_signal", 5, false},
                                           escape{"stream_progress", 5, false}, escape{"stream_wait", 3, false}, escape{"stream_callback", 4, false},
                                           escape{"copy", 1, false}, escape{"copy", 20, false}, escape{"fill", 1, false}, escape{"host_register", 1, false}),
                         [](const auto& test) { return std::string(test.param.entry) + "_" + std::to_string(test.param.at); });

}  // namespace
}  // namespace tessera
