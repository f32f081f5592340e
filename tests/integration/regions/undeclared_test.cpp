// Validation: rows that a region uses and does not declare.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "tessera/region.hpp"
#include "tests/integration/validate/validating.hpp"

namespace tessera {
namespace {

using ::testing::AnyOf;
using testing::fence_text;
using ::testing::HasSubstr;

struct undeclared_setting {
  const char* name;
  const char* plugin;  ///< "": the host alone
  int devices;
  machine make() const {
    if (devices == 0) return testing::host_only();
    return plugin == std::string("sim") ? testing::with_sims(devices, "1 MiB")
                                        : testing::with_gpus(plugin, devices, "1 MiB", "");
  }
};
void PrintTo(const undeclared_setting& s, std::ostream* out) { *out << s.name; }

/// A body of which both forms do the same; devices take part.
template <class Host>
auto both(Host host, const char* text) {
  return with_kernel(std::move(host), text);
}

class undeclared : public ::testing::TestWithParam<undeclared_setting> {
 protected:
  static constexpr std::int64_t n = 1000;
  static inline const region_options by{.policy = policy::flatten};
  template <class T>
  array<T> filled(const char* name) {
    return filled<T>(name, {n});
  }
  template <class T, std::size_t Rank>
  array<T, Rank> filled(const char* name, const std::int64_t (&extents)[Rank]) {
    auto x = model.make_array<T>(name, extents);
    const std::int64_t width = x.extents().count() / extents[0];
    model.region("fill", by, iterate(0, extents[0]), write(x), [width](auto i, auto x) {
      for (std::int64_t k = 0; k < width; ++k) x[i * width + k] = T(i % 100);
    });
    return x;
  }
  /// Nothing has been found so far, and then one mistake is.
  std::string found_by_now() {
    const std::string text = fence_text(rt);
    const auto all = rt.findings();
    EXPECT_FALSE(all.empty());
    for (const validate::finding& f : all) EXPECT_EQ(f.fault, validate::fault::undeclared) << f.text;
    return text;
  }
  runtime rt{testing::validating(GetParam().make())};
  location_model model{rt};
};

INSTANTIATE_TEST_SUITE_P(all, undeclared,
                         ::testing::Values(undeclared_setting{"host", "", 0}, undeclared_setting{"sim", "sim", 1},
                                           undeclared_setting{"two_sims", "sim", 2},
                                           undeclared_setting{"cuda_emulated", "cuda_emulated", 1},
                                           undeclared_setting{"hip_emulated", "hip_emulated", 2}),
                         [](const auto& test) { return std::string(test.param.name); });
#if defined(TESSERA_TEST_OPENCL)
INSTANTIATE_TEST_SUITE_P(opencl, undeclared, ::testing::Values(undeclared_setting{"opencl", "opencl", 1}),
                         [](const auto& test) { return std::string(test.param.name); });
#endif

TEST_P(undeclared, rows_of_a_missing_halo_are_found) {
  auto a = filled<double>("a"), b = filled<double>("b");
  EXPECT_EQ(fence_text(rt), "");
  model.region(
      "neighbours", by, iterate(1, n - 1), read(a), write(b),
      both([](auto i, auto a, auto b) { b[i] = a[i - 1] + a[i + 1]; }, "(i, a, b) { b[i] = a[i - 1] + a[i + 1]; }"));
  const std::string text = found_by_now();
  EXPECT_THAT(text, HasSubstr("region 'neighbours' reads row "));
  EXPECT_THAT(text, HasSubstr(" of array 'a', where one of its parts declares rows "));
  EXPECT_THAT(text, AnyOf(HasSubstr("read(a, halo(1, 0))?"), HasSubstr("read(a, halo(0, 1))?"),
                          HasSubstr("read(a, halo(1))?")));
  EXPECT_THAT(text, HasSubstr("at: region 'neighbours' submitted at undeclared_test.cpp:"));
}

TEST_P(undeclared, rows_of_a_halo_that_is_too_narrow_are_found) {
  auto a = filled<float>("a"), b = filled<float>("b");
  model.region(
      "far", by, iterate(3, n), read(a, halo(1, 0)), write(b),
      both([](auto i, auto a, auto b) { b[i] = a[i - 1] + a[i - 3]; }, "(i, a, b) { b[i] = a[i - 1] + a[i - 3]; }"));
  EXPECT_THAT(found_by_now(), HasSubstr("read(a, halo(3, 0))?"));
}

TEST_P(undeclared, rows_of_arrays_with_rows_are_found_where_integers_are_copied) {
  auto a = filled<std::int64_t>("a", {100, 30});
  auto b = filled<std::int64_t>("b", {100, 30});
  auto c = filled<std::int32_t>("c", {100, 30}), d = filled<std::int32_t>("d", {100, 30});
  EXPECT_EQ(fence_text(rt), "");
  model.region(
      "long", by, iterate({0, 99}, {0, 30}), read(a), write(b),
      both([](auto i, auto j, auto a, auto b) { b(i, j) = a(i + 1, j); }, "(i, j, a, b) { b(i, j) = a(i + 1, j); }"));
  EXPECT_THAT(found_by_now(), HasSubstr("read(a, halo(0, 1))?"));
  model.region(
      "int", by, iterate({1, 100}, {0, 30}), read(c), write(d),
      both([](auto i, auto j, auto c, auto d) { d(i, j) = c(i - 1, j); }, "(i, j, c, d) { d(i, j) = c(i - 1, j); }"));
  EXPECT_THAT(found_by_now(), HasSubstr("read(c, halo(1, 0))?"));
}

TEST_P(undeclared, rows_that_a_result_is_made_of_are_found) {
  auto a = filled<double>("a");
  region_result<double> total(rt, "total");
  model.region("sum", by, iterate(0, n - 1), read(a), sum(total),
               both([](auto i, auto a, auto& s) { s += a[i] * a[i + 1]; }, "(i, a, s) { s += a[i] * a[i + 1]; }"));
  EXPECT_THAT(found_by_now(), HasSubstr("read(a, halo(0, 1))?"));
}

TEST_P(undeclared, rows_that_others_write_are_found) {
  auto a = filled<double>("a");
  model.region("in place", by, iterate(1, n), update(a),
               both([](auto i, auto a) { a[i] += 0.5 * a[i - 1]; }, "(i, a) { a[i] += 0.5 * a[i - 1]; }"));
  const std::string text = fence_text(rt);
  EXPECT_THAT(text, HasSubstr("region 'in place' reads row "));
  EXPECT_THAT(text, HasSubstr("iterations of one region must not depend on each other"));
}

TEST_P(undeclared, rows_that_there_are_not_are_found) {
  auto a = filled<double>("a"), b = filled<double>("b");
  model.region("beyond", {.policy = policy::any}, iterate(0, n), read(a, halo(1)), write(b),
               both([](auto i, auto a, auto b) { b[i] = a[i + 1]; }, "(i, a, b) { b[i] = a[i + 1]; }"));
  const std::string text = found_by_now();
  EXPECT_THAT(text, HasSubstr("region 'beyond' reads row 1000 of array 'a', which has 1000 rows"));
  EXPECT_THAT(text, HasSubstr("the body must look where the array ends"));
}

TEST_P(undeclared, rows_beside_named_ones_are_found) {
  auto a = filled<double>("a"), b = filled<double>("b");
  model.region("pivot", by, iterate(10, n), read(a, rows(7, 8)), write(b),
               both([](auto i, auto a, auto b) { b[i] = a[8]; }, "(i, a, b) { b[i] = a[8]; }"));
  EXPECT_THAT(found_by_now(), HasSubstr("reads row 8 of array 'a', where one of its parts declares row 7"));
}

/// Also in the second and third replay.
TEST_P(undeclared, rows_are_found_in_replays) {
  auto a = filled<double>("a"), b = filled<double>("b");
  EXPECT_EQ(fence_text(rt), "");
  const auto body = both([](auto i, auto a, auto b) { b[i] = a[i + 1]; }, "(i, a, b) { b[i] = a[i + 1]; }");
  auto twice = rt.record([&] { model.region("recorded", by, iterate(0, n - 1), read(a), update(b), body); });
  rt.replay(twice);
  rt.replay(twice);
  EXPECT_THAT(found_by_now(), HasSubstr("region 'recorded' reads row "));
}

/// A body without a text runs on the host alone.
TEST_P(undeclared, rows_are_found_without_a_text) {
  auto a = filled<double>("a"), b = filled<double>("b");
  model.region("function", by, iterate(1, n), read(a), write(b), [](auto i, auto a, auto b) { b[i] = a[i - 1]; });
  EXPECT_THAT(found_by_now(), HasSubstr("read(a, halo(1, 0))?"));
  model.region("writes", {.policy = policy::any}, iterate(0, n - 1), update(b), [](auto i, auto b) { b[i + 1] = 1; });
  EXPECT_THAT(fence_text(rt), HasSubstr("region 'writes' writes row 999 of array 'b'"));
}

/// What is declared is no finding, whatever the pattern, and the numbers are right.
TEST_P(undeclared, rows_are_none_where_all_are_declared) {
  auto a = filled<double>("a"), b = filled<double>("b");
  auto rows_of = filled<float>("rows", {200, 50});
  region_result<double> most(rt, "most");
  for (int k = 0; k < 2; ++k) {
    model.region(
        "halo", by, iterate(1, n - 1), read(a, halo(1)), update(b),
        both([](auto i, auto a, auto b) { b[i] = a[i - 1] + a[i + 1]; }, "(i, a, b) { b[i] = a[i - 1] + a[i + 1]; }"));
    model.region("offset", by, iterate(0, n - 7), read(b, offset(7)), update(a),
                 both([](auto i, auto b, auto a) { a[i] = b[i + 7]; }, "(i, b, a) { a[i] = b[i + 7]; }"));
    model.region(
        "whole", by, iterate(0, n), read(a, whole), write(b),
        both([](auto i, auto a, auto b) { b[i] = a[(i * 7) % 1000]; }, "(i, a, b) { b[i] = a[(i * 7) % 1000]; }"));
    model.region("apart", by, iterate(5, 200), read(rows_of, rows(3, 5)), update(rows_of),
                 both(
                     [](auto i, auto from, auto to) {
                       for (std::int64_t j = 0; j < 50; ++j) to(i, j) += from(4, j) - from(3, j);
                     },
                     "(i, from, to) { for (int j = 0; j < 50; ++j) to(i, j) += from(4, j) - from(3, j); }"));
    model.region("back", by, iterate(n - 1, -1, -2), read(a), update(b),
                 both([](auto i, auto a, auto b) { b[i] = a[i]; }, "(i, a, b) { b[i] = a[i]; }"));
    model.region(
        "most", by, iterate(0, n), read(a), maximum(most),
        both([](auto i, auto a, auto& m) { m = std::max(m, a[i]); }, "(i, a, m) { m = a[i] > m ? a[i] : m; }"));
  }
  model.copy(a.rows(0, 500), b.rows(500, 1000));
  EXPECT_EQ(fence_text(rt), "");
  EXPECT_TRUE(std::isfinite(most.get()));
  const auto seen = b.read();
  EXPECT_TRUE(std::ranges::all_of(seen, [](double x) { return std::isfinite(x); }));
}

/// Without validation it is a wrong number at most, and no end of the process.
TEST(missing_halos, end_no_process_on_simulated_devices) {
  for (const int devices : {1, 2}) {
    runtime rt(testing::with_sims(devices, "1 MiB"));
    location_model model(rt);
    const std::int64_t n = 1000;
    auto a = model.make_array<double>("a", {n}), b = model.make_array<double>("b", {n});
    model.region(
        "fill", iterate(0, n), write(a), write(b),
        with_kernel([](auto i, auto a, auto b) { a[i] = b[i] = double(i); }, "(i, a, b) { a[i] = i; b[i] = i; }"));
    model.region("neighbours", {.at = "sim0"}, iterate(1, n - 1), read(a), update(b),
                 with_kernel([](auto i, auto a, auto b) { b[i] = a[i - 1] + a[i + 1]; },
                             "(i, a, b) { b[i] = a[i - 1] + a[i + 1]; }"));
    model.fence();
    EXPECT_EQ(b.read()[500], 1000);
  }
}

}  // namespace
}  // namespace tessera
