#pragma once
// The GRAPH table: what is refused while a stream records, and which graphs are live. How work is recorded is the
// plugin's.
#include <tessera/plugin.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "plugins/kit/abi/gate.hpp"

namespace tessera::kit {

/// The threads that record on a device's streams now, once per stream. Thread-safe.
class recorders {
 public:
  void begin() {
    const std::lock_guard lock(m_mutex);
    m_threads.push_back(std::this_thread::get_id());
  }
  void end() {
    const std::lock_guard lock(m_mutex);
    const auto mine = std::find(m_threads.begin(), m_threads.end(), std::this_thread::get_id());
    if (mine != m_threads.end()) m_threads.erase(mine);
  }
  bool has_this_thread() const {
    const std::lock_guard lock(m_mutex);
    return std::find(m_threads.begin(), m_threads.end(), std::this_thread::get_id()) != m_threads.end();
  }
  void clear() {
    const std::lock_guard lock(m_mutex);
    m_threads.clear();
  }

 private:
  mutable std::mutex m_mutex;
  std::vector<std::thread::id> m_threads;
};

/// `Rules` and `Gate` as for gate.hpp; graph is tsr_graph_s, which has magic and device; the device has `graphs`, a
/// handle_pool of them, and `recording`, its recorders. With
///   graph_magic                                  the magic word of graphs
///   is_recording(const tsr_stream*)
///   begin(device*, tsr_stream*)                  makes it record
///   end(device*, tsr_stream*, graph&)            ends that, whatever it answers, and fills the graph if that is OK
///   launch(device*, tsr_stream*, graph&)
///   pieces(const graph&)                         of recorded work; without it `update` is not offered
///   drop(device*, graph&)                        frees what the graph has; launches under way still end
template <class Rules, class Gate = gate<Rules>>
struct graph_calls {
  using device = typename Rules::device;
  using graph = typename Rules::graph;

  /// FAILED_PRECONDITION, with a record, when the stream records.
  static tsr_status refuse_while_recording(const device* on, const tsr_stream* stream, const char* call) {
    if (!Rules::is_recording(stream)) return TSR_OK;
    return on->report.fail(TSR_FAILED_PRECONDITION, "%s: the stream records a graph", call);
  }
  /// The same when the calling thread records on some stream of the device.
  static tsr_status refuse_while_thread_records(const device* on, const char* call) {
    if (!on->recording.has_this_thread()) return TSR_OK;
    return on->report.fail(TSR_FAILED_PRECONDITION, "%s: this thread records a graph on the device", call);
  }

  static tsr_graph_table table() {
    tsr_graph_table made{};
    made.struct_size = sizeof made;
    made.version = 1;
    made.capture_begin = capture_begin;
    made.capture_end = capture_end;
    made.launch = launch;
    if constexpr (requires(const graph& one) { Rules::pieces(one); }) made.update = update;
    made.destroy = destroy;
    return made;
  }

 private:
  template <class Function>
  static tsr_status on_graph(device* on, tsr_graph* handle, Function&& function) {
    auto* const one = static_cast<graph*>(handle);
    if (one == nullptr || !one->magic.is(Rules::graph_magic) || one->device != on)
      return on->report.fail(TSR_INVALID_ARGUMENT, "the graph is not a live graph of this device");
    return function(*one);
  }

  static tsr_status capture_begin(device* on, tsr_stream* stream) {
    return Gate::on_stream(on, stream, [&]() -> tsr_status {
      if (const auto status = refuse_while_recording(on, stream, "capture_begin")) return status;
      if (const auto status = Rules::begin(on, stream)) return status;
      on->recording.begin();
      return TSR_OK;
    });
  }

  static tsr_status capture_end(device* on, tsr_stream* stream, tsr_graph** out_graph) {
    return Gate::on_stream(on, stream, [&]() -> tsr_status {
      if (out_graph == nullptr) return on->report.fail(TSR_INVALID_ARGUMENT, "capture_end: out_graph is NULL");
      if (!Rules::is_recording(stream))
        return on->report.fail(TSR_FAILED_PRECONDITION, "capture_end: the stream records nothing");
      on->recording.end();
      graph& made = on->graphs.take();
      made.device = on;
      if (const auto status = Rules::end(on, stream, made)) {
        on->graphs.give(made);
        return status;
      }
      made.magic.set(Rules::graph_magic);
      *out_graph = &made;
      return TSR_OK;
    });
  }

  static tsr_status launch(device* on, tsr_stream* stream, tsr_graph* handle) {
    return Gate::on_stream(on, stream, [&]() -> tsr_status {
      if (const auto status = refuse_while_recording(on, stream, "launch of a graph")) return status;
      return on_graph(on, handle, [&](graph& one) -> tsr_status { return Rules::launch(on, stream, one); });
    });
  }

  static tsr_status update(device* on, tsr_graph* handle, std::uint32_t node, const tsr_launch*) {
    return Gate::on_device(on, [&]() -> tsr_status {
      return on_graph(on, handle, [&](const graph& one) -> tsr_status {
        if (node >= Rules::pieces(one))
          return on->report.fail(TSR_OUT_OF_RANGE, "update: node %u of %zu", node, Rules::pieces(one));
        return on->report.fail(TSR_UNIMPLEMENTED, "update: this plugin has no modules, so node %u is no kernel of one",
                               node);
      });
    });
  }

  static tsr_status destroy(device* on, tsr_graph* handle) {
    return Gate::on_any_device(on, [&]() -> tsr_status {
      auto* const one = static_cast<graph*>(handle);
      if (one == nullptr || one->device != on || !one->magic.take(Rules::graph_magic))
        return on->report.fail(TSR_INVALID_ARGUMENT, "destroy: not a live graph of this device");
      Rules::drop(on, *one);
      on->graphs.give(*one);
      return Rules::alive(on);
    });
  }
};

}  // namespace tessera::kit
