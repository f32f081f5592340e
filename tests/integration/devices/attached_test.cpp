// Every thread that uses a device has attached itself to it, and is detached when it ends.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/plugin/attachments.hpp"
#include "tests/integration/faults/faulty.hpp"
#include "tests/integration/runtime/machines.hpp"

namespace tessera {
namespace {

machine attached_to(const std::string& plugin, const std::string& tables) {
  const std::string others = plugin == "host" ? "" : ", \"" + plugin + "\"";
  return testing::machine_of("plugin_path = [\"" TESSERA_PLUGIN_DIR "\", \"" TESSERA_BINARY_DIR
                             "/tests/plugins\"]\nplugins = [\"host\"" +
                             others + "]\nlayers = [\"attached:" + plugin + "\"]\nhistory = \"off\"\n" + tables);
}

/// What the layer counts under this name.
template <class Number>
Number counted(const char* name) {
  void* const layer = dlopen(TESSERA_BINARY_DIR "/tests/plugins/tessera_attached.so", RTLD_NOW | RTLD_NOLOAD);
  if (layer == nullptr) throw std::runtime_error(dlerror());
  const auto count = reinterpret_cast<Number (*)()>(dlsym(layer, name));
  dlclose(layer);
  return count();
}
/// Threads that are attached now, over all devices behind the layer.
std::uint32_t attached_threads() { return counted<std::uint32_t>("tsr_test_attached"); }
/// Devices to which a thread is attached; other threads may come meanwhile: workers begin when they like.
std::uint32_t devices_of(std::thread::id thread) {
  void* const layer = dlopen(TESSERA_BINARY_DIR "/tests/plugins/tessera_attached.so", RTLD_NOW | RTLD_NOLOAD);
  if (layer == nullptr) throw std::runtime_error(dlerror());
  const auto count = reinterpret_cast<std::uint32_t (*)(const void*)>(dlsym(layer, "tsr_test_attached_of"));
  dlclose(layer);
  return count(&thread);
}

struct behind {
  const char *plugin, *tables;
  int blocks;
};
class attached : public ::testing::TestWithParam<behind> {};

TEST_P(attached, is_every_thread_that_uses_a_device) {
  const behind& b = GetParam();
  const std::uint64_t seed = testing::number_from("TESSERA_SEED", std::random_device{}());
  SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed));
  runtime rt(attached_to(b.plugin, b.tables));
  testing::random_blocks program(rt, b.blocks, 512);
  testing::run_random(program, seed, 300);
  rt.fence();
  program.check_all();
  const testing::deadline limit("a worker that begins");
  while (attached_threads() < 2) std::this_thread::yield();  // this thread, and a worker, which begins when it likes
  std::thread::id ended;
  std::uint32_t before = 0;  // of devices that other tests have given up, to a thread that had the same id
  // Another thread of the program submits, waits, adopts memory and ends.
  std::thread([&] {
    ended = std::this_thread::get_id();
    before = devices_of(ended);
    std::vector<double> mine(4096, 2.0);
    {
      auto x = rt.adopt("mine", std::span(mine), 512);
      auto y = rt.make_array<double>("y", {4096}, {512});
      for (int k = 0; k < 8; ++k) {
        fill(rt, y(k), 1.0);
        axpy(rt, 3.0, x(k), y(k));
      }
      for (int k = 0; k < 8; ++k) EXPECT_EQ(y.read_host(y(k))[511], 7.0);
    }
    rt.fence();
    EXPECT_GT(devices_of(ended), before);
  }).join();
  EXPECT_EQ(devices_of(ended), before);
}

INSTANTIATE_TEST_SUITE_P(
    plugins, attached,
    ::testing::Values(behind{"host", "", 24},
                      behind{"sim",
                             "[plugin.sim]\nclock = \"real\"\n[[plugin.sim.device]]\nmemory = \"64 KiB\"\n"
                             "[[plugin.sim.device]]\nmemory = \"1 MiB\"\n",
                             24},
                      behind{"cuda_emulated", "[plugin.cuda_emulated]\ndevices = 2\nmemory_limit = \"64 KiB\"\n", 24},
                      behind{"disk",
                             "[memory]\nslab_bytes = \"64 KiB\"\nstaging_bytes = \"64 KiB\"\nhost_limit = \"64 KiB\"\n",
                             200}),
    [](const auto& test) { return std::string(test.param.plugin); });

/// The first that a thread has to do with the devices is to register memory.
TEST(attached_registering, is_a_thread_that_has_done_nothing_else) {
  runtime rt(attached_to("cuda_emulated", "[plugin.cuda_emulated]\nmemory_limit = \"1 MiB\"\n"));
  const auto attached_here = [] { return counted<std::uint32_t>("tsr_test_attached_here"); };
  std::vector<double> mine(4096);
  std::thread([&] {
    EXPECT_EQ(attached_here(), 0u);
    rt.register_memory(mine.data(), mine.size() * sizeof(double));
    EXPECT_EQ(attached_here(), 1u);
  }).join();
  std::thread([&] {
    rt.unregister_memory(mine.data());
    EXPECT_EQ(attached_here(), 1u);
  }).join();
}

/// A device of which only the entries for threads are called: it answers as `attach` does, and counts.
struct refusing {
  static inline std::atomic<int> attached{0}, detached{0};
  static tsr_status refuse(tsr_device*) {
    ++attached;
    return TSR_RESOURCE_EXHAUSTED;
  }
  static tsr_status throws(tsr_device*) {
    ++attached;
    throw std::runtime_error("forty-two is not a prime");
  }
  static tsr_status detach(tsr_device*) {
    ++detached;
    return TSR_OK;
  }
};

TEST(attached_not, is_a_thread_that_was_refused_and_it_is_not_detached) {
  for (const auto attach : {&refusing::refuse, &refusing::throws}) {
    refusing::attached = refusing::detached = 0;
    tsr_device_table table{};
    table.struct_size = sizeof table;
    table.thread_attach = attach;
    table.thread_detach = &refusing::detach;
    std::vector<std::string> told;
    const auto of = std::make_shared<plugin::attachments>(nullptr, table, "x0",
                                                          [&](int, const std::string& line) { told.push_back(line); });
    for (int k = 0; k < 2; ++k)
      std::thread([&] {
        of->attach_this_thread();
        of->attach_this_thread();
      }).join();
    EXPECT_EQ(refusing::attached, 2) << "a thread is asked for once";
    EXPECT_EQ(refusing::detached, 0);
    ASSERT_EQ(told.size(), 1u);
    EXPECT_NE(told[0].find("device \"x0\" refuses a thread"), std::string::npos) << told[0];
    EXPECT_EQ(told[0].find("threw a C++ exception out of thread_attach") != std::string::npos,
              attach == &refusing::throws)
        << told[0];
  }
}

/// A thread_local object that is older than the thread's attachments, and uses devices after they have ended.
struct late_user {
  runtime* rt = nullptr;
  ~late_user() {
    if (rt == nullptr) return;
    auto a = rt->make_array<double>("late", {64}, {64});
    fill(*rt, a(0), 2.0, {.at = rt->at("sim0")});
    EXPECT_EQ(a.read_host(a(0))[63], 2.0);
    EXPECT_NO_THROW(rt->fence());
  }
};

TEST(attached_late, is_a_thread_whose_thread_local_objects_have_begun_to_end) {
  runtime rt(attached_to("sim", "[plugin.sim]\nclock = \"real\"\n[[plugin.sim.device]]\nmemory = \"1 MiB\"\n"));
  std::thread([&] {
    static thread_local late_user late;
    late.rt = &rt;
    auto a = rt.make_array<double>("a", {64}, {64});
    fill(rt, a(0), 1.0);
    EXPECT_EQ(a.read_host(a(0))[0], 1.0);
  }).join();
}

TEST(attached_to_a_hanging_device, threads_end_without_asking_it) {
  const testing::deadline limit("detaching from a hanging device");
  std::uint32_t before = 0;
  {
    runtime rt(
        attached_to("sim",
                    "watchdog = \"200 ms\"\n[plugin.sim]\nclock = \"real\"\n[[plugin.sim.device]]\nmemory = \"1 MiB\"\n"
                    "[[plugin.sim.inject]]\nkind = \"hang\"\non = \"kernel\"\nat = 1\n"));
    auto a = rt.make_array<double>("a", {64}, {64});
    fill(rt, a(0), 1.0, {.at = rt.at("sim0")});
    EXPECT_THROW(rt.fence(), error);
    before = counted<std::uint32_t>("tsr_test_detached");
    // The library stays loaded while its plugin is given up.
  }
  EXPECT_EQ(counted<std::uint32_t>("tsr_test_detached"), before);
}

/// Where a plugin calls nobody, a thread waits in stream_host_wait; the driver that asked from time to time asked 2000
/// times here.
TEST(completion, without_callbacks_is_waited_for) {
  runtime rt(testing::machine_of(
      "plugin_path = [\"" TESSERA_PLUGIN_DIR "\", \"" TESSERA_BINARY_DIR
      "/tests/plugins\"]\nplugins = [\"host\", \"sim\"]\nlayers = [\"without:sim\", \"attached:sim\"]\nhistory = "
      "\"off\"\n"
      "[plugin.without]\nleave_out = \"stream_callback\"\n"
      "[plugin.sim]\nclock = \"real\"\n[[plugin.sim.device]]\nmemory = \"1 MiB\"\nflops = \"0.02 MFLOP/s\"\n"));
  auto a = rt.make_array<double>("a", {4096}, {4096});
  fill(rt, a(0), 1.0, {.at = rt.at("sim0")});
  rt.fence();
  const auto before = counted<std::uint64_t>("tsr_test_asked");
  scal(rt, 3.0, a(0), {.at = rt.at("sim0")});  // 0.2 s and more
  rt.fence();
  EXPECT_LT(counted<std::uint64_t>("tsr_test_asked") - before, 100u);
  EXPECT_EQ(a.read_host(a(0))[4095], 3.0);
}

}  // namespace
}  // namespace tessera
