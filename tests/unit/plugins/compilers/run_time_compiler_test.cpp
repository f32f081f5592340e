// NVRTC and hiprtc, which need no device to compile. Skipped where they are not installed.
#include "plugins/gpu_common/libraries/run_time_compiler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "plugins/kit/jit/kernel_text.hpp"

namespace tessera::gpu {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct vendor {
  const char* name;
  const compiler_dialect& dialect;
  const char *folder, *architecture, *begins;
};
void PrintTo(const vendor& one, std::ostream* to) { *to << one.name; }

class run_time_compiler_test : public testing::TestWithParam<vendor> {
 protected:
  run_time_compiler_test() {
    m_host.struct_size = sizeof m_host;
    m_host.context = this;
    m_host.error = [](void* self, tsr_status, const char* text) {
      static_cast<run_time_compiler_test*>(self)->m_said = text;
    };
  }
  tsr_status compile(const char* text, const char* options = "", const char* architecture = nullptr) {
    m_said.clear();
    return m_compiler.compile(m_report, kit::gpu_source(text), options,
                              architecture != nullptr ? architecture : GetParam().architecture, m_image);
  }
  const run_time_compiler m_compiler{GetParam().dialect, {GetParam().folder, true}};
  tsr_host m_host{};
  const kit::reporter m_report{&m_host};
  std::string m_said, m_image;
};

TEST_P(run_time_compiler_test, compiles_tessera_c) {
  if (!m_compiler) GTEST_SKIP() << m_compiler.complaint();
  EXPECT_THAT(m_compiler.identity(), StartsWith(GetParam().dialect.name));
  ASSERT_EQ(compile(R"(
FUNCTION void halve(LOCAL double* part, int width) {
  if (THREAD_X < width) part[THREAD_X] += part[THREAD_X + width];
}
KERNEL void sums(GLOBAL const double* RESTRICT x, GLOBAL double* out, long n, GLOBAL int* count) {
  LOCAL_ARRAY(double, part, MOST);
  part[THREAD_X] = INDEX_X < n ? sqrt(fabs(x[INDEX_X])) : 0;
  BARRIER;
  for (int width = THREADS_X / 2; width > 0; width /= 2) {
    halve(part, width);
    BARRIER;
  }
  if (THREAD_X == 0 && GROUP_Y == 0 && THREADS_Z == 1) out[GROUP_X] = part[0];
  ATOMIC_ADD(count, 1);
})",
                    "-DMOST=256"),
            TSR_OK)
      << m_said;
  EXPECT_THAT(m_image, HasSubstr(GetParam().begins));
  EXPECT_THAT(m_image, HasSubstr("sums")) << "by its own name";
}

TEST_P(run_time_compiler_test, names_the_line) {
  if (!m_compiler) GTEST_SKIP() << m_compiler.complaint();
  EXPECT_EQ(compile("KERNEL void f(GLOBAL int* x) {\n  x[0] = 1;\n  x[1] = undeclared;\n}\n"), TSR_INVALID_ARGUMENT);
  EXPECT_THAT(m_said, HasSubstr("kernel:3:"));
  EXPECT_THAT(m_said, HasSubstr("undeclared"));
  EXPECT_EQ(compile("#line 41 \"solver.txt\"\nKERNEL void f(int n) {\n  n = +;\n}\n"), TSR_INVALID_ARGUMENT);
  EXPECT_THAT(m_said, HasSubstr("solver.txt:42:"));
}

TEST_P(run_time_compiler_test, refuses_architectures_and_options_that_it_does_not_know) {
  if (!m_compiler) GTEST_SKIP() << m_compiler.complaint();
  EXPECT_EQ(compile("KERNEL void f(int n) {}", "--no-such-option-anywhere"), TSR_INVALID_ARGUMENT);
  EXPECT_NE(m_said, "");
  if (!GetParam().dialect.checks_options) return;  // it would end the process
  EXPECT_EQ(compile("KERNEL void f(int n) {}", "", "nothing_12"), TSR_INVALID_ARGUMENT);
  EXPECT_NE(m_said, "");
}

TEST_P(run_time_compiler_test, says_that_it_is_missing) {
  const run_time_compiler missing(GetParam().dialect, {"/nonexistent", false});
  EXPECT_FALSE(missing);
  EXPECT_THAT(missing.complaint(), StartsWith(GetParam().dialect.name));
}

INSTANTIATE_TEST_SUITE_P(vendors, run_time_compiler_test,
                         testing::Values(vendor{"nvidia", nvidia_compiler, "/usr/local/cuda/lib64", "sm_90", "ELF"},
                                         vendor{"amd", amd_compiler, "", "gfx90a", "ELF"}),
                         [](const auto& which) { return std::string(which.param.name); });

}  // namespace
}  // namespace tessera::gpu
