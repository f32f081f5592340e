// A process has the threads of its runtime and no others: a library's own pool would take processors from the workers.
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>

#include "integration/runtime/machines.hpp"

namespace tessera {
namespace {

std::ptrdiff_t threads_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

class threads : public ::testing::TestWithParam<unsigned> {};

TEST_P(threads, are_the_workers_alone) {
  const unsigned workers = GetParam();
  runtime rt(testing::host_only(workers));
  auto a = rt.make_matrix<double>("a", {400, 400}, {200, 200}), c = rt.make_matrix<double>("c", {400, 400}, {200, 200});
  for (const auto& block : {a(0, 0), a(0, 1), a(1, 0), a(1, 1)})
    rt.submit(
        "fill",
        [](matrix_view<double> v) {
          for (double& x : v) x = 0.5;
        },
        write(block));
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 2; ++j)
      for (std::int64_t k = 0; k < 2; ++k)
        gemm(rt, 1.0, a(i, k), transpose::no, a(k, j), transpose::no, k == 0 ? 0.0 : 1.0, c(i, j));
  rt.fence();
  EXPECT_EQ(c(1, 1).read()[0], 100.0);
  EXPECT_EQ(threads_of_this_process(), static_cast<std::ptrdiff_t>(workers));
}

INSTANTIATE_TEST_SUITE_P(workers, threads, ::testing::Values(1u, 2u, 5u));

}  // namespace
}  // namespace tessera
