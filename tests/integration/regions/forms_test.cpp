// Validation: the two forms of a region's body beside each other.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tessera/region.hpp"
#include "tests/integration/validate/validating.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using testing::at;
using testing::fence_text;
using ::testing::HasSubstr;

/// On a machine without devices.
class forms : public ::testing::Test {
 protected:
  runtime rt{testing::validating(testing::host_only())};
  location_model model{rt};
};

TEST_F(forms, that_do_the_same_are_no_finding) {
  const std::int64_t n = 1000, columns = 7;
  auto x = model.make_array<double>("x", {n, columns}), y = model.make_array<double>("y", {n, columns});
  region_result<double> total(rt, "total");
  for (int k = 0; k < 3; ++k) {
    model.region("fill", iterate({0, n}, {0, columns}), write(x),
                 with_kernel([](auto i, auto j, auto x) { x(i, j) = 1 / (1.0 + double(i * j)); },
                             "(i, j, x) { x(i, j) = 1 / (1.0 + i * j); }"));
    model.region("rows", iterate(1, n - 1), read(x, halo(1)), update(y),
                 with_kernel(
                     [](auto i, auto x, auto y) {
                       for (std::int64_t j = 0; j < columns; ++j) y(i, j) += x(i - 1, j) * x(i + 1, j);
                     },
                     inner(columns), "(i, j, x, y) { y(i, j) += x(i - 1, j) * x(i + 1, j); }"));
    model.region("total", iterate(0, n), read(y), sum(total),
                 with_kernel(
                     [](auto i, auto y, double& sum) {
                       for (std::int64_t j = 0; j < columns; ++j) sum += y(i, j);
                     },
                     inner(columns), "(i, j, y, sum) { sum += y(i, j); }"));
  }
  EXPECT_EQ(fence_text(rt), "");
  EXPECT_GT(total.get(), 0);
}

TEST_F(forms, that_differ_are_named_with_array_index_and_values) {
  auto x = model.make_array<double>("x", {100});
  auto table = model.make_array<double>("table", {100, 4});
  model.region("fill", iterate(0, 100), write(x), [](auto i, auto x) { x[i] = double(i); });
  model.region("spread", {.policy = policy::any}, iterate(0, 100), read(x), write(table),
               with_kernel(
                   [](auto i, auto x, auto table) {
                     for (std::int64_t j = 0; j < 4; ++j) table(i, j) = x[i] + double(j);
                   },
                   inner(4), "(i, j, x, table) { table(i, j) = i == 60 && j == 2 ? 1.5 : x[i] + j; }"));
  const std::string text = fence_text(rt);
  EXPECT_THAT(text, HasSubstr("the function and the text of region 'spread' differ in 1 of 400 elements of 'table': "
                              "element (60, 2) is 62 by the function and 1.5 by the text\n"
                              "  at: region 'spread' submitted at forms_test.cpp:"));
  EXPECT_THAT(text, HasSubstr("hint: both forms of a body must do the same; the function's results were kept"));
  EXPECT_EQ(table.read()(60, 2), 62);
  ASSERT_EQ(rt.findings().size(), 1u);
  EXPECT_EQ(rt.findings()[0].fault, validate::fault::forms_differ);
}

TEST_F(forms, may_differ_within_what_the_program_says) {
  auto x = model.make_array<double>("x", {100});
  const auto cancel = [&](double within) {
    model.region("cancel", iterate(0, 100), write(x),
                 with_kernel([](auto i, auto x) { x[i] = 1e-16; }, "(i, x) { x[i] = 3e-16; }").within(within));
    return fence_text(rt);
  };
  EXPECT_EQ(cancel(1e-15), "");
  EXPECT_THAT(cancel(1e-16), HasSubstr("region 'cancel' differ in"));
}

TEST_F(forms, that_differ_in_integers_results_or_what_they_leave_out_are_found) {
  auto x = model.make_array<std::int32_t>("x", {100});
  region_result<std::int64_t> count(rt, "count");
  model.region("ones", iterate(0, 100), write(x),
               with_kernel([](auto i, auto x) { x[i] = 1; }, "(i, x) { x[i] = 1 + (i == 99); }"));
  EXPECT_THAT(fence_text(rt), HasSubstr("element 99 is 1 by the function and 2 by the text"));
  model.region(
      "count", iterate(0, 100), read(x), sum(count),
      with_kernel([](auto i, auto x, auto& count) { count += x[i]; }, "(i, x, count) { if (i != 0) count += x[i]; }"));
  EXPECT_THAT(fence_text(rt), HasSubstr("region 'count' differ in 1 of 1 elements of 'count': its part is"));
  model.region("left out", iterate(0, 100), update(x),
               with_kernel([](auto i, auto x) { x[i] = 3; }, "(i, x) { if (i < 10) x[i] = 3; }"));
  EXPECT_THAT(fence_text(rt), HasSubstr("is 3 by the function and 1 by the text"));
}

/// The last bits of a sum in another order.
TEST_F(forms, may_round_in_other_ways) {
  auto x = model.make_array<double>("x", {1000}), y = model.make_array<double>("y", {1000});
  model.region("fill", iterate(0, 1000), write(x), [](auto i, auto x) { x[i] = 1 / (1.0 + double(i)); });
  model.region("sums", iterate(0, 1000), read(x, whole), write(y),
               with_kernel(
                   [](auto i, auto x, auto y) {
                     double s = 0;
                     for (std::int64_t k = 0; k <= i; ++k) s += x[k];
                     y[i] = s;
                   },
                   "(i, x, y) { double s = 0; for (long k = i; k >= 0; --k) s += x[k]; y[i] = s; }"));
  EXPECT_EQ(fence_text(rt), "");
}

/// Also where somebody wants to know what the task took.
TEST_F(forms, of_which_the_text_cannot_be_launched_fail_their_region) {
  auto x = model.make_array<double>("x", {100});
  model.region("items", {.policy = policy::automatic}, iterate(0, 100), update(x),
               with_kernel([](auto i, auto x) { x[i] = 1; }, inner(std::int64_t{1} << 45), "(i, j, x) { x[i] = 1; }"));
  EXPECT_THAT(test_support::error_of([&] { model.fence(); }).what(), HasSubstr("are no grid"));
}

/// What the host runs beside a device is compared there too.
TEST(forms_beside_a_device, are_compared_where_the_host_runs_them) {
  runtime rt(testing::validating(testing::with_sims(1, "1 MiB")));
  location_model model(rt);
  auto x = model.make_array<float>("x", {300});
  model.region("flatten", {.policy = policy::flatten}, iterate(0, 300), write(x),
               with_kernel([](auto i, auto x) { x[i] = float(i); }, "(i, x) { x[i] = i + 1; }"));
  EXPECT_THAT(fence_text(rt), HasSubstr("the function and the text of region 'flatten' differ"));
}

/// What a device runs is compared with the function, which the host runs on copies.
class forms_on_devices : public ::testing::TestWithParam<const char*> {
 protected:
  static machine make(const char* plugin) {
    return plugin == std::string("sim") ? testing::with_sims(1, "1 MiB") : testing::with_gpus(plugin, 1, "1 MiB", "");
  }
  runtime rt{testing::validating(make(GetParam()))};
  location_model model{rt};
  const std::string leaf = std::string(GetParam()) + "0";
  const region_options there{.policy = policy::static_split, .at = leaf};
};
INSTANTIATE_TEST_SUITE_P(all, forms_on_devices, ::testing::Values("sim", "cuda_emulated", "hip_emulated"));

TEST_P(forms_on_devices, that_do_the_same_are_no_finding) {
  auto x = model.make_array<double>("x", {1000}), y = model.make_array<double>("y", {1000});
  region_result<double> total(rt, "total");
  model.region("fill", there, iterate(0, 1000), write(x),
               with_kernel([](auto i, auto x) { x[i] = double(i); }, "(i, x) { x[i] = i; }"));
  model.region("rows", iterate(1, 999), read(x, halo(1)), update(y),
               with_kernel([](auto i, auto x, auto y) { y[i] += x[i - 1] * x[i + 1]; },
                           "(i, x, y) { y[i] += x[i - 1] * x[i + 1]; }"));
  model.region("total", there, iterate(0, 1000), read(y), sum(total),
               with_kernel([](auto i, auto y, double& s) { s += y[i]; }, "(i, y, s) { s += y[i]; }"));
  EXPECT_EQ(fence_text(rt), "");
  EXPECT_DOUBLE_EQ(total.get(), 331834501);  // of (i - 1) (i + 1), 1 to 998
}

TEST_P(forms_on_devices, that_differ_are_found) {
  auto x = model.make_array<float>("x", {300});
  model.region("fill", there, iterate(0, 300), write(x),
               with_kernel([](auto i, auto x) { x[i] = float(i); }, "(i, x) { x[i] = i == 7 ? 1 : i; }"));
  EXPECT_THAT(fence_text(rt),
              HasSubstr("the function and the text of region 'fill' differ in 1 of 300 elements of 'x': "
                        "element 7 is 7 by the function and 1 by the text on " +
                        leaf));
  EXPECT_EQ(x.read()[7], 1);  // the device's result stays
  model.region("add", there, iterate(0, 300), update(x),
               with_kernel([](auto i, auto x) { x[i] += 1; }, "(i, x) { x[i] += i < 299 ? 1 : 2; }"));
  EXPECT_THAT(fence_text(rt), HasSubstr("element 299 is 300 by the function and 301 by the text"));
}

TEST_P(forms_on_devices, of_results_are_joined_before_they_are_compared) {
  auto x = model.make_array<std::int64_t>("x", {1000});
  region_result<std::int64_t> most(rt, "most"), count(rt, "count");
  model.region("fill", there, iterate(0, 1000), write(x),
               with_kernel([](auto i, auto x) { x[i] = i; }, "(i, x) { x[i] = i; }"));
  model.region("most", there, iterate(0, 1000), read(x), maximum(most), sum(count),
               with_kernel([](auto i, auto x, auto& m, auto& n) { m = std::max(m, x[i]), ++n; },
                           "(i, x, m, n) { m = x[i] > m ? x[i] : m; n += 1; }"));
  EXPECT_EQ(fence_text(rt), "");
  model.region("most", there, iterate(0, 1000), read(x), maximum(most), sum(count),
               with_kernel([](auto i, auto x, auto& m, auto& n) { m = std::max(m, x[i]), ++n; },
                           "(i, x, m, n) { m = x[i] > m ? x[i] : m; n += i != 500; }"));
  EXPECT_THAT(fence_text(rt),
              HasSubstr("elements of 'count': its part is 1000 by the function and 999 by the text on"));
}

}  // namespace
}  // namespace tessera
