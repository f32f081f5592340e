// Graphs of a simulated device: work that a stream records instead of running it, launched as one piece.
#include <algorithm>
#include <utility>

#include "plugins/sim/handles.hpp"

namespace tessera::sim {
namespace {

/// What a stream keeps while it records; in tsr_stream_s::own.
struct recorded_work {
  std::vector<common::work> nodes;
};

recorded_work* recording_of(const tsr_stream* stream) { return static_cast<recorded_work*>(stream->own.get()); }

template <class Function>
tsr_status on_graph(tsr_device* device, tsr_graph* graph, Function&& function) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (graph == nullptr || !graph->magic.is(graph_magic) || graph->device != device)
      return device->report.fail(TSR_INVALID_ARGUMENT, "the graph is not a live graph of this device");
    return function();
  });
}

tsr_status capture_begin(tsr_device* device, tsr_stream* stream) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    if (const auto status = refuse_while_recording(device, stream, "capture_begin")) return status;
    {
      const std::lock_guard lock(device->captures_mutex);
      device->captures.push_back(std::this_thread::get_id());
    }
    stream->own = std::make_shared<recorded_work>();
    return TSR_OK;
  });
}

tsr_status capture_end(tsr_device* device, tsr_stream* stream, tsr_graph** out_graph) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    if (out_graph == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "capture_end: out_graph is NULL");
    if (recording_of(stream) == nullptr)
      return device->report.fail(TSR_FAILED_PRECONDITION, "capture_end: the stream records nothing");
    auto nodes = std::make_shared<const std::vector<common::work>>(std::move(recording_of(stream)->nodes));
    {
      const std::lock_guard lock(device->captures_mutex);
      const auto mine = std::find(device->captures.begin(), device->captures.end(), std::this_thread::get_id());
      if (mine != device->captures.end()) device->captures.erase(mine);
    }
    stream->own.reset();
    auto& graph = device->graphs.take();
    graph.device = device;
    graph.nodes = std::move(nodes);
    graph.magic.set(graph_magic);
    *out_graph = &graph;
    return TSR_OK;
  });
}

tsr_status launch(tsr_device* device, tsr_stream* stream, tsr_graph* graph) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    if (const auto status = refuse_while_recording(device, stream, "launch of a graph")) return status;
    return on_graph(device, graph, [&]() -> tsr_status {
      submit_kernel(stream, [nodes = graph->nodes](common::execution& state) -> tsr_status {
        for (const common::work& node : *nodes)
          if (const auto status = node(state)) return status;
        return TSR_OK;
      });
      return TSR_OK;
    });
  });
}

tsr_status update(tsr_device* device, tsr_graph* graph, std::uint32_t node, const tsr_launch*) {
  return on_graph(device, graph, [&]() -> tsr_status {
    if (node >= graph->nodes->size())
      return device->report.fail(TSR_OUT_OF_RANGE, "update: node %u of %zu", node, graph->nodes->size());
    return device->report.fail(TSR_UNIMPLEMENTED, "update: a simulated device has no modules, so node %u is no kernel of one", node);
  });
}

tsr_status destroy(tsr_device* device, tsr_graph* graph) {
  return gate::on_any_device(device, [&]() -> tsr_status {
    if (graph == nullptr || graph->device != device || !graph->magic.take(graph_magic))
      return device->report.fail(TSR_INVALID_ARGUMENT, "destroy: not a live graph of this device");
    graph->nodes.reset();  // launches under way have their share
    device->graphs.give(*graph);
    return alive(device);
  });
}

// The entries of stream_calls, closed to a stream that records.
tsr_status signal(tsr_device* device, tsr_stream* stream, tsr_ticket* out_ticket) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    if (const auto status = refuse_while_recording(device, stream, "stream_signal")) return status;
    return stream_calls::signal_point(device, stream, out_ticket);
  });
}
tsr_status wait(tsr_device* device, tsr_stream* stream, tsr_ticket ticket) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    if (const auto status = refuse_while_recording(device, stream, "stream_wait")) return status;
    return stream_calls::wait(device, stream, ticket);
  });
}
tsr_status callback(tsr_device* device, tsr_stream* stream, void (*function)(void*), void* argument) {
  return gate::on_stream(device, stream, [&]() -> tsr_status {
    if (const auto status = refuse_while_recording(device, stream, "stream_callback")) return status;
    return stream_calls::callback(device, stream, function, argument);
  });
}
tsr_status destroy_stream(tsr_device* device, tsr_stream* stream) {
  return gate::on_any_stream(device, stream, [&]() -> tsr_status {
    if (alive(device) == TSR_OK)
      if (const auto status = refuse_while_recording(device, stream, "stream_destroy")) return status;
    return stream_calls::destroy(device, stream);
  });
}

}  // namespace

std::vector<common::work>* recorded_by(tsr_stream* stream) {
  recorded_work* const recording = recording_of(stream);
  return recording == nullptr ? nullptr : &recording->nodes;
}

tsr_status refuse_while_recording(const tsr_device* device, tsr_stream* stream, const char* call) {
  if (recording_of(stream) == nullptr) return TSR_OK;
  return device->report.fail(TSR_FAILED_PRECONDITION, "%s: the stream records a graph", call);
}

tsr_status refuse_while_thread_records(tsr_device* device, const char* call) {
  const std::lock_guard lock(device->captures_mutex);
  if (std::find(device->captures.begin(), device->captures.end(), std::this_thread::get_id()) == device->captures.end())
    return TSR_OK;
  return device->report.fail(TSR_FAILED_PRECONDITION, "%s: this thread records a graph on device '%s'", call,
                             device->setting.name.c_str());
}

tsr_graph_table graph_table() {
  tsr_graph_table table{};
  table.struct_size = sizeof table;
  table.version = 1;
  table.capture_begin = capture_begin;
  table.capture_end = capture_end;
  table.launch = launch;
  table.update = update;
  table.destroy = destroy;
  return table;
}

void put_refusals_into(tsr_device_table& table) {
  table.stream_signal = signal;
  table.stream_wait = wait;
  table.stream_callback = callback;
  table.stream_destroy = destroy_stream;
}

}  // namespace tessera::sim
