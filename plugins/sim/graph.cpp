// Graphs of a simulated device: work that a stream records instead of running it, launched as one piece.
#include <memory>
#include <utility>

#include "plugins/sim/handles.hpp"

namespace tessera::sim {
namespace {

/// What a stream keeps while it records; in tsr_stream_s::own.
struct recorded_work {
  std::vector<kit::work> nodes;
};

recorded_work* recording_of(const tsr_stream* stream) { return static_cast<recorded_work*>(stream->own.get()); }

struct graph_rules : rules {
  using graph = tsr_graph_s;
  static constexpr std::uint64_t graph_magic = sim::graph_magic;
  static bool is_recording(const tsr_stream* stream) { return recording_of(stream) != nullptr; }
  static tsr_status begin(tsr_device*, tsr_stream* stream) {
    stream->own = std::make_shared<recorded_work>();
    return TSR_OK;
  }
  static tsr_status end(tsr_device*, tsr_stream* stream, tsr_graph_s& graph) {
    graph.nodes = std::make_shared<const std::vector<kit::work>>(std::move(recording_of(stream)->nodes));
    stream->own.reset();
    return TSR_OK;
  }
  static tsr_status launch(tsr_device*, tsr_stream* stream, tsr_graph_s& graph) {
    submit_kernel(stream, [nodes = graph.nodes](kit::execution& state) -> tsr_status {
      for (const kit::work& node : *nodes)
        if (const auto status = node(state)) return status;
      return TSR_OK;
    });
    return TSR_OK;
  }
  static std::size_t pieces(const tsr_graph_s& graph) { return graph.nodes->size(); }
  static void drop(tsr_device*, tsr_graph_s& graph) { graph.nodes.reset(); }  // launches under way have their share
};
using calls = kit::graph_calls<graph_rules>;

// The entries of stream_calls, closed to a stream that records.
tsr_status signal(tsr_device* device, tsr_stream* stream, tsr_ticket* out_ticket) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    if (const auto status = calls::refuse_while_recording(device, stream, "stream_signal")) return status;
    return stream_calls::signal_point(device, stream, out_ticket);
  });
}
tsr_status wait(tsr_device* device, tsr_stream* stream, tsr_ticket ticket) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    if (const auto status = calls::refuse_while_recording(device, stream, "stream_wait")) return status;
    return stream_calls::wait(device, stream, ticket);
  });
}
tsr_status callback(tsr_device* device, tsr_stream* stream, void (*function)(void*), void* argument) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    if (const auto status = calls::refuse_while_recording(device, stream, "stream_callback")) return status;
    return stream_calls::callback(device, stream, function, argument);
  });
}
tsr_status destroy_stream(tsr_device* device, tsr_stream* stream) {
  return gate::on_any_stream(device, stream, [&]() -> tsr_status {
    if (alive(device) == TSR_OK)
      if (const auto status = calls::refuse_while_recording(device, stream, "stream_destroy")) return status;
    return stream_calls::destroy(device, stream);
  });
}

}  // namespace

std::vector<kit::work>* recorded_by(tsr_stream* stream) {
  recorded_work* const recording = recording_of(stream);
  return recording == nullptr ? nullptr : &recording->nodes;
}

tsr_status refuse_while_thread_records(tsr_device* device, const char* call) {
  return calls::refuse_while_thread_records(device, call);
}

tsr_graph_table graph_table() { return calls::table(); }

void put_refusals_into(tsr_device_table& table) {
  table.stream_signal = signal;
  table.stream_wait = wait;
  table.stream_callback = callback;
  table.stream_destroy = destroy_stream;
}

}  // namespace tessera::sim
