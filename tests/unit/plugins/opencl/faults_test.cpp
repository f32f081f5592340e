// The OpenCL plugin on a driver that fails (tests/plugins/opencl_layer.c stands between the two).
#include <CL/cl.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "tests/unit/plugins/opencl/scaling.hpp"

namespace tessera {
namespace {

using test::at;
using test::opened_plugin;
using test::owned_stream;
using testing::HasSubstr;

class opencl_faults : public testing::Test {
 protected:
  opencl_faults() {
    void* const layer = ::dlopen(TESSERA_OPENCL_LAYER, RTLD_NOW | RTLD_LOCAL);
    if (layer == nullptr) throw std::runtime_error(::dlerror());
    m_fail = reinterpret_cast<decltype(m_fail)>(::dlsym(layer, "opencl_layer_fail"));
    m_failures = reinterpret_cast<decltype(m_failures)>(::dlsym(layer, "opencl_layer_failures"));
    if (std::getenv("OPENCL_LAYERS") == nullptr)
      throw std::runtime_error("OPENCL_LAYERS must name the layer; ctest sets it");
  }
  ~opencl_faults() override { fail(nullptr, 0); }
  void fail(const char* call, int code, int after = 0) const { m_fail(call, after, code); }
  int failures() const { return m_failures(); }

 private:
  void (*m_fail)(const char*, int, int) = nullptr;
  int (*m_failures)() = nullptr;
};

TEST_F(opencl_faults, memory_that_the_driver_does_not_have) {
  const opened_plugin plugin("opencl");
  const auto& device = plugin.devices[0];
  tsr_memory* memory = nullptr;
  fail("clCreateBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE);
  EXPECT_EQ(device.table->mem_alloc(device.handle, 0, 64, &memory), TSR_RESOURCE_EXHAUSTED);
  EXPECT_THAT(opened_plugin::last_error(), HasSubstr("clCreateBuffer of 64 bytes: CL_MEM_OBJECT_ALLOCATION_FAILURE"));
  EXPECT_EQ(failures(), 1);
  fail(nullptr, 0);
  std::uint64_t live = 1, free_before = 0, free_after = 0;
  opened_plugin::check(device.table->query(device.handle, TSR_QUERY_LIVE_ALLOCATIONS, 0, &live));
  EXPECT_EQ(live, 0u);
  opened_plugin::check(device.table->query(device.handle, TSR_QUERY_FREE_BYTES, 0, &free_before));
  opened_plugin::check(device.table->mem_alloc(device.handle, 0, 64, &memory));
  opened_plugin::check(device.table->query(device.handle, TSR_QUERY_FREE_BYTES, 0, &free_after));
  EXPECT_EQ(free_before - free_after, 64u) << "what failed was not counted";
  opened_plugin::check(device.table->mem_free(device.handle, memory));
}

TEST_F(opencl_faults, a_launch_that_is_refused) {
  const opened_plugin plugin("opencl");
  test::scaling work(plugin.devices[0]);
  fail("clEnqueueNDRangeKernel", CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(work.enqueue(), TSR_UNKNOWN);
  EXPECT_THAT(opened_plugin::last_error(), HasSubstr("scale: CL_INVALID_WORK_GROUP_SIZE"));
  fail(nullptr, 0);
  opened_plugin::check(work.enqueue());
  EXPECT_EQ(work.result(), work.expected());
}

TEST_F(opencl_faults, a_callback_that_is_refused_is_not_called) {
  const opened_plugin plugin("opencl");
  const auto& device = plugin.devices[0];
  std::atomic<int> calls{0};
  const auto count = [](void* n) { ++*static_cast<std::atomic<int>*>(n); };
  {
    const owned_stream stream(device);
    opened_plugin::check(device.table->stream_callback(device.handle, stream.handle, count, &calls));
    fail("clSetEventCallback", CL_OUT_OF_HOST_MEMORY);
    EXPECT_EQ(device.table->stream_callback(device.handle, stream.handle, count, &calls), TSR_RESOURCE_EXHAUSTED);
    fail(nullptr, 0);
    opened_plugin::check(device.table->stream_callback(device.handle, stream.handle, count, &calls));
  }
  EXPECT_EQ(calls, 2) << "a stream that is destroyed waits for its callbacks";
}

TEST_F(opencl_faults, a_device_without_context_says_so) {
  {
    const opened_plugin plugin("opencl");  // loses the device, and with it the context that other tests made
    test::scaling work(plugin.devices[0]);
    fail("clEnqueueNDRangeKernel", CL_DEVICE_NOT_AVAILABLE);
    EXPECT_EQ(work.enqueue(), TSR_DEVICE_LOST);
  }
  fail("clCreateContext", CL_OUT_OF_HOST_MEMORY);
  const opened_plugin plugin("opencl");
  const auto& device = plugin.devices[0];
  tsr_stream* stream = nullptr;
  EXPECT_EQ(device.table->stream_create(device.handle, TSR_STREAM_COMPUTE, &stream), TSR_RESOURCE_EXHAUSTED);
  EXPECT_THAT(opened_plugin::last_error(), HasSubstr("clCreateContext: CL_OUT_OF_HOST_MEMORY"));
  fail(nullptr, 0);
  test::scaling work(device);  // a later attempt succeeds
  opened_plugin::check(work.enqueue());
  EXPECT_EQ(work.result(), work.expected());
}

/// Lost by a call, or by a command that the driver ended.
class opencl_loss : public opencl_faults, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(at, opencl_loss, testing::Values("clEnqueueNDRangeKernel", "clGetEventInfo"),
                         [](const auto& test) { return test.param; });

TEST_P(opencl_loss, is_sticky_and_calls_what_is_due) {
  const bool by_call = std::string(GetParam()) == "clEnqueueNDRangeKernel";
  const opened_plugin plugin("opencl");
  const auto& device = plugin.devices[0];
  std::atomic<int> calls{0};
  tsr_memory* memory = nullptr;
  {
    test::scaling work(device);
    opened_plugin::check(device.table->mem_alloc(device.handle, 0, 64, &memory));
    opened_plugin::check(work.enqueue());
    opened_plugin::check(device.table->stream_callback(
        device.handle, work.stream.handle, [](void* n) { ++*static_cast<std::atomic<int>*>(n); }, &calls));
    tsr_ticket ticket{};
    opened_plugin::check(device.table->stream_signal(device.handle, work.stream.handle, &ticket));
    fail(GetParam(), by_call ? CL_DEVICE_NOT_AVAILABLE : CL_OUT_OF_RESOURCES);
    if (by_call) {
      EXPECT_EQ(work.enqueue(), TSR_DEVICE_LOST);
      EXPECT_THAT(opened_plugin::last_error(), HasSubstr("scale: CL_DEVICE_NOT_AVAILABLE"));
    }
    std::uint64_t value = 0, failed = 0;
    while (device.table->stream_progress(device.handle, work.stream.handle, &value, &failed) != TSR_DEVICE_LOST)
      std::this_thread::yield();
    if (!by_call) {
      EXPECT_THAT(opened_plugin::last_error(), HasSubstr("scale was ended by the driver: CL_OUT_OF_RESOURCES"));
    }
    EXPECT_EQ(value, ticket.value) << "all that was signalled counts as reached";
    EXPECT_EQ(calls, 1);
    fail(nullptr, 0);
    EXPECT_EQ(device.table->health(device.handle), TSR_DEVICE_LOST);
    EXPECT_EQ(work.enqueue(), TSR_DEVICE_LOST);
    tsr_memory* more = nullptr;
    EXPECT_EQ(device.table->mem_alloc(device.handle, 0, 8, &more), TSR_DEVICE_LOST);
    EXPECT_EQ(device.table->mem_free(device.handle, memory), TSR_DEVICE_LOST);
  }
  const opened_plugin again("opencl");  // beside the lost one: its context is another
  EXPECT_EQ(again.devices.size(), plugin.devices.size());
}

TEST_F(opencl_faults, opens_again_after_a_lost_device) {
  for (int round = 0; round < 3; ++round) {
    const opened_plugin plugin("opencl");
    test::scaling work(plugin.devices[0]);
    opened_plugin::check(work.enqueue());
    EXPECT_EQ(work.result(), work.expected());
    fail("clEnqueueNDRangeKernel", CL_DEVICE_NOT_AVAILABLE);
    EXPECT_EQ(work.enqueue(), TSR_DEVICE_LOST);
    fail(nullptr, 0);
  }
}

// Run in processes of their own (tests/unit/CMakeLists.txt), since devices are looked at once.
TEST(opencl_device, without_doubles_offers_floats_alone) {
  if (std::getenv("OPENCL_LAYER_DEVICE") == nullptr) GTEST_SKIP() << "the layer was not told to hide them";
  const opened_plugin plugin("opencl");
  ASSERT_GE(plugin.devices.size(), 1u);
  const auto& device = plugin.devices[0];
  EXPECT_EQ(device.description.capabilities & TSR_DEVICE_HAS_FP64, 0u);
  EXPECT_EQ(device.description.peak_f64, 0);
  EXPECT_TRUE(device.blas->supports(device.handle, TSR_BLAS_GEMM, TSR_C64));
  EXPECT_FALSE(device.blas->supports(device.handle, TSR_BLAS_GEMM, TSR_F64));
  EXPECT_FALSE(device.tensor->supports(device.handle, TSR_TENSOR_PERMUTE, TSR_C128));
  EXPECT_TRUE(device.tensor->supports(device.handle, TSR_TENSOR_FILL, TSR_F64));
  test::scaling work(device);
  opened_plugin::check(work.enqueue());
  EXPECT_EQ(work.result(), work.expected());
  tsr_vector_operation v{};
  v.struct_size = sizeof v;
  v.type = TSR_F64;
  v.incx = v.incy = 1;
  const double alpha = 1;
  v.alpha = &alpha;
  EXPECT_EQ(device.blas->scal(device.handle, work.stream.handle, &v), TSR_UNIMPLEMENTED);
  EXPECT_THAT(opened_plugin::last_error(), HasSubstr("no double precision"));
}

TEST(opencl_device, without_a_compiler_is_no_device) {
  if (std::getenv("OPENCL_LAYER_DEVICE") == nullptr) GTEST_SKIP() << "the layer was not told to hide it";
  const opened_plugin plugin("opencl");
  EXPECT_EQ(plugin.status, TSR_OK);
  EXPECT_TRUE(plugin.devices.empty());
  EXPECT_THAT(opened_plugin::last_error(), HasSubstr("its driver has no compiler"));
}

}  // namespace
}  // namespace tessera
