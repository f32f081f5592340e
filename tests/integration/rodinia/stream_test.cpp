// The loops of STREAM: closed forms under all settings.
#include <cmath>
#include <limits>

#include "apps/stream/kernels.hpp"
#include "tests/integration/rodinia/settings.hpp"

namespace tessera::testing {
namespace {

INSTANTIATE_TEST_SUITE_P(all, rodinia, ::testing::ValuesIn(rodinia_settings), name_of_rodinia);

constexpr std::int64_t stream_elements = 10'007;

/// The mean relative error is at most a hundred roundings.
template <class T>
void expect_elements(const array<T>& x, double expected, const char* what) {
  double error = 0;
  const auto seen = x.read();
  for (const T v : seen) error += std::abs(static_cast<double>(v) - expected);
  error /= static_cast<double>(stream_elements);
  if (expected != 0) error /= expected;
  EXPECT_LE(error, 100 * static_cast<double>(std::numeric_limits<T>::epsilon())) << what;
}

/// Rounds of all loops, of which each multiplies a by 2 s + s^2 = 0.96.
template <class T>
void run_rounds(apps::stream_kernels<T>& loops, int rounds, double of_dot) {
  loops.start();
  for (int k = 0; k < rounds; ++k) loops.copy(), loops.multiply(), loops.add(), loops.triad(), loops.dot();
  const double a = 0.1 * std::pow(0.96, rounds), before = a / 0.96;
  expect_elements(loops.a, a, "a");
  expect_elements(loops.b, 0.4 * before, "b");
  expect_elements(loops.c, 1.4 * before, "c");
  expect_close(loops.dot_result(), static_cast<double>(stream_elements) * a * 0.4 * before, of_dot, "dot");
}

TEST_P(rodinia, stream) {
  apps::stream_kernels<double> loops(model, stream_elements, how);
  run_rounds(loops, 5, 1e-12);
  expect_same<double>("stream a", loops.a.read().elements());
  expect_same<double>("stream c", loops.c.read().elements());
  for (const char* region : {"start", "copy", "mul", "add", "triad", "dot"})
    EXPECT_TRUE(devices_took_part(region)) << region;
}

TEST_P(rodinia, stream_in_float) {
  apps::stream_kernels<float> loops(model, stream_elements, how);
  run_rounds(loops, 3, 1e-5);
}

TEST_P(rodinia, stream_of_one_loop) {
  apps::stream_kernels<double> loops(model, stream_elements, how);
  loops.start();
  for (int k = 0; k < 3; ++k) loops.triad();
  expect_elements(loops.a, 0.2, "a");
  expect_elements(loops.b, 0.2, "b");
  expect_elements(loops.c, 0, "c");
  for (int k = 0; k < 3; ++k) loops.nstream();
  expect_elements(loops.a, 0.2 + 3 * 0.2, "a");
  EXPECT_TRUE(devices_took_part("nstream"));
}

}  // namespace
}  // namespace tessera::testing
