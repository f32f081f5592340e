// Graphs of GPU plugins, on the emulator: kernels and host tasks, recorded once and launched on other streams.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/plugins/opened_plugin.hpp"

namespace tessera {
namespace {

using test::at;
using test::flat_copy;
using test::opened_plugin;
using test::owned_stream;

class gpu_graph : public testing::Test {
 protected:
  gpu_graph() { opened_plugin::check(device.table->mem_alloc(device.handle, 0, 8 * count, &memory)); }
  ~gpu_graph() override { device.table->mem_free(device.handle, memory); }

  template <class Record>
  tsr_graph* recorded(const owned_stream& stream, Record&& record) {
    opened_plugin::check(device.graph->capture_begin(device.handle, stream.handle));
    record();
    tsr_graph* graph = nullptr;
    opened_plugin::check(device.graph->capture_end(device.handle, stream.handle, &graph));
    return graph;
  }
  void copy(const owned_stream& stream, std::vector<double>& host, bool in) {
    const auto to_device = flat_copy({device.handle, 0}, at(memory), {nullptr, 0}, at(host.data()), 8 * count);
    const auto to_host = flat_copy({nullptr, 0}, at(host.data()), {device.handle, 0}, at(memory), 8 * count);
    opened_plugin::check(device.table->copy(device.handle, stream.handle, in ? &to_device : &to_host));
  }
  void doubled(const owned_stream& stream) {
    const double two = 2;
    tsr_vector_operation v{};
    v.struct_size = sizeof v;
    v.type = TSR_F64, v.n = count, v.incx = 1, v.alpha = &two, v.x = at(memory);
    opened_plugin::check(device.blas->scal(device.handle, stream.handle, &v));
  }

  static constexpr int count = 1000;
  opened_plugin plugin{"cuda_emulated"};
  const opened_plugin::device& device = plugin.devices[0];
  tsr_memory* memory = nullptr;
};

TEST_F(gpu_graph, kernels_and_copies_run_at_every_launch_and_not_before) {
  ASSERT_NE(device.graph, nullptr);
  const owned_stream recording(device), launching(device);
  std::vector<double> in(count, 3), out(count, 0);
  tsr_graph* const graph = recorded(recording, [&] {
    copy(recording, in, true);
    doubled(recording);
    doubled(recording);
    copy(recording, out, false);
  });
  recording.finish();
  EXPECT_EQ(out, std::vector<double>(count, 0)) << "recorded work ran";
  for (const double value : {1.0, 5.0}) {
    in.assign(count, value);
    opened_plugin::check(device.graph->launch(device.handle, launching.handle, graph));
    launching.finish();
    EXPECT_EQ(out, std::vector<double>(count, 4 * value));
  }
  opened_plugin::check(device.graph->launch(device.handle, launching.handle, graph));
  opened_plugin::check(device.graph->destroy(device.handle, graph));  // the launch under way still ends
  launching.finish();
  EXPECT_EQ(device.graph->destroy(device.handle, graph), TSR_INVALID_ARGUMENT);
}

TEST_F(gpu_graph, what_cannot_be_recorded_is_refused_and_leaves_the_recording_as_it_was) {
  const owned_stream stream(device);
  std::vector<double> in(count, 3), out(count, 0);
  tsr_graph* const graph = recorded(stream, [&] {
    tsr_ticket ticket{};
    tsr_memory* more = nullptr;
    EXPECT_EQ(device.table->stream_signal(device.handle, stream.handle, &ticket), TSR_FAILED_PRECONDITION);
    EXPECT_EQ(device.table->stream_wait(device.handle, stream.handle, ticket), TSR_FAILED_PRECONDITION);
    EXPECT_EQ(device.table->stream_callback(
                  device.handle, stream.handle, [](void*) {}, nullptr),
              TSR_FAILED_PRECONDITION);
    EXPECT_EQ(device.table->stream_destroy(device.handle, stream.handle), TSR_FAILED_PRECONDITION);
    EXPECT_EQ(device.table->mem_alloc(device.handle, 0, 8, &more), TSR_FAILED_PRECONDITION);
    EXPECT_EQ(device.table->mem_free(device.handle, memory), TSR_FAILED_PRECONDITION);
    EXPECT_EQ(device.graph->capture_begin(device.handle, stream.handle), TSR_FAILED_PRECONDITION);
    copy(stream, in, true);
    copy(stream, out, false);
  });
  opened_plugin::check(device.graph->launch(device.handle, stream.handle, graph));
  stream.finish();
  EXPECT_EQ(out, in);
  opened_plugin::check(device.graph->destroy(device.handle, graph));
}

TEST_F(gpu_graph, a_host_task_that_fails_is_told_of_where_the_graph_was_launched) {
  const owned_stream recording(device), launching(device);
  tsr_graph* const graph = recorded(recording, [&] {
    opened_plugin::check(device.table->host_task(
        device.handle, recording.handle, [](void*, void* const*) { return tsr_status{TSR_DATA_LOSS}; }, nullptr,
        nullptr, 0, 0));
  });
  for (int i = 0; i < 2; ++i) {
    const tsr_ticket before = launching.signal();
    opened_plugin::check(device.graph->launch(device.handle, launching.handle, graph));
    const tsr_ticket behind = launching.signal();
    opened_plugin::check(device.table->stream_host_wait(device.handle, behind, ~0ull));
    std::uint64_t value = 0, failed = 0;
    EXPECT_EQ(device.table->stream_progress(device.handle, launching.handle, &value, &failed), TSR_DATA_LOSS);
    EXPECT_EQ(failed, behind.value);
    EXPECT_GT(failed, before.value);
  }
  recording.finish();
  std::uint64_t value = 0, failed = 0;
  EXPECT_EQ(device.table->stream_progress(device.handle, recording.handle, &value, &failed), TSR_OK);
  opened_plugin::check(device.graph->destroy(device.handle, graph));
}

TEST_F(gpu_graph, closing_ends_what_is_recorded_and_graphs_that_are_left) {
  tsr_stream *unfinished = nullptr, *stream = nullptr;
  opened_plugin::check(device.table->stream_create(device.handle, TSR_STREAM_COMPUTE, &unfinished));
  opened_plugin::check(device.table->stream_create(device.handle, TSR_STREAM_COMPUTE, &stream));
  opened_plugin::check(device.graph->capture_begin(device.handle, stream));
  tsr_graph* left = nullptr;
  opened_plugin::check(device.graph->capture_end(device.handle, stream, &left));
  opened_plugin::check(device.graph->capture_begin(device.handle, unfinished));
  // Leaks are found by the address sanitizer; the memory of the fixture is freed by closing too.
}

}  // namespace
}  // namespace tessera
