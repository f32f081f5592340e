// The GRAPH table: the vendor's runtime captures what is enqueued on a stream.
#include "plugins/gpu_common/abi/handles.hpp"
#include "plugins/kit/abi/graph_calls.hpp"

namespace tessera::gpu {
namespace {

struct graph_rules : rules {
  using graph = tsr_graph_s;
  static constexpr std::uint64_t graph_magic = gpu::graph_magic;
  static bool is_recording(const tsr_stream* stream) { return state_of(stream).recording; }

  static tsr_status begin(tsr_device* device, tsr_stream* stream) {
    auto& state = state_of(stream);
    if (const auto& library = device->plugin->dense) library->prepare(state.dense, state.native);
    if (const auto& library = device->plugin->sparse_library) library->prepare(state.sparse, state.native);
    if (const auto status = tell(device, begin_capture(state.native), "beginning a capture")) return status;
    state.recording = true;
    return TSR_OK;
  }

  static tsr_status end(tsr_device* device, tsr_stream* stream, tsr_graph_s& graph) {
    auto& state = state_of(stream);
    state.recording = false;
    const auto error = end_capture(state.native, &graph.native);
    const auto kind = kind_of(error);
    if (kind != error_kind::spoilt_capture && kind != error_kind::not_while_capturing)
      return tell(device, error, "ending a capture");
    clear_error();
    return device->report.fail(TSR_ABORTED, "capture_end: a call spoilt the recording: %s", text_of(error));
  }

  static tsr_status launch(tsr_device* device, tsr_stream* stream, tsr_graph_s& graph) {
#if defined(TESSERA_GPU_EMULATED)
    return tell(device, launch_with_place(graph.native, stream), "launching a graph");
#else
    return tell(device, launch_graph(graph.native, state_of(stream).native), "launching a graph");
#endif
  }

  static void drop(tsr_device*, tsr_graph_s& graph) {
    destroy_graph(graph.native);
    graph.native = {};
  }
};
using graphs = kit::graph_calls<graph_rules, gate>;

}  // namespace

tsr_status refuse_while_recording(const tsr_device* device, const tsr_stream* stream, const char* call) {
  return graphs::refuse_while_recording(device, stream, call);
}

tsr_status refuse_while_thread_records(const tsr_device* device, const char* call) {
  return graphs::refuse_while_thread_records(device, call);
}

tsr_graph_table graph_table() { return graphs::table(); }

void close_graphs(tsr_device& device) {
  device.streams.for_each([&](tsr_stream& stream) {
    tsr_graph_s unfinished;
    if (stream.own != nullptr && state_of(&stream).recording &&
        graph_rules::end(&device, &stream, unfinished) == TSR_OK)
      graph_rules::drop(&device, unfinished);
  });
  device.graphs.for_each([&](tsr_graph_s& graph) {
    if (graph.magic.take(graph_magic)) graph_rules::drop(&device, graph);
  });
  device.recording.clear();
}

}  // namespace tessera::gpu
