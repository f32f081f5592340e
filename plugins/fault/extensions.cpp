// BLAS, TENSOR, SPARSE and GRAPH tables of an interposed device: each call that enqueues counts as a computation.
#include "plugins/fault/state.hpp"

namespace tessera::fault {
namespace {

/// An entry of the tables `Pair` of the device's state.
template <auto Pair, auto Member, class Entry>
struct computing_by_table;
template <auto Pair, auto Member, class... Arguments>
struct computing_by_table<Pair, Member, tsr_status (*)(tsr_device*, tsr_stream*, Arguments...)> {
  static tsr_status run(tsr_device* device, tsr_stream* stream, Arguments... arguments) {
    const auto state = find(device);
    if (state == nullptr) return TSR_INVALID_ARGUMENT;
    passage in(*state);
    bool work = true;
    if (const auto status = before(in, *state, stream, call::kernel, 0, "a computation", work)) return status;
    return work ? (((*state).*Pair).inner.*Member)(device, stream, arguments...) : TSR_OK;
  }
};

template <auto Pair, auto Member, class Table>
void put(Table& table) {
  using entry = std::remove_reference_t<decltype(table.*Member)>;
  if (table.*Member != nullptr) table.*Member = computing_by_table<Pair, Member, entry>::run;
}

tsr_status capture_begin(tsr_device* device, tsr_stream* stream) {
  const auto state = find(device);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  const passage in(*state);
  if (const auto status = alive(*state)) return status;
  const tsr_status status = state->graph.inner.capture_begin(device, stream);
  if (const auto line = status == TSR_OK ? state->find(stream) : nullptr) line->capturing.store(true);
  return status;
}

tsr_status capture_end(tsr_device* device, tsr_stream* stream, tsr_graph** out_graph) {
  const auto state = find(device);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  if (const auto line = state->find(stream)) line->capturing.store(false);
  if (const auto status = alive(*state)) return status;
  return state->graph.inner.capture_end(device, stream, out_graph);
}

/// Our table over the plugin's. All entries of `Members` that there are compute.
template <auto Pair, auto... Members, class Table, class More>
const void* wrap(table_pair<Table>& kept, const void* inner, More&& put_more) {
  kept.inner = completed(static_cast<const Table*>(inner));
  Table ours = kept.inner;
  put_more(ours);
  (put<Pair, Members>(ours), ...);
  kept.outer = ours;
  return &kept.outer;
}
constexpr auto nothing_more = [](auto&) {};

const void* wrap_blas(device_state& device, const void* inner) {
  using t = tsr_blas_table;
  return wrap<&device_state::blas, &t::gemm, &t::gemm_strided, &t::gemm_batched, &t::axpy, &t::scal, &t::dot, &t::nrm2,
              &t::syrk, &t::trsm, &t::potrf>(device.blas, inner, nothing_more);
}

const void* wrap_tensor(device_state& device, const void* inner) {
  using t = tsr_tensor_table;
  return wrap<&device_state::tensor, &t::permute, &t::reduce_add, &t::fill, &t::contract, &t::contract_batched,
              &t::reduce>(device.tensor, inner, nothing_more);
}

/// Counts as an allocation, of what the plugin may build for a matrix of so many nonzeros or tiles.
template <class Create>
tsr_status create_matrix(tsr_device* device, std::int64_t nonzeros, Create&& create) {
  const auto state = find(device);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  passage in(*state);
  bool work = true;
  if (const auto status = before(in, *state, nullptr, call::alloc,
                                 12 * static_cast<std::uint64_t>(nonzeros > 0 ? nonzeros : 0), "a sparse matrix", work))
    return status;
  return create(state->sparse.inner);
}

tsr_status create_csr(tsr_device* device, const tsr_csr* matrix, tsr_sparse** out_matrix) {
  return create_matrix(device, TSR_HAS(tsr_csr, matrix, nonzeros) ? matrix->nonzeros : 0,
                       [&](const tsr_sparse_table& inner) { return inner.create_csr(device, matrix, out_matrix); });
}

tsr_status create_bsr(tsr_device* device, const tsr_bsr* matrix, tsr_sparse** out_matrix) {
  return create_matrix(device, TSR_HAS(tsr_bsr, matrix, tiles) ? matrix->tiles : 0,
                       [&](const tsr_sparse_table& inner) { return inner.create_bsr(device, matrix, out_matrix); });
}

/// Also on a device that is lost.
tsr_status destroy_matrix(tsr_device* device, tsr_sparse* matrix) {
  const auto state = find(device);
  if (state == nullptr) return TSR_INVALID_ARGUMENT;
  const tsr_status status = state->sparse.inner.destroy(device, matrix);
  return status == TSR_OK ? alive(*state) : status;
}

const void* wrap_sparse(device_state& device, const void* inner) {
  return wrap<&device_state::sparse, &tsr_sparse_table::spmm>(device.sparse, inner, [](tsr_sparse_table& table) {
    if (table.create_csr != nullptr) table.create_csr = create_csr;
    if (table.create_bsr != nullptr) table.create_bsr = create_bsr;
    if (table.destroy != nullptr) table.destroy = destroy_matrix;
  });
}

const void* wrap_graph(device_state& device, const void* inner) {
  return wrap<&device_state::graph, &tsr_graph_table::launch>(device.graph, inner, [](tsr_graph_table& table) {
    if (table.capture_begin == nullptr || table.capture_end == nullptr) return;
    table.capture_begin = capture_begin;
    table.capture_end = capture_end;
  });
}

}  // namespace

const void* wrap_extension(device_state& device, tsr_extension_id id, const void* inner) {
  const std::lock_guard lock(device.plugin->mutex);
  switch (id) {
    case TSR_EXTENSION_BLAS:
      return wrap_blas(device, inner);
    case TSR_EXTENSION_TENSOR:
      return wrap_tensor(device, inner);
    case TSR_EXTENSION_SPARSE:
      return wrap_sparse(device, inner);
    case TSR_EXTENSION_GRAPH:
      return wrap_graph(device, inner);
    default:
      return nullptr;
  }
}

}  // namespace tessera::fault
