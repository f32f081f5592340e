// Bodies that are written once: the same numbers on the host and on devices.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"

namespace tessera {
namespace {

/// A machine, and what of it is a device.
struct body_setting {
  const char* name;
  const char* plugin;  ///< "": the host alone
  const char* keys = "";
  machine make() const {
    const std::string all = std::string("placement = \"eager\"\nhistory = \"off\"\n") + keys;
    if (*plugin == '\0') return testing::machine_of("plugins = [\"host\"]\n" + all);
    if (std::string(plugin) == "sim") return testing::with_sims(1, "64 MiB", false, 2, all);
    return testing::with_gpus(plugin, 1, "64 MiB", all);
  }
};
void PrintTo(const body_setting& s, std::ostream* out) { *out << s.name; }

class one_body : public ::testing::TestWithParam<body_setting> {
 protected:
  bool has_device() const { return *GetParam().plugin != '\0'; }
  /// Whether devices got iterations of the last launch of a region, where there are devices.
  bool ran_everywhere(const std::string& region) const {
    std::uint64_t host = 0, device = 0;
    for (const region_row& row : model.regions())
      if (row.name == region)
        for (const region_share& s : row.shares)
          (has_device() && s.leaf.starts_with(GetParam().plugin) ? device : host) += s.iterations;
    return host > 0 && (device > 0) == has_device();
  }
  /// Each place that runs tasks.
  std::vector<std::uint32_t> places() const {
    std::vector<std::uint32_t> all;
    for (const std::string& name : rt.places()) all.push_back(rt.at(name.starts_with("cpu:") ? name.substr(4) : name));
    return all;
  }
  /// Tasks of an operation on the device so far.
  std::uint64_t on_device(const std::string& operation) {
    rt.fence();
    const tessera::statistics now = rt.statistics();
    std::uint64_t all = 0;
    for (const auto& one : now.operations)
      if (one.operation == operation && has_device() && one.place.starts_with(GetParam().plugin)) all += one.tasks;
    return all;
  }
  void TearDown() override {
    model.fence();
    EXPECT_TRUE(!rt.validates() || rt.findings().empty());
  }
  runtime rt{GetParam().make()};
  location_model model{rt};
  region_options by{.policy = policy::flatten};
};

template <class T>
void fill_and_scale(location_model& model, const region_options& by, T scale) {
  const std::int64_t n = 4000;
  auto x = model.make_array<T>("x", {n}), y = model.make_array<T>("y", {n});
  model.region("fill", by, iterate(0, n), write(x), TESSERA_BODY((), (auto i, auto x), {
                 using element = tessera::element_of<decltype(x)>;
                 x[i] = static_cast<element>(i % 50);
               }));
  model.region("scale", by, iterate(n - 1, -1, -1), read(x), write(y),
               TESSERA_BODY((scale), (auto i, auto x, auto y), { y[i] = scale * x[i]; }));
  const auto seen = y.read();
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], static_cast<T>(scale * static_cast<T>(i % 50))) << i;
}

TEST_P(one_body, is_one_of_doubles) {
  fill_and_scale<double>(model, by, 0.1);
  EXPECT_TRUE(ran_everywhere("fill") && ran_everywhere("scale"));
}
TEST_P(one_body, is_one_of_floats) {
  fill_and_scale<float>(model, by, 0.1f);
  EXPECT_TRUE(ran_everywhere("scale"));
}
TEST_P(one_body, is_one_of_integers) {
  fill_and_scale<std::int32_t>(model, by, -7);
  fill_and_scale<std::int64_t>(model, by, 7'000'000'000);
  fill_and_scale<std::uint8_t>(model, by, 3);
  EXPECT_TRUE(ran_everywhere("scale"));
}

TEST_P(one_body, captures_numbers_of_all_types) {
  const std::int64_t n = 600;
  auto x = model.make_array<double>("x", {n});
  const bool flag = true;
  const std::int8_t byte = -3;
  const std::uint16_t word = 60'000;
  const unsigned natural = 4'000'000'000u;
  const std::uint64_t large = 1ull << 63;
  const long long wide = -5;
  const float single = 0.25f;
  constexpr double constant = 0.5;
  const auto [first, second] = std::pair(2, 3.0);
  model.region(
      "sum", by, iterate(0, n), write(x),
      TESSERA_BODY((flag, byte, word, natural, large, wide, single, constant, first, second), (auto i, auto x), {
        const auto half = natural / 2u;                      // stays without a sign
        const double top = static_cast<double>(large >> 1);  // likewise
        x[i] =
            (flag ? 1 : 0) + byte + word + half + top + static_cast<double>(wide) + single + constant + first + second;
      }));
  const auto seen = x.read();
  for (std::int64_t i = 0; i < n; ++i)
    ASSERT_EQ(seen[i], 1 - 3 + 60'000 + 2'000'000'000.0 + std::pow(2.0, 62) - 5 + 0.25 + 0.5 + 2 + 3) << i;
  EXPECT_TRUE(ran_everywhere("sum"));
}

TEST_P(one_body, has_control_flow_and_variables) {
  const std::int64_t n = 2000;
  auto x = model.make_array<std::int64_t>("x", {n});
  const auto collatz = [](std::int64_t i) {
    std::int64_t steps = 0;
    for (std::int64_t v = i + 1; v != 1; v = v % 2 == 0 ? v / 2 : 3 * v + 1) ++steps;
    return i % 7 == 3 ? -1 : steps + (i % 5 == 0 ? 100 : 0) + 17;
  };
  model.region("steps", by, iterate(0, n), write(x), TESSERA_BODY((), (auto i, auto x), {
                 if (i % 7 == 3) {
                   x[i] = -1;
                   return;
                 }
                 std::int64_t steps = 0, v = i + 1;
                 while (true) {
                   if (v == 1) break;
                   if (v % 2 == 0)
                     v /= 2;
                   else
                     v = 3 * v + 1;
                   ++steps;
                 }
                 int kernel[4] = {1, 2, 3};  // a word of OpenCL C
                 const int half = 1;         // another one
                 for (int k = 0; k < 4; ++k) {
                   if (kernel[k] == 0) continue;
                   if (kernel[k] == 2) kernel[k] += half;
                   {
                     const auto v = kernel[k];
                     kernel[3] += v;
                   }
                 }
                 do steps++;
                 while (steps < 0);
                 if (i % 5 == 0) {
                   if (i % 10 < 20)
                     steps += 100;
                   else
                     steps -= 1000;
                 }
                 x[i] = steps + kernel[3] + half + 1'0 - 8 - 1;
               }));
  const auto seen = x.read();
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], collatz(i)) << i;
  EXPECT_TRUE(ran_everywhere("steps"));
}

TEST_P(one_body, calls_functions_of_numbers) {
  const std::int64_t n = 500;
  auto x = model.make_array<double>("x", {n});
  auto s = model.make_array<float>("s", {n});
  auto k = model.make_array<std::int32_t>("k", {n});
  const auto number = [](std::int64_t i) { return 0.01 * static_cast<double>(i - 100); };
  model.region("functions", by, iterate(0, n), write(x), write(s), write(k),
               TESSERA_BODY((), (auto i, auto x, auto s, auto k), {
                 const double a = 0.01 * double(i - 100);
                 x[i] = std::sqrt(std::abs(a)) + std::floor(a) + std::max(a, 0.5) + std::min(std::fabs(a), 1.0) +
                        clamp(a, -0.25, 0.25) + std::fmod(a, 0.3) + ldexp(a, 3) + rint(a) + copysign(2.0, a);
                 const auto f = sqrt(float(i));  // of a float, also without std::
                 s[i] = f * f;
                 k[i] = std::abs(int(i) - 250) + (std::isnan(a / (a - a)) ? 1 : 2) + int(std::max<int>(1, 2));
               }));
  const auto seen = x.read();
  const auto singles = s.read();
  for (std::int64_t i = 0; i < n; ++i) {
    const double a = number(i);
    ASSERT_EQ(seen[i], std::sqrt(std::abs(a)) + std::floor(a) + std::max(a, 0.5) + std::min(std::fabs(a), 1.0) +
                           std::clamp(a, -0.25, 0.25) + std::fmod(a, 0.3) + std::ldexp(a, 3) + std::rint(a) +
                           std::copysign(2.0, a))
        << i;
    const float f = std::sqrt(float(i));
    ASSERT_EQ(singles[i], f * f) << i;
  }
  EXPECT_TRUE(ran_everywhere("functions"));
}

TEST_P(one_body, sees_rows_and_their_neighbours) {
  const std::int64_t rows = 50, columns = 37;
  auto now = model.make_array<double>("now", {rows, columns}), next = model.make_array<double>("next", {rows, columns});
  model.region("fill", by, iterate({0, rows}, {0, columns}), write(now), write(next),
               TESSERA_BODY((columns), (auto i, auto j, auto now, auto next), {
                 now(i, j) = double((i * columns + j) % 17);
                 next(i, j) = 0;
               }));
  model.region("heat", by, iterate({1, rows - 1}, {1, columns - 1}), read(now, halo(1)), update(next),
               TESSERA_BODY((columns), (auto i, auto j, auto now, auto next), {
                 const auto beside = now(i, j - 1) + now[i * columns + j + 1];
                 next(i, j) = (now(i - 1, j) + now(i + 1, j) + beside) / 4;
               }));
  const auto seen = next.read();
  const auto at = [&](std::int64_t i, std::int64_t j) { return double((i * columns + j) % 17); };
  for (std::int64_t i = 1; i + 1 < rows; ++i)
    for (std::int64_t j = 1; j + 1 < columns; ++j)
      ASSERT_EQ(seen(i, j), (at(i - 1, j) + at(i + 1, j) + (at(i, j - 1) + at(i, j + 1))) / 4) << i << ' ' << j;
  EXPECT_TRUE(ran_everywhere("heat"));
}

TEST_P(one_body, adds_to_results) {
  const std::int64_t n = 3000;
  auto x = model.make_array<std::int32_t>("x", {n});
  region_result<std::int64_t> total(rt, "total");
  region_result<std::int32_t> most(rt, "most");
  model.region("fill", by, iterate(0, n), write(x),
               TESSERA_BODY((), (auto i, auto x), { x[i] = static_cast<std::int32_t>(i * 7 % 1000); }));
  const std::int32_t limit = 900;
  model.region("sum", by, iterate(0, n), read(x), sum(total), tessera::maximum(most),
               TESSERA_BODY((limit), (auto i, auto x, std::int64_t& total, auto& most), {
                 if (x[i] > limit) return;  // and not the end of the device's loop
                 total += x[i];
                 most = std::max(most, x[i]);
               }));
  std::int64_t expected = 0;
  for (std::int64_t i = 0; i < n; ++i) expected += i * 7 % 1000 > limit ? 0 : i * 7 % 1000;
  EXPECT_EQ(total.get(), expected);
  EXPECT_EQ(most.get(), limit);
  EXPECT_TRUE(ran_everywhere("sum"));
}

TEST_P(one_body, is_a_task) {
  const std::int64_t n = 3000;
  auto x = rt.make_array<double>("x", {n}, {n}), y = rt.make_array<double>("y", {n}, {n});
  const double a = 0.5;
  for (const std::uint32_t at : places()) {
    rt.submit("start", {.at = at},
              loop(iterate(0, n), TESSERA_BODY((), (auto i, auto x, auto y),
                                               {
                                                 x[i] = double(i);
                                                 y[i] = 1;
                                               })),
              write(x(0)), write(y(0)));
    rt.submit("add scaled", {.at = at},
              loop(iterate(n - 1, -1, -1), TESSERA_BODY((a), (auto i, auto x, auto y), { y[i] += a * x[i]; })),
              read(x(0)), update(y(0)));
    const auto seen = y(0).read();
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], 1 + 0.5 * double(i)) << i;
  }
  EXPECT_EQ(on_device("add scaled"), has_device() ? 1u : 0u);
}

/// Statements at which C++ and a language of devices could part: conversions of small and unsigned numbers, truth
/// values, words for signs, shadowed names, operators side by side.
#define TESSERA_TEST_ODD                                                           \
  {                                                                                \
    using real = tessera::element_of<decltype(x)>;                                 \
    (void)yes, (void)u;                                                            \
    std::uint8_t small = static_cast<std::uint8_t>(i * 7);                         \
    small += 250;                                                                  \
    const auto wide = small + small;                                               \
    bool t = yes;                                                                  \
    t &= 6;                                                                        \
    t |= i % 5;                                                                    \
    int k = 5;                                                                     \
    k += 2.7;                                                                      \
    k = t ? k - 1 : -k;                                                            \
    real sum = u - 4 > 5 ? 0.5 : 0.25;                                             \
    {                                                                              \
      double k = 0.125;                                                            \
      sum += k;                                                                    \
    }                                                                              \
    int m[2][3] = {{1, 2, 3}, {4, 5}};                                             \
    for (int j = 0, step = 1; j < 3; j += step) m[1][j] += m[0][j] << (k + 9) % 3; \
    if (not t or (i > 20 and u not_eq 3)) sum -= m[1][2];                          \
    do {                                                                           \
      if (k == 3) break;                                                           \
      sum += k-- * 0.5f;                                                           \
    } while (k > 0);                                                               \
    sum += i > 9 ? i > 30 ? 1 : 2 : -3;                                            \
    x[i] = sum < INFINITY ? sum + wide - (u - 4 > 0) + std::max(m[1][0], 3) : 0;   \
    if (i % 11 == 0) return;                                                       \
    x[i] = -x[i] - -1;                                                             \
  }
TEST_P(one_body, has_the_same_numbers_on_both_where_the_languages_could_part) {
  const unsigned u = 3;
  const bool yes = true;
  const std::int64_t n = 1000;
  auto x = model.make_array<double>("x", {n});
  for (int launch = 0; launch < 3; ++launch)
    model.region("odd", by, iterate(0, n), write(x), TESSERA_BODY((u, yes), (auto i, auto x), TESSERA_TEST_ODD));
  std::vector<double> expected(n);
  const auto odd = [ u, yes ](auto i, auto* x) TESSERA_TEST_ODD;
  for (std::int64_t i = 0; i < n; ++i) odd(i, expected.data());
  const auto seen = x.read();
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(seen[i], expected[static_cast<std::size_t>(i)]) << i;
  EXPECT_TRUE(ran_everywhere("odd"));
}

TEST_P(one_body, is_a_task_over_blocks_in_both_orders) {
  const std::int64_t rows = 9, columns = 14, third = 3;
  auto a = rt.make_matrix<float>("a", {rows, columns}, {rows, columns});
  auto b = rt.make_array<std::int32_t>("b", {rows, columns}, {rows, columns});
  auto c = rt.make_array<std::int64_t>("c", {rows, columns, third}, {rows, columns, third});
  auto d = rt.make_array<std::int64_t, column_major>("d", {rows, columns, third}, {rows, columns, third});
  for (const std::uint32_t at : places()) {
    rt.submit("indices", {.at = at},
              loop(iterate({0, rows}, {0, columns}, {0, third}),
                   TESSERA_BODY((), (auto i, auto j, auto k, auto a, auto b, auto c, auto d),
                                {
                                  if (k == 0) {
                                    a(i, j) = float(100 * i + j);
                                    b(i, j) = int(100 * i + j);
                                  }
                                  c(i, j, k) = 10'000 * k + 100 * i + j;
                                  d(i, j, k) = 10'000 * k + 100 * i + j;
                                })),
              write(a(0, 0)), write(b(0, 0)), write(c(0, 0, 0)), write(d(0, 0, 0)));
    const auto of_a = a(0, 0).read();
    const auto of_b = b(0, 0).read();
    const auto of_c = c(0, 0, 0).read();
    const auto of_d = d(0, 0, 0).read();
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        ASSERT_EQ(of_a(i, j), float(100 * i + j));
        ASSERT_EQ(of_b(i, j), 100 * i + j);
        for (std::int64_t k = 0; k < third; ++k) {
          ASSERT_EQ(of_c(i, j, k), 10'000 * k + 100 * i + j);
          ASSERT_EQ(of_d(i, j, k), 10'000 * k + 100 * i + j);
        }
      }
    EXPECT_EQ(of_a[1], 100.0f) << "the first index is fastest";
    EXPECT_EQ(of_b[1], 1) << "the last one is";
  }
  EXPECT_EQ(on_device("indices"), has_device() ? 1u : 0u);
}

TEST_P(one_body, is_recorded_as_a_task_and_as_a_region) {
  const std::int64_t n = 640;
  auto x = rt.make_array<double>("x", {n}, {n});
  auto y = model.make_array<double>("y", {n});
  fill(rt, x(0), 1);
  model.region("start", by, iterate(0, n), write(y), TESSERA_BODY((), (auto i, auto y), { y[i] = double(i); }));
  const double more = 0.5;
  const auto step = [&] {
    rt.submit("add", {.at = places().back()},
              loop(iterate(0, n), TESSERA_BODY((more), (auto i, auto x), { x[i] += more; })), update(x(0)));
    model.region("twice", by, iterate(0, n), update(y), TESSERA_BODY((), (auto i, auto y), { y[i] *= 2; }));
  };
  step();
  recording steps = rt.record(step);
  for (int k = 0; k < 4; ++k) rt.replay(steps);
  model.fence();
  EXPECT_EQ(x(0).read()[n - 1], 1 + 5 * 0.5);
  EXPECT_EQ(y.read()[n - 1], 32.0 * double(n - 1));
}

TEST_P(one_body, does_nothing_in_no_iterations) {
  auto x = rt.make_array<double>("x", {4}, {4});
  fill(rt, x(0), 1);
  for (const std::uint32_t at : places()) {
    rt.submit("none", {.at = at}, loop(iterate(4, 4), TESSERA_BODY((), (auto i, auto x), { x[i] = 2; })), update(x(0)));
    rt.submit("none inside", {.at = at},
              loop(iterate({0, 4}, {3, 1}), TESSERA_BODY((), (auto i, auto j, auto x), { x[i] = double(j); })),
              update(x(0)));
  }
  const auto seen = x(0).read();
  EXPECT_TRUE(std::ranges::all_of(seen, [](double v) { return v == 1; }));
}

INSTANTIATE_TEST_SUITE_P(machines, one_body,
                         ::testing::Values(body_setting{"host", ""},
                                           body_setting{"host_validated", "", "validate = true\n"},
                                           body_setting{"sim", "sim"},
                                           body_setting{"sim_validated", "sim", "validate = true\n"},
                                           body_setting{"cuda_emulated", "cuda_emulated"},
                                           body_setting{"cuda_validated", "cuda_emulated", "validate = true\n"},
                                           body_setting{"hip_emulated", "hip_emulated"}),
                         [](const auto& test) { return std::string(test.param.name); });

#if defined(TESSERA_TEST_OPENCL)
/// On a device that a layer takes the doubles from (OPENCL_LAYER_DEVICE=no_fp64).
TEST(one_body_without_doubles, is_left_to_the_host_where_it_has_some) {
  const char* const lacks = std::getenv("OPENCL_LAYER_DEVICE");
  if (lacks == nullptr || std::string(lacks) != "no_fp64") GTEST_SKIP() << "this device has them";
  std::vector<std::string> warnings;
  machine with = body_setting{"opencl", "opencl"}.make();
  with.log = [&](int level, const std::string& line) {
    if (level >= 2) warnings.push_back(line);
  };
  runtime rt(std::move(with));
  location_model model(rt);
  auto x = model.make_array<float>("x", {1000});
  auto b = rt.make_array<float>("b", {1000}, {1000});
  for (int k = 0; k < 2; ++k) {
    model.region("single", iterate(0, 1000), write(x), TESSERA_BODY((), (auto i, auto x), { x[i] = 2.5f * float(i); }));
    model.region("double", iterate(0, 1000), update(x),
                 TESSERA_BODY((), (auto i, auto x), { x[i] = float(x[i] * 2.0); }));
    rt.submit("double task",
              loop(iterate(0, 1000), TESSERA_BODY((), (auto i, auto b), { b[i] = float(double(i) * 0.5); })),
              write(b(0)));
  }
  EXPECT_EQ(x.read()[999], 4995.0f);
  EXPECT_EQ(b(0).read()[999], 499.5f);
  std::map<std::string, bool> on_device;
  for (const region_row& row : model.regions())
    for (const region_share& s : row.shares) on_device[row.name] |= s.leaf.starts_with("opencl");
  EXPECT_TRUE(on_device["single"]);
  EXPECT_FALSE(on_device["double"]);
  ASSERT_THAT(warnings, ::testing::SizeIs(1));
  EXPECT_THAT(warnings[0], ::testing::AllOf(::testing::HasSubstr("'double'"), ::testing::HasSubstr("without opencl0"),
                                            ::testing::HasSubstr("numbers of type double")));
}

INSTANTIATE_TEST_SUITE_P(opencl, one_body, ::testing::Values(body_setting{"opencl", "opencl"}),
                         [](const auto& test) { return std::string(test.param.name); });
#endif

}  // namespace
}  // namespace tessera
