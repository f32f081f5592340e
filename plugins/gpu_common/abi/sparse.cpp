// The SPARSE table of a GPU. A matrix's structure is looked at by the host when the handle is made; there the index for
// transposed products is built too, so that they need no atomic additions and give the same bits every time.
#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "plugins/gpu_common/abi/handles.hpp"
#include "plugins/gpu_common/abi/sparse_index.hpp"
#include "plugins/gpu_common/kernels/sparse_kernels.hpp"
#include "plugins/kit/kernels/sparse_table.hpp"

namespace tessera::gpu {
namespace {

using i64 = std::int64_t;

const matrix_index& index_of(const kit::spmm_call& call) { return *static_cast<const matrix_index*>(call.index.get()); }

error_t enqueue(const kit::spmm_call& call, stream_t stream) {
  sparse_product p{call.type, {}, call.b, call.alpha.bytes, call.beta.bytes, call.x, call.ldx, call.y, call.ldy};
  if (call.transpose == TSR_NO_TRANSPOSE) {
    p.a = {call.rows,
           call.columns,
           call.nonzeros,
           {call.tile_rows, call.tile_columns, 1, call.tile_rows},
           call.row_starts,
           call.column_indices,
           nullptr,
           call.values,
           false};
  } else {
    const matrix_index& index = index_of(call);
    p.a = {call.columns,
           call.rows,
           call.nonzeros,
           {call.tile_columns, call.tile_rows, call.tile_rows, 1},
           index.starts,
           index.rows,
           index.order,
           call.values,
           call.transpose == TSR_CONJUGATE_TRANSPOSE};
  }
  return multiply_sparse(p, stream);
}

/// By the library where the call is one for it, else by our kernels. A workspace is of use to the library alone.
tsr_status issue(tsr_device* device, stream_state& state, operands& resolver, const kit::spmm_call& call) {
  const matrix_index& index = index_of(call);
  if (index.library_starts != nullptr) {
    library_product product{call, index.library_starts, nullptr, call.workspace.bytes, state.recording};
    if (call.workspace.bytes > 0)
      if (const auto status =
              resolver.resolve("the workspace", call.workspace.address, call.workspace.bytes, &product.workspace))
        return status;
    if (const auto wrong = device->plugin->sparse_library->run(product, state.sparse, state.native))
      // A device that broke is noticed by the next call of the runtime.
      return wrong->empty() ? TSR_OK : device->report.fail(TSR_UNKNOWN, "spmm: %s", wrong->c_str());
  }
  return tell(device, enqueue(call, state.native), "a kernel");
}

struct sparse_backend {
  using rules = gpu::rules;
  using gate = gpu::gate;
  using operands = gpu::operands;

  static tsr_status refuse(const tsr_device* device, const char* call) {
    return refuse_while_thread_records(device, call);
  }
  static tsr_status check_type(const tsr_device* device, tsr_type type) { return check_numbers(device, type); }

  static tsr_status take_in(tsr_device* device, const kit::csr_matrix& matrix, std::shared_ptr<const void>& index) {
    constexpr i64 max_rows = i64{1} << 31;
    const i64 rows = matrix.rows_of_tiles();
    if (!matrix.never_transposed && rows > max_rows)
      return device->report.fail(TSR_OUT_OF_RANGE, "%s: %lld rows%s; the index for transposed products counts to %lld",
                                 matrix.maker(), static_cast<long long>(rows), matrix.tiled ? " of tiles" : "",
                                 static_cast<long long>(max_rows));
    host_structure host{std::vector<i64>(static_cast<std::size_t>(rows) + 1),
                        std::vector<std::int32_t>(static_cast<std::size_t>(matrix.nonzeros))};
    const scoped_stream stream;  // after what it writes to
    if (const auto status = tell(device, stream.made(), "creating a stream")) return status;
    auto error = copy(host.starts.data(), matrix.starts_at, host.starts.size() * sizeof(i64), stream.native());
    if (kind_of(error) == error_kind::none && !host.columns.empty())
      error = copy(host.columns.data(), matrix.columns_at, host.columns.size() * sizeof(std::int32_t), stream.native());
    if (kind_of(error) == error_kind::none) error = synchronize_stream(stream.native());
    if (const auto status = tell(device, error, "reading a matrix")) return status;
    if (const auto status = kit::check_structure(device->report, matrix, host.starts.data(), host.columns.data()))
      return status;
    const auto made = std::make_shared<matrix_index>(*device);
    if (const auto status = build_index(*device, matrix, host, stream, *made)) return status;
    index = made;
    return TSR_OK;
  }

  /// What the library wants; our kernels want none.
  static std::uint64_t workspace(tsr_device* device, const tsr_sparse_s& of, tsr_transpose transpose, i64 b) {
    const auto& index = *static_cast<const matrix_index*>(of.index.get());
    if (index.library_starts == nullptr || transpose != TSR_NO_TRANSPOSE || b == 0) return 0;
    const std::lock_guard lock(index.mutex);
    if (const auto known = index.workspaces.find(b); known != index.workspaces.end()) return known->second;
    const kit::csr_matrix& m = of.matrix;
    kit::spmm_call call{};
    call.type = m.type;
    call.transpose = transpose;
    call.rows = m.rows, call.columns = m.columns, call.tile_rows = m.tile_rows, call.tile_columns = m.tile_columns,
    call.nonzeros = m.nonzeros;
    call.row_starts = static_cast<const i64*>(m.starts_at);
    call.column_indices = static_cast<const std::int32_t*>(m.columns_at);
    call.values = call.x = m.values_at;
    call.y = m.values_at;
    call.b = b;
    std::uint64_t bytes = 0;
    for (const i64 ld : {b, b + 1}) {  // a column by itself is a vector to the library, one of many is a matrix
      call.ldx = call.ldy = ld;
      const library_product product{call, index.library_starts, nullptr, 0, false};
      bytes = std::max(bytes, device->sizes->of(*device->plugin->sparse_library, product));
    }
    return index.workspaces[b] = bytes;
  }

  template <class Call, class Prepare>
  static tsr_status kernel(tsr_device* device, tsr_stream* stream, Prepare&& prepare_call) {
    return gate::on_stream(device, stream, [&]() -> tsr_status {
      Call call{};
      operands resolver(device);
      if (const auto status = prepare_call(device->report, resolver, call)) return status;
      return issue(device, state_of(stream), resolver, call);
    });
  }
};

}  // namespace

tsr_sparse_table sparse_table() {
  tsr_sparse_table table = kit::sparse_calls<sparse_backend>::table();
  table.supports = [](tsr_device* device, tsr_sparse_operation operation, tsr_type type) {
    return kit::sparse_supports(operation, type) && has_numbers(device, type);
  };
  return table;
}

}  // namespace tessera::gpu
