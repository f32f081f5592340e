// BLAS, TENSOR and GRAPH tables of an interposed device: each call that enqueues counts as a computation.
#include "plugins/common/fault_state.hpp"

namespace tessera::common::faults {
namespace {

/// An entry of the table `Inner` of the device's state.
template <auto Inner, auto Member, class Entry>
struct computing;
template <auto Inner, auto Member, class... Arguments>
struct computing<Inner, Member, tsr_status (*)(tsr_device*, tsr_stream*, Arguments...)> {
  static tsr_status run(tsr_device* device, tsr_stream* stream, Arguments... arguments) {
    const auto state = find(device);
    if (state == nullptr) return TSR_INVALID_ARGUMENT;
    bool work = true;
    if (const auto status = before(*state, stream, call::kernel, 0, "a computation", work)) return status;
    return work ? ((*state).*Inner.*Member)(device, stream, arguments...) : TSR_OK;
  }
};

template <auto Inner, auto Member, class Table>
void put(Table& table) {
  using entry = std::remove_reference_t<decltype(table.*Member)>;
  if (table.*Member != nullptr) table.*Member = computing<Inner, Member, entry>::run;
}

tsr_status capture_begin(tsr_device* device, tsr_stream* stream) {
  const auto state = find(device);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  if (const auto status = alive(*state)) return status;
  const tsr_status status = state->inner_graph.capture_begin(device, stream);
  if (const auto line = status == TSR_OK ? state->find(stream) : nullptr) line->capturing.store(true);
  return status;
}

tsr_status capture_end(tsr_device* device, tsr_stream* stream, tsr_graph** out_graph) {
  const auto state = find(device);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  if (const auto line = state->find(stream)) line->capturing.store(false);
  if (const auto status = alive(*state)) return status;
  return state->inner_graph.capture_end(device, stream, out_graph);
}

}  // namespace

const void* wrap_extension(device_state& device, tsr_extension_id id, const void* inner) {
  const std::lock_guard lock(device.plugin->mutex);
  if (id == TSR_EXTENSION_BLAS) {
    using table = tsr_blas_table;
    constexpr auto from = &device_state::inner_blas;
    device.inner_blas = completed(static_cast<const table*>(inner));
    table t = device.inner_blas;
    put<from, &table::gemm>(t);
    put<from, &table::gemm_strided>(t);
    put<from, &table::gemm_batched>(t);
    put<from, &table::axpy>(t);
    put<from, &table::scal>(t);
    put<from, &table::dot>(t);
    put<from, &table::nrm2>(t);
    put<from, &table::syrk>(t);
    put<from, &table::trsm>(t);
    put<from, &table::potrf>(t);
    device.outer_blas = t;
    return &device.outer_blas;
  }
  if (id == TSR_EXTENSION_TENSOR) {
    using table = tsr_tensor_table;
    constexpr auto from = &device_state::inner_tensor;
    device.inner_tensor = completed(static_cast<const table*>(inner));
    table t = device.inner_tensor;
    put<from, &table::permute>(t);
    put<from, &table::reduce_add>(t);
    put<from, &table::fill>(t);
    put<from, &table::contract>(t);
    device.outer_tensor = t;
    return &device.outer_tensor;
  }
  if (id == TSR_EXTENSION_GRAPH) {
    using table = tsr_graph_table;
    constexpr auto from = &device_state::inner_graph;
    device.inner_graph = completed(static_cast<const table*>(inner));
    table t = device.inner_graph;
    if (t.capture_begin != nullptr && t.capture_end != nullptr) {
      t.capture_begin = capture_begin;
      t.capture_end = capture_end;
    }
    put<from, &table::launch>(t);
    device.outer_graph = t;
    return &device.outer_graph;
  }
  return nullptr;
}

}  // namespace tessera::common::faults
