// The SPARSE table of a GPU. A matrix's structure is looked at by the host when the handle is made; there the index for
// transposed products is built too, so that they need no atomic additions and give the same bits every time.
#include <utility>
#include <vector>

#include "plugins/common/sparse_table.hpp"
#include "plugins/gpu_common/handles.hpp"
#include "plugins/gpu_common/sparse_kernels.hpp"

namespace tessera::gpu {
namespace {

using i64 = std::int64_t;

/// A stream for a while: what uses host memory of ours is over before that goes.
class brief_stream {
 public:
  brief_stream() : m_error(create_stream(&m_native)) {}
  ~brief_stream() {
    if (kind_of(m_error) != error_kind::none) return;
    synchronize_stream(m_native);
    destroy_stream(m_native);
  }
  brief_stream(const brief_stream&) = delete;
  brief_stream& operator=(const brief_stream&) = delete;

  const error_t& made() const noexcept { return m_error; }
  stream_t native() const noexcept { return m_native; }

 private:
  stream_t m_native{};
  const error_t m_error;
};

/// The transposed structure, in device memory of our own that counts as the caller's.
struct transposed_index {
  explicit transposed_index(tsr_device& on) : device(on) {}
  ~transposed_index() {
    if (memory != nullptr) release(memory);
    device.used[device_space].release(bytes);
  }
  transposed_index(const transposed_index&) = delete;
  transposed_index& operator=(const transposed_index&) = delete;

  tsr_device& device;
  std::uint64_t bytes = 0;
  void* memory = nullptr;
  const i64 *starts = nullptr, *order = nullptr;  ///< of columns; where an element's value is
  const std::int32_t* rows = nullptr;
};

/// Tiles by columns, in the order of their rows within one.
struct transposed_structure {
  std::vector<i64> starts, order;
  std::vector<std::int32_t> rows;

  transposed_structure(const common::csr_matrix& matrix, const std::vector<i64>& row_starts, const std::vector<std::int32_t>& columns)
      : starts(static_cast<std::size_t>(matrix.columns_of_tiles()) + 1), order(columns.size()), rows(columns.size()) {
    for (const std::int32_t column : columns) ++starts[static_cast<std::size_t>(column) + 1];
    for (std::size_t column = 1; column < starts.size(); ++column) starts[column] += starts[column - 1];
    std::vector<i64> next(starts.begin(), starts.end() - 1);
    for (i64 row = 0; row < matrix.rows_of_tiles(); ++row)
      for (i64 e = row_starts[static_cast<std::size_t>(row)]; e < row_starts[static_cast<std::size_t>(row) + 1]; ++e) {
        const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(columns[static_cast<std::size_t>(e)])]++);
        order[place] = e;
        rows[place] = static_cast<std::int32_t>(row);
      }
  }
};

template <class T>
std::uint64_t bytes_of(const std::vector<T>& all) {
  return all.size() * sizeof(T);
}

tsr_status put_on_device(tsr_device* device, const transposed_structure& from, const brief_stream& stream, transposed_index& to) {
  const std::uint64_t bytes = bytes_of(from.starts) + bytes_of(from.order) + bytes_of(from.rows);
  std::uint64_t before = 0;
  if (!device->used[device_space].reserve(bytes, &before))
    return device->report.fail(TSR_RESOURCE_EXHAUSTED,
                               "the index for transposed products takes %llu bytes, and %llu of %llu are allocated",
                               static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(before),
                               static_cast<unsigned long long>(device->used[device_space].limit()));
  to.bytes = bytes;
  const auto error = device->plugin->setting.managed ? allocate_managed(&to.memory, bytes) : allocate(&to.memory, bytes);
  if (kind_of(error) != error_kind::none) {
    to.memory = nullptr;
    return tell(device, error, "allocating an index");
  }
  auto* const begin = static_cast<char*>(to.memory);
  char *const order = begin + bytes_of(from.starts), *const rows = order + bytes_of(from.order);
  to.starts = reinterpret_cast<const i64*>(begin);
  to.order = reinterpret_cast<const i64*>(order);
  to.rows = reinterpret_cast<const std::int32_t*>(rows);
  const std::pair<char*, std::pair<const void*, std::uint64_t>> parts[] = {
      {begin, {from.starts.data(), bytes_of(from.starts)}},
      {order, {from.order.data(), bytes_of(from.order)}},
      {rows, {from.rows.data(), bytes_of(from.rows)}}};
  for (const auto& [place, part] : parts)
    if (part.second > 0)
      if (const auto status = tell(device, copy(place, part.first, part.second, stream.native()), "writing an index")) return status;
  return tell(device, synchronize_stream(stream.native()), "writing an index");
}

error_t enqueue(const common::spmm_call& call, stream_t stream) {
  sparse_product p{call.type, {}, call.b, call.alpha.bytes, call.beta.bytes, call.x, call.ldx, call.y, call.ldy};
  if (call.transpose == TSR_NO_TRANSPOSE) {
    p.a = {call.rows, call.columns, call.nonzeros, {call.tile_rows, call.tile_columns, 1, call.tile_rows},
           call.row_starts, call.column_indices, nullptr, call.values, false};
  } else {
    const auto& index = *static_cast<const transposed_index*>(call.index.get());
    p.a = {call.columns, call.rows, call.nonzeros, {call.tile_columns, call.tile_rows, call.tile_rows, 1},
           index.starts, index.rows, index.order, call.values, call.transpose == TSR_CONJUGATE_TRANSPOSE};
  }
  return multiply_sparse(p, stream);
}

struct backend {
  using rules = gpu::rules;
  using gate = gpu::gate;
  using operands = gpu::operands;

  static tsr_status refuse(const tsr_device* device, const char* call) { return refuse_while_thread_records(device, call); }
  static tsr_status check_type(const tsr_device* device, tsr_type type) { return check_numbers(device, type); }

  static tsr_status take_in(tsr_device* device, const common::csr_matrix& matrix, std::shared_ptr<const void>& index) {
    constexpr i64 most_rows = i64{1} << 31;
    const i64 rows = matrix.rows_of_tiles();
    if (!matrix.never_transposed && rows > most_rows)
      return device->report.fail(TSR_OUT_OF_RANGE, "%s: %lld rows%s; the index for transposed products counts to %lld", matrix.maker(),
                                 static_cast<long long>(rows), matrix.tiled ? " of tiles" : "", static_cast<long long>(most_rows));
    std::vector<i64> starts(static_cast<std::size_t>(rows) + 1);
    std::vector<std::int32_t> columns(static_cast<std::size_t>(matrix.nonzeros));
    const brief_stream stream;  // after what it writes to
    if (const auto status = tell(device, stream.made(), "creating a stream")) return status;
    auto error = copy(starts.data(), matrix.starts_at, bytes_of(starts), stream.native());
    if (kind_of(error) == error_kind::none && !columns.empty())
      error = copy(columns.data(), matrix.columns_at, bytes_of(columns), stream.native());
    if (kind_of(error) == error_kind::none) error = synchronize_stream(stream.native());
    if (const auto status = tell(device, error, "reading a matrix")) return status;
    if (const auto status = common::check_structure(device->report, matrix, starts.data(), columns.data())) return status;
    if (matrix.never_transposed) return TSR_OK;
    const auto made = std::make_shared<transposed_index>(*device);
    if (const auto status = put_on_device(device, transposed_structure(matrix, starts, columns), stream, *made)) return status;
    index = made;
    return TSR_OK;
  }

  template <class Call, class Prepare>
  static tsr_status kernel(tsr_device* device, tsr_stream* stream, Prepare&& prepare_call) {
    return gate::on_stream(device, stream, [&]() -> tsr_status {
      Call call{};
      operands resolver(device);
      if (const auto status = prepare_call(device->report, resolver, call)) return status;
      return tell(device, enqueue(call, state_of(stream).native), "a kernel");
    });
  }
};

}  // namespace

tsr_sparse_table sparse_table() {
  tsr_sparse_table table = common::sparse_calls<backend>::table();
  table.supports = [](tsr_device* device, tsr_sparse_operation operation, tsr_type type) {
    return common::sparse_supports(operation, type) && has_numbers(device, type);
  };
  return table;
}

}  // namespace tessera::gpu
