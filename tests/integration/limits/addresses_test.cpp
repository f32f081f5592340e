// Limits of addresses (ulimit -v), under which libraries may hang or fail where they cannot say so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/limits/limited.hpp"

namespace limits_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(addresses, too_few_for_blas_are_refused_with_what_is_needed) {
  // How much of the limit the libraries take themselves differs between systems: with more, the threads are what is
  // refused.
  int refused = 0;
  for (const char* limit : {"ulimit -v 130000", "ulimit -v 150000", "ulimit -v 170000", "ulimit -v 200000"}) {
    const outcome ended = run_behind(limit, "gemm --n 1000 --quiet");
    EXPECT_THAT(ended.text, HasSubstr("ulimit -v")) << limit << ": " << ended.code;
    const bool by_blas = ended.code == 5;
    refused += by_blas ? 1 : 0;
    EXPECT_THAT(ended.text, HasSubstr(by_blas ? "OpenBLAS needs 128 MiB of addresses for a buffer"
                                              : "the system refuses another thread"))
        << limit;
  }
  EXPECT_GT(refused, 0);
}

TEST(addresses, a_limit_of_data_is_one_too) {
  const outcome refused = run_behind("ulimit -d 100000", "gemm --n 1000 --quiet");
  EXPECT_EQ(refused.code, 5) << refused.text;
  EXPECT_THAT(refused.text,
              AllOf(HasSubstr("OpenBLAS needs 128 MiB of addresses for a buffer"), HasSubstr("ulimit -d")));
  const outcome ended = run_behind(
      "ulimit -d 500000",
      "gemm --n 3000 --tile 300 --quiet --set runtime.plugins=host,disk --set plugin.disk.capacity=\"2 GiB\"");
  EXPECT_EQ(ended.code, 0) << ended.text;
}

TEST(addresses, with_few_a_run_ends) {
  // Where one buffer is had, calls of BLAS take turns. What is left may not do for the blocks: that is an error of
  // memory, and nothing hangs.
  for (const char* limit : {"ulimit -v 300000", "ulimit -v 400000", "ulimit -v 500000", "ulimit -v 700000"})
    for (const char* job : {"gemm --n 1000 --quiet", "cholesky --n 3000 --quiet --workers 4"}) {
      const outcome ended = run_behind(limit, job);
      EXPECT_THAT(ended.code, ::testing::AnyOf(0, 5, 7)) << limit << ", " << job << ": " << ended.text;
    }
}

TEST(addresses, few_are_enough_for_an_eigenproblem_of_sial_or_are_refused) {
  // Every worker solves it, through the LAPACK that the host plugin loads as well.
  const std::string program = TESSERA_SOURCE_DIR "/tests/integration/limits/eigenproblem";
  const std::string job = "sial run " + program + ".sialx --init " + program + ".toml --progress never --workers 4";
  const outcome free = run_behind("true", job);
  EXPECT_EQ(free.code, 0) << free.text;
  EXPECT_THAT(free.text, HasSubstr("= 90000"));
  int solved = 0, refused = 0;
  for (const char* limit : {"ulimit -v 260000", "ulimit -v 300000", "ulimit -v 500000", "ulimit -v 900000"}) {
    const outcome ended = run_behind(limit, job);
    EXPECT_THAT(ended.code, ::testing::AnyOf(0, 5, 7, 8)) << limit << ": " << ended.text;
    if (ended.code == 0) {
      EXPECT_THAT(ended.text, HasSubstr("= 90000")) << limit;
      ++solved;
    } else {
      EXPECT_THAT(ended.text, HasSubstr("ulimit -v")) << limit << ": " << ended.code;
      ++refused;
    }
  }
  EXPECT_GT(solved, 0);
  EXPECT_GT(refused, 0);
}

TEST(addresses, a_job_that_does_not_fit_spills) {
  // Three matrices of 128 MB.
  const outcome ended = run_behind(
      "ulimit -v 700000",
      "gemm --n 4000 --tile 400 --quiet --stats --set runtime.plugins=host,disk --set plugin.disk.capacity=\"2 GiB\"");
  EXPECT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text, AllOf(HasSubstr(" written back"), Not(HasSubstr(" 0 written back")))) << ended.text;
  EXPECT_THAT(run_behind("ulimit -v 700000", "topology").text,
              HasSubstr("bounded by addresses of this process (ulimit -v)"));
}

TEST(addresses, simulated_devices_take_buffers_of_their_own) {
  const outcome ended = run_behind(
      "ulimit -v 1400000",
      "gemm --n 1500 --tile 150 --workers 3 --quiet --set runtime.plugins=host,sim --set runtime.placement=eager "
      "--set plugin.sim.device[0].memory=\"64 MiB\" --set plugin.sim.device[0].flops=\"20 GFLOP/s\"");
  EXPECT_EQ(ended.code, 0) << ended.text;
}

}  // namespace
}  // namespace limits_test
