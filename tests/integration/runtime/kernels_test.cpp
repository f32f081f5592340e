// Operations whose kernels are compiled or loaded when a device first needs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera::testing {
namespace {

namespace fs = std::filesystem;
using operation::context;
using operation::kernel_launch;
using test_support::error_of;
using ::testing::HasSubstr;

/// Where kernels run: a plugin, the location of its first device, and the name of that in statistics.
struct kernel_place {
  const char *plugin, *location, *device;
};
void PrintTo(const kernel_place& one, std::ostream* to) { *to << one.plugin; }

class kernels : public ::testing::TestWithParam<kernel_place> {
 protected:
  kernels() {
    std::string pattern = (fs::temp_directory_path() / "tessera-kernels-XXXXXX").string();
    m_root = ::mkdtemp(pattern.data());
  }
  ~kernels() override { fs::remove_all(m_root); }

  fs::path cache() const { return m_root / "kernels"; }
  std::size_t kept() const {
    std::error_code none;
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(cache(), none), fs::directory_iterator()));
  }
  /// `keys` of the plugin's table.
  machine make(const std::string& keys = "", const std::string& folder = "") const {
    const std::string plugin = GetParam().plugin, others = plugin == "host" ? "" : ", \"" + plugin + "\"";
    const std::string limit = plugin == "host" ? "" : "devices = 1\nmemory_limit = \"64 MiB\"\n";
    return machine_of("plugins = [\"host\"" + others + "]\nkernel_cache = \"" +
                      (folder.empty() ? cache().string() : folder) + "\"\n[plugin." + plugin + "]\n" + limit + keys);
  }
  static task_options here(const runtime& rt) { return {.at = rt.at(GetParam().location)}; }

  static void launch(const context& c, kernel_launch& how) {
    const std::int64_t n = c.operands[0].extents->count();
    how.over(n, 64).value(c.arguments_as<double>()).block(c.operands[0]).block(c.operands[1]).value(n);
  }
  static operation::definition axpy(const std::string& text, const char* kernel = "axpy") {
    return {.name = "my_axpy",
            .signature = {intent::read, intent::update},
            .kernel = {.name = kernel, .text = {.source = text}, .launch = launch}};
  }
  static void submit(runtime& rt, const operation::definition& what, array<double>& x, array<double>& y, double a,
                     std::int64_t k) {
    const block::access blocks[] = {read(x(k)), update(y(k))};
    rt.submit_operation(what, &a, sizeof a, blocks, here(rt));
  }
  /// y += 2 x with x = 3 and y = k, in blocks of odd sizes; checks every element.
  static void run_and_check(runtime& rt, const operation::definition& what) {
    auto x = rt.make_array<double>("x", {1000}, {77});
    auto y = rt.make_array<double>("y", {1000}, {77});
    for (std::int64_t k = 0; k < x.counts()[0]; ++k) {
      fill(rt, x(k), 3.0);
      fill(rt, y(k), static_cast<double>(k));
      submit(rt, what, x, y, 2, k);
    }
    rt.fence();
    for (std::int64_t k = 0; k < y.counts()[0]; ++k)
      for (const double v : y.read_host(y(k))) ASSERT_EQ(v, static_cast<double>(k) + 6);
    std::uint64_t there = 0;
    for (const auto& row : rt.statistics().operations)
      if (row.operation == what.name && row.place == GetParam().device) there += row.tasks;
    EXPECT_EQ(there, static_cast<std::uint64_t>(x.counts()[0]));
  }

  static constexpr const char* text = R"(
KERNEL void axpy(double a, GLOBAL const double* x, GLOBAL double* y, long n) {
  if (INDEX_X < n) y[INDEX_X] += a * x[INDEX_X];
}
)";
  fs::path m_root;
};

TEST_P(kernels, run_and_are_kept) {
  for (int round = 0; round < 2; ++round) {
    runtime rt(make());
    run_and_check(rt, rt.define(axpy(text)));
    EXPECT_EQ(kept(), 1u);
  }
  runtime rt(make());
  operation::definition other = axpy(text);
  other.kernel.text.options = "-DUNUSED";
  run_and_check(rt, rt.define(other));
  EXPECT_EQ(kept(), 2u) << "options are part of what an image depends on";
}

TEST_P(kernels, that_are_damaged_on_disk_are_compiled_anew) {
  {
    runtime rt(make());
    run_and_check(rt, rt.define(axpy(text)));
  }
  ASSERT_EQ(kept(), 1u);
  const fs::path file = fs::directory_iterator(cache())->path();
  const auto whole = fs::file_size(file);
  fs::resize_file(file, whole / 2);
  {
    runtime rt(make());
    run_and_check(rt, rt.define(axpy(text)));
  }
  EXPECT_EQ(fs::file_size(file), whole);
}

TEST_P(kernels, need_no_folder) {
  std::ofstream(m_root / "file") << "no folder";
  for (const std::string& folder : {std::string("off"), (m_root / "file" / "below").string()}) {
    runtime rt(make("", folder));
    run_and_check(rt, rt.define(axpy(text)));
    EXPECT_EQ(kept(), 0u);
  }
}

TEST_P(kernels, that_do_not_compile_fail_their_tasks_and_nothing_else) {
  runtime rt(make());
  operation::definition bad = axpy(
      "KERNEL void axpy(double a, GLOBAL const double* x, GLOBAL double* y, long n) {\n  y[0] = missing_name;\n}\n");
  bad.kernel.text.file = "solver.txt";
  bad.kernel.text.line = 30;
  const auto& what = rt.define(bad);
  auto x = rt.make_array<double>("x", {10}, {10});
  auto y = rt.make_array<double>("y", {10}, {10});
  for (int round = 0; round < 2; ++round) {  // the second is not compiled again, and told the same
    fill(rt, x(0), 1.0);
    fill(rt, y(0), 1.0);
    submit(rt, what, x, y, 2, 0);
    const error e = error_of([&] { rt.fence(); });
    EXPECT_EQ(e.kind(), error_kind::usage) << e.what();
    EXPECT_THAT(e.message(), HasSubstr("my_axpy"));
    EXPECT_THAT(e.message(), HasSubstr("solver.txt:31"));
    EXPECT_THAT(e.message(), HasSubstr("missing_name"));
  }
  EXPECT_EQ(kept(), 0u);
  operation::definition good = axpy(text);
  good.name = "good";
  run_and_check(rt, rt.define(good));
}

TEST_P(kernels, that_are_not_in_the_text_are_named) {
  runtime rt(make());
  const auto& what = rt.define(axpy(text, "axpz"));
  auto x = rt.make_array<double>("x", {10}, {10});
  auto y = rt.make_array<double>("y", {10}, {10});
  fill(rt, x(0), 1.0);
  fill(rt, y(0), 1.0);
  submit(rt, what, x, y, 2, 0);
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_THAT(e.message(), HasSubstr("there is no kernel 'axpz'"));
}

TEST_P(kernels, whose_image_is_of_another_device_are_refused) {
  runtime rt(make());
  operation::definition bad = axpy("");
  bad.kernel.images = {{.plugin = GetParam().plugin, .bytes = "//\n.version 8.0\n.target sm_90\n.address_size 64\n"}};
  const auto& what = rt.define(bad);
  auto x = rt.make_array<double>("x", {10}, {10});
  auto y = rt.make_array<double>("y", {10}, {10});
  fill(rt, x(0), 1.0);
  fill(rt, y(0), 1.0);
  submit(rt, what, x, y, 2, 0);
  const error e = error_of([&] { rt.fence(); });
  EXPECT_EQ(e.kind(), error_kind::usage) << e.what();
  EXPECT_THAT(e.message(), HasSubstr("loading the image of kernel 'axpy'"));
  operation::definition elsewhere = axpy("");
  elsewhere.name = "elsewhere";
  elsewhere.kernel.images = {{.plugin = GetParam().plugin, .device = "no device is called so", .bytes = "x"}};
  EXPECT_FALSE(rt.define(elsewhere).runs_on(*rt.plugins().devices()[0], element_type::f64, true));
}

TEST_P(kernels, are_compiled_once_by_whoever_comes_first) {
  const bool counts = std::string(GetParam().plugin) != "opencl";  // there the driver compiles
  const fs::path counting = m_root / "cc.sh", calls = m_root / "calls";
  std::ofstream(counting) << "#!/bin/sh\necho called >> '" << calls.string() << "'\nexec cc \"$@\"\n";
  ::chmod(counting.c_str(), 0700);
  runtime rt(make(counts ? "compiler = \"" + counting.string() + "\"\n" : ""));
  const auto& what = rt.define(axpy(text));
  auto x = rt.make_array<double>("x", {6400}, {100});
  auto y = rt.make_array<double>("y", {6400}, {100});
  for (std::int64_t k = 0; k < 64; ++k) {
    fill(rt, x(k), 1.0);
    fill(rt, y(k), 1.0);
  }
  rt.fence();
  for (std::int64_t k = 0; k < 64; ++k) submit(rt, what, x, y, 0.5, k);
  rt.fence();
  for (std::int64_t k = 0; k < 64; ++k) EXPECT_EQ(y.read_host(y(k))[99], 1.5);
  EXPECT_EQ(kept(), 1u);
  if (!counts) return;
  std::ifstream lines(calls);
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(lines), std::istreambuf_iterator<char>(), '\n'), 1);
}

TEST_P(kernels, with_a_compiler_that_is_missing_or_slow) {
  const std::string plugin = GetParam().plugin;
  if (plugin == "opencl") GTEST_SKIP() << "its compiler is the driver's";
  const fs::path slow = m_root / "slow.sh";
  std::ofstream(slow) << "#!/bin/sh\nsleep 600 & wait\n";
  ::chmod(slow.c_str(), 0700);
  for (const std::string& keys : {std::string("compiler = \"/nonexistent/cc\"\n"),
                                  "compiler = \"" + slow.string() + "\"\ncompile_limit = \"100 ms\"\n"}) {
    runtime rt(make(keys));
    const auto& what = rt.define(axpy(text));
    auto x = rt.make_array<double>("x", {10}, {10});
    auto y = rt.make_array<double>("y", {10}, {10});
    fill(rt, x(0), 1.0);
    fill(rt, y(0), 1.0);
    submit(rt, what, x, y, 2, 0);
    const error e = error_of([&] { rt.fence(); });
    EXPECT_EQ(e.kind(), error_kind::device);
    EXPECT_THAT(e.message(),
                ::testing::AnyOf(HasSubstr("/nonexistent/cc is no program"), HasSubstr("was ended after 0.1 s")));
  }
}

std::atomic<int> on_the_host{0};

TEST_P(kernels, stand_beside_a_host_function) {
  const std::string plugin = GetParam().plugin;
  runtime rt(make());
  operation::definition both = axpy(text);
  both.data = std::make_shared<const int>(17);
  both.host = [](const context& c) {
    EXPECT_EQ(*static_cast<const int*>(c.data), 17) << "a definition's data are the program's own";
    on_the_host.fetch_add(1);
    for (std::int64_t i = 0; i < c.operands[0].extents->count(); ++i)
      static_cast<double*>(c.operands[1].host)[i] +=
          c.arguments_as<double>() * static_cast<const double*>(c.operands[0].host)[i];
  };
  both.kernel.launch = [](const context& c, kernel_launch& how) {
    EXPECT_EQ(*static_cast<const int*>(c.data), 17);
    launch(c, how);
  };
  on_the_host = 0;
  run_and_check(rt, rt.define(both));
  EXPECT_EQ(on_the_host > 0, plugin == "host") << "the host prefers its function";
}

TEST_P(kernels, are_submitted_one_by_one_by_replays) {
  runtime rt(make());
  const auto& what = rt.define(axpy(text));
  auto x = rt.make_array<double>("x", {400}, {100});
  auto y = rt.make_array<double>("y", {400}, {100});
  for (std::int64_t k = 0; k < 4; ++k) {
    fill(rt, x(k), 1.0);
    fill(rt, y(k), 0.0);
  }
  auto steps = rt.record([&] {
    for (int step = 0; step < 3; ++step)
      for (std::int64_t k = 0; k < 4; ++k) submit(rt, what, x, y, 1, k);
  });
  for (int round = 0; round < 3; ++round) rt.replay(steps);
  rt.fence();
  for (std::int64_t k = 0; k < 4; ++k) EXPECT_EQ(y.read_host(y(k))[0], 9);
}

INSTANTIATE_TEST_SUITE_P(on, kernels,
                         ::testing::Values(kernel_place{"host", "numa0", "cpu:numa0"},
                                           kernel_place{"cuda_emulated", "cuda_emulated0", "cuda_emulated0"}),
                         [](const auto& which) { return std::string(which.param.plugin); });
#if defined(TESSERA_TEST_OPENCL)
INSTANTIATE_TEST_SUITE_P(on_opencl, kernels, ::testing::Values(kernel_place{"opencl", "opencl0", "opencl0"}),
                         [](const auto& which) { return std::string(which.param.plugin); });

TEST(native_functions, get_opencl_queues) {
  runtime rt(with_gpus("opencl", 1, "64 MiB", ""));
  static std::atomic<int> calls{0};
  calls = 0;
  const auto& what = rt.define({.name = "look",
                                .signature = {intent::update},
                                .native = {{"opencl", [](const context& c, void* queue) {
                                              EXPECT_NE(queue, nullptr);
                                              EXPECT_NE(operation::native_place_of(c, c.operands[0]).handle, nullptr);
                                              calls.fetch_add(1);
                                            }}}});
  auto x = rt.make_array<double>("x", {10}, {10});
  fill(rt, x(0), 1.0);
  const block::access blocks[] = {update(x(0))};
  rt.submit_operation(what, nullptr, 0, blocks);
  rt.fence();
  EXPECT_EQ(calls, 1);
}
#endif

TEST(native_functions, get_queues_and_places) {
  runtime rt(with_gpus("cuda_emulated", 1, "64 MiB", ""));
  static std::atomic<int> calls{0};
  calls = 0;
  const auto& what = rt.define({.name = "look",
                                .signature = {intent::update},
                                .native = {{"cuda_emulated",
                                            [](const context& c, void* queue) {
                                              EXPECT_NE(queue, nullptr);
                                              const auto place = operation::native_place_of(c, c.operands[0]);
                                              EXPECT_NE(place.handle, nullptr);
                                              EXPECT_EQ(place.offset, 0u);
                                              calls.fetch_add(1);
                                            }},
                                           {"cuda", [](const context&, void*) { FAIL() << "of another plugin"; }}}});
  const auto& fails = rt.define(
      {.name = "fails", .signature = {intent::update}, .native = {{"cuda_emulated", [](const context&, void*) {
                                                                     throw std::runtime_error("the vendor's words");
                                                                   }}}});
  auto x = rt.make_array<double>("x", {10}, {10});
  fill(rt, x(0), 1.0);
  const block::access blocks[] = {update(x(0))};
  rt.submit_operation(what, nullptr, 0, blocks);  // only the device has the form, so it runs there
  rt.fence();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(x.read_host(x(0))[9], 1.0);
  rt.submit_operation(fails, nullptr, 0, blocks);
  EXPECT_THAT(error_of([&] { rt.fence(); }).message(), HasSubstr("the vendor's words"));
}

}  // namespace
}  // namespace tessera::testing
