// GPU plugins, most of it on the emulator, through their C ABI: what the conformance suite does not ask.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/unit/plugins/gpu/plugins.hpp"
#include "tests/unit/plugins/opened_plugin.hpp"

namespace tessera {
namespace {

using test::at;
using test::flat_copy;
using test::opened_plugin;
using test::owned_stream;

tsr_memory* allocated(const opened_plugin::device& device, std::uint32_t space, std::uint64_t bytes) {
  tsr_memory* memory = nullptr;
  opened_plugin::check(device.table->mem_alloc(device.handle, space, bytes, &memory));
  return memory;
}

/// What holds for each of them.
class every_gpu_plugin : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(plugins, every_gpu_plugin, testing::ValuesIn(test::gpu_plugins()),
                         [](const auto& test) { return test.param; });

TEST(gpu_plugin, has_device_memory_and_pinned_memory) {
  const opened_plugin plugin(
      "cuda_emulated", {{"devices", TSR_OPTION_INT, 2, 0, {}}, {"memory_limit", TSR_OPTION_BYTES, 1 << 20, 0, {}}});
  ASSERT_EQ(plugin.devices.size(), 2u);
  const auto& device = plugin.devices[1];
  EXPECT_EQ(device.description.device_class, TSR_DEVICE_GPU);
  EXPECT_STREQ(device.description.name, "Emulated GPU 1");
  tsr_space_desc own{}, pinned{};
  own.struct_size = pinned.struct_size = sizeof own;
  opened_plugin::check(device.table->spaces(device.handle, 0, &own));
  opened_plugin::check(device.table->spaces(device.handle, 1, &pinned));
  EXPECT_EQ(own.kind, TSR_SPACE_DEVICE);
  EXPECT_EQ(own.bytes, 1u << 20);
  EXPECT_EQ(own.capabilities & TSR_SPACE_HOST_VISIBLE, 0u);
  EXPECT_EQ(pinned.kind, TSR_SPACE_PINNED);
  EXPECT_NE(pinned.capabilities & TSR_SPACE_HOST_VISIBLE, 0u);

  tsr_memory* const slab = allocated(device, 1, 64);
  void* base = nullptr;
  opened_plugin::check(device.table->mem_base(device.handle, slab, &base));
  std::memset(base, 7, 64);  // the host writes there
  const owned_stream stream(device);
  tsr_memory* const there = allocated(device, 0, 64);
  const auto in = flat_copy({device.handle, 0}, at(there), {device.handle, 1}, at(slab), 64);
  const auto out = flat_copy({device.handle, 1}, at(slab, 32), {device.handle, 0}, at(there), 32);
  const unsigned char nine = 9;
  opened_plugin::check(device.table->copy(device.handle, stream.handle, &in));
  opened_plugin::check(device.table->fill(device.handle, stream.handle, at(there), &nine, 1, 16));
  opened_plugin::check(device.table->copy(device.handle, stream.handle, &out));
  stream.finish();
  const auto* bytes = static_cast<const unsigned char*>(base);
  EXPECT_EQ(bytes[31], 7);
  EXPECT_EQ(bytes[32], 9);
  EXPECT_EQ(bytes[48], 7);
  // A copy names the space that memory is in.
  const auto wrong = flat_copy({device.handle, 0}, at(slab), {device.handle, 0}, at(there), 8);
  EXPECT_EQ(device.table->copy(device.handle, stream.handle, &wrong), TSR_INVALID_ARGUMENT);
  for (tsr_memory* memory : {slab, there}) opened_plugin::check(device.table->mem_free(device.handle, memory));
}

TEST(gpu_plugin, has_managed_memory_where_it_is_asked_for) {
  const opened_plugin plugin("cuda_emulated", {{"memory", TSR_OPTION_STRING, 0, 0, "managed"}});
  const auto& device = plugin.devices[0];
  tsr_space_desc own{};
  own.struct_size = sizeof own;
  opened_plugin::check(device.table->spaces(device.handle, 0, &own));
  EXPECT_EQ(own.kind, TSR_SPACE_MANAGED);
  EXPECT_NE(own.capabilities & TSR_SPACE_HOST_VISIBLE, 0u);
  tsr_memory* const memory = allocated(device, 0, 64);
  void* base = nullptr;
  opened_plugin::check(device.table->mem_base(device.handle, memory, &base));
  std::memset(base, 7, 64);  // the host writes there
  const owned_stream stream(device);
  const unsigned char nine = 9;
  opened_plugin::check(device.table->fill(device.handle, stream.handle, at(memory), &nine, 1, 32));
  stream.finish();
  EXPECT_EQ(static_cast<const unsigned char*>(base)[31], 9);
  EXPECT_EQ(static_cast<const unsigned char*>(base)[32], 7);
  opened_plugin::check(device.table->mem_free(device.handle, memory));
}

TEST_P(every_gpu_plugin, fills_where_words_do_not_lie_on_words) {
  const opened_plugin plugin(GetParam());
  const auto& device = plugin.devices[0];
  const owned_stream stream(device);
  for (const std::uint32_t width : {2u, 4u, 8u, 16u}) {
    std::vector<unsigned char> pattern(width), back(width * 40 + 2, 0);
    for (std::uint32_t i = 0; i < width; ++i) pattern[i] = static_cast<unsigned char>(17 * i + 1);
    tsr_memory* const memory = allocated(device, 0, back.size());
    const unsigned char zero = 0;
    opened_plugin::check(device.table->fill(device.handle, stream.handle, at(memory), &zero, 1, back.size()));
    opened_plugin::check(device.table->fill(device.handle, stream.handle, at(memory, 1), pattern.data(), width, 40));
    const auto out = flat_copy({nullptr, 0}, at(back.data()), {device.handle, 0}, at(memory), back.size());
    opened_plugin::check(device.table->copy(device.handle, stream.handle, &out));
    stream.finish();
    EXPECT_EQ(back.front(), 0);
    EXPECT_EQ(back.back(), 0);
    for (std::size_t i = 0; i + 2 < back.size(); ++i)
      ASSERT_EQ(back[i + 1], pattern[i % width]) << i << " of width " << width;
    opened_plugin::check(device.table->mem_free(device.handle, memory));
  }
}

TEST_P(every_gpu_plugin, copies_planes_that_are_no_whole_rows_apart) {
  const opened_plugin plugin(GetParam());
  const auto& device = plugin.devices[0];
  const owned_stream stream(device);
  std::vector<unsigned char> host(4 * 101), back(4 * 12, 0);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned char>(i * 7 + i / 101);
  tsr_memory* const memory = allocated(device, 0, host.size());
  auto in = flat_copy({device.handle, 0}, at(memory), {nullptr, 0}, at(host.data()), 4);
  in.rows[0] = 3, in.rows[1] = 4;
  in.destination_stride[0] = in.source_stride[0] = 10;
  in.destination_stride[1] = in.source_stride[1] = 101;
  auto out = in;
  out.destination_space = {nullptr, 0}, out.destination = at(back.data());
  out.source_space = {device.handle, 0}, out.source = at(memory);
  out.destination_stride[0] = 4, out.destination_stride[1] = 12;
  opened_plugin::check(device.table->copy(device.handle, stream.handle, &in));
  opened_plugin::check(device.table->copy(device.handle, stream.handle, &out));
  stream.finish();
  for (std::size_t p = 0; p < 4; ++p)
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t b = 0; b < 4; ++b) EXPECT_EQ(back[p * 12 + r * 4 + b], host[p * 101 + r * 10 + b]);
  opened_plugin::check(device.table->mem_free(device.handle, memory));
}

struct held_task {
  std::atomic<bool> entered{false}, go{false}, done{false};
  static tsr_status run(void* self, void* const* bases) {
    auto& task = *static_cast<held_task*>(self);
    task.entered = true;
    while (!task.go) std::this_thread::yield();
    static_cast<unsigned char*>(bases[0])[0] = 1;
    task.done = true;
    return TSR_OK;
  }
};

/// Breaks its device once it may.
struct breaker {
  std::atomic<bool> go{false}, broke{false};
  static tsr_status run(void* self, void* const*) {
    auto& task = *static_cast<breaker*>(self);
    while (!task.go) std::this_thread::yield();
    task.broke = true;
    return TSR_DEVICE_LOST;
  }
};

TEST(gpu_plugin, is_lost_only_when_nothing_of_it_runs_any_more) {
  const opened_plugin plugin("cuda_emulated");
  const auto& device = plugin.devices[0];
  tsr_stream *busy = nullptr, *breaking = nullptr;
  opened_plugin::check(device.table->stream_create(device.handle, TSR_STREAM_COMPUTE, &busy));
  opened_plugin::check(device.table->stream_create(device.handle, TSR_STREAM_COMPUTE, &breaking));
  tsr_memory* const memory = allocated(device, 0, 64);
  held_task task;
  const tsr_address range = at(memory);
  opened_plugin::check(device.table->host_task(device.handle, busy, &held_task::run, &task, &range, 1, 0));
  std::atomic<int> calls{0};
  opened_plugin::check(device.table->stream_callback(
      device.handle, busy, [](void* n) { ++*static_cast<std::atomic<int>*>(n); }, &calls));
  tsr_ticket behind{};
  opened_plugin::check(device.table->stream_signal(device.handle, busy, &behind));
  while (!task.entered) std::this_thread::yield();

  breaker fault;
  opened_plugin::check(device.table->host_task(device.handle, breaking, &breaker::run, &fault, nullptr, 0, 0));
  tsr_ticket broken{};
  opened_plugin::check(device.table->stream_signal(device.handle, breaking, &broken));
  fault.go = true;  // only now: a call on a broken device waits for its end, and that for `task`
  while (!fault.broke) std::this_thread::yield();
  // A poll never blocks, and does not say "lost" while the task on the other stream still may write.
  std::uint64_t value = 0, failed = 0;
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(device.table->stream_progress(device.handle, breaking, &value, &failed), TSR_OK);
    ASSERT_EQ(device.table->health(device.handle), TSR_OK);
    std::this_thread::yield();
  }
  task.go = true;
  while (device.table->stream_progress(device.handle, breaking, &value, &failed) != TSR_DEVICE_LOST)
    std::this_thread::yield();
  EXPECT_TRUE(task.done);
  EXPECT_EQ(value, broken.value);
  EXPECT_EQ(calls, 1) << "a callback behind the break is called all the same";

  // From here on every call says so, and only so.
  EXPECT_EQ(device.table->health(device.handle), TSR_DEVICE_LOST);
  EXPECT_EQ(device.table->stream_progress(device.handle, busy, &value, &failed), TSR_DEVICE_LOST);
  EXPECT_EQ(value, behind.value);
  tsr_memory* more = nullptr;
  EXPECT_EQ(device.table->mem_alloc(device.handle, 0, 8, &more), TSR_DEVICE_LOST);
  tsr_ticket ticket{};
  EXPECT_EQ(device.table->stream_signal(device.handle, busy, &ticket), TSR_DEVICE_LOST);
  EXPECT_EQ(device.table->stream_host_wait(device.handle, behind, 0), TSR_DEVICE_LOST);
  const unsigned char byte = 0;
  EXPECT_EQ(device.table->fill(device.handle, busy, at(memory), &byte, 1, 1), TSR_DEVICE_LOST);
  EXPECT_NE(opened_plugin::last_error().find("lost"), std::string::npos) << opened_plugin::last_error();
  EXPECT_EQ(device.table->mem_free(device.handle, memory), TSR_DEVICE_LOST);
  EXPECT_EQ(device.table->stream_destroy(device.handle, busy), TSR_DEVICE_LOST);
  EXPECT_EQ(device.table->stream_destroy(device.handle, breaking), TSR_DEVICE_LOST);
}

TEST(gpu_plugin, opens_again_after_a_lost_device) {
  for (int i = 0; i < 3; ++i) {
    const opened_plugin plugin("cuda_emulated");
    const auto& device = plugin.devices[0];
    ASSERT_EQ(device.table->health(device.handle), TSR_OK);
    tsr_stream* stream = nullptr;
    opened_plugin::check(device.table->stream_create(device.handle, TSR_STREAM_COMPUTE, &stream));
    allocated(device, 0, 64);  // left behind
    opened_plugin::check(device.table->host_task(
        device.handle, stream, [](void*, void* const*) { return tsr_status{TSR_DEVICE_LOST}; }, nullptr, nullptr, 0,
        0));
  }
}

TEST(gpu_plugin, a_wait_for_a_lost_device_passes) {
  const opened_plugin plugin("cuda_emulated", {{"devices", TSR_OPTION_INT, 2, 0, {}}});
  const auto &lost = plugin.devices[0], &other = plugin.devices[1];
  tsr_stream* stream = nullptr;
  opened_plugin::check(lost.table->stream_create(lost.handle, TSR_STREAM_COMPUTE, &stream));
  breaker fault;
  opened_plugin::check(lost.table->host_task(lost.handle, stream, &breaker::run, &fault, nullptr, 0, 0));
  tsr_ticket ticket{};
  opened_plugin::check(lost.table->stream_signal(lost.handle, stream, &ticket));
  fault.go = true;
  const owned_stream waiting(other);
  opened_plugin::check(other.table->stream_wait(other.handle, waiting.handle, ticket));
  waiting.finish();
  EXPECT_EQ(other.table->health(other.handle), TSR_OK);
}

}  // namespace
}  // namespace tessera
