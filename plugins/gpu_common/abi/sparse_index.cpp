#include "plugins/gpu_common/abi/sparse_index.hpp"

#include <utility>

namespace tessera::gpu {
namespace {

using i64 = std::int64_t;

/// Tiles by columns, in the order of their rows within one.
struct transposed_structure {
  std::vector<i64> starts, order;
  std::vector<std::int32_t> rows;

  transposed_structure(const kit::csr_matrix& matrix, const host_structure& host)
      : starts(static_cast<std::size_t>(matrix.columns_of_tiles()) + 1),
        order(host.columns.size()),
        rows(host.columns.size()) {
    for (const std::int32_t column : host.columns) ++starts[static_cast<std::size_t>(column) + 1];
    for (std::size_t column = 1; column < starts.size(); ++column) starts[column] += starts[column - 1];
    std::vector<i64> next(starts.begin(), starts.end() - 1);
    for (i64 row = 0; row < matrix.rows_of_tiles(); ++row)
      for (i64 e = host.starts[static_cast<std::size_t>(row)]; e < host.starts[static_cast<std::size_t>(row) + 1];
           ++e) {
        const auto place =
            static_cast<std::size_t>(next[static_cast<std::size_t>(host.columns[static_cast<std::size_t>(e)])]++);
        order[place] = e;
        rows[place] = static_cast<std::int32_t>(row);
      }
  }
};

template <class T>
std::uint64_t bytes_in(const std::vector<T>& all) {
  return all.size() * sizeof(T);
}

template <class T>
tsr_status write(tsr_device& device, const scoped_stream& stream, char* place, const std::vector<T>& from) {
  if (from.empty()) return TSR_OK;
  return tell(&device, copy(place, from.data(), bytes_in(from), stream.native()), "writing an index");
}

tsr_status build_transposed(tsr_device& device, const kit::csr_matrix& matrix, const host_structure& host,
                            const scoped_stream& stream, matrix_index& out) {
  const transposed_structure made(matrix, host);
  const std::uint64_t bytes = bytes_in(made.starts) + bytes_in(made.order) + bytes_in(made.rows);
  if (const auto status = out.transposed.allocate("the index for transposed products", bytes)) return status;
  char *const begin = out.transposed.data(), *const order = begin + bytes_in(made.starts),
              *const rows = order + bytes_in(made.order);
  out.starts = reinterpret_cast<const i64*>(begin);
  out.order = reinterpret_cast<const i64*>(order);
  out.rows = reinterpret_cast<const std::int32_t*>(rows);
  if (const auto status = write(device, stream, begin, made.starts)) return status;
  if (const auto status = write(device, stream, order, made.order)) return status;
  if (const auto status = write(device, stream, rows, made.rows)) return status;
  return tell(&device, synchronize_stream(stream.native()), "writing an index");
}

/// Libraries take indices of one size, and columns are of 32 bits.
tsr_status build_for_library(tsr_device& device, const kit::csr_matrix& matrix, const host_structure& host,
                             const scoped_stream& stream, matrix_index& out) {
  const auto& library = device.plugin->sparse_library;
  if (library == nullptr) return TSR_OK;
  if (const char* const why = library->why_not(matrix, host.starts.data(), host.columns.data())) {
    device.report.log(0, "%s: products of this matrix run on Tessera's own kernels: %s", matrix.maker(), why);
    return TSR_OK;
  }
  const std::vector<std::int32_t> starts(host.starts.begin(), host.starts.end());
  if (!out.library.try_allocate(bytes_in(starts))) {
    device.report.log(0, "%s: products of this matrix run on Tessera's own kernels: no memory is left", matrix.maker());
    return TSR_OK;
  }
  if (const auto status = write(device, stream, out.library.data(), starts)) return status;
  if (const auto status = tell(&device, synchronize_stream(stream.native()), "writing an index")) return status;
  out.library_starts = reinterpret_cast<const std::int32_t*>(out.library.data());
  return TSR_OK;
}

}  // namespace

counted_memory::~counted_memory() {
  if (m_memory != nullptr) release(m_memory);
  m_device.used[device_space].release(m_bytes);
}

error_t counted_memory::take(std::uint64_t bytes) {
  m_bytes = bytes;
  const auto error =
      m_device.plugin->setting.managed ? allocate_managed(&m_memory, bytes) : allocate_kept(m_device, &m_memory, bytes);
  if (kind_of(error) != error_kind::none) m_memory = nullptr;
  return error;
}

tsr_status counted_memory::allocate(const char* what, std::uint64_t bytes) {
  std::uint64_t before = 0;
  if (!m_device.used[device_space].reserve(bytes, &before))
    return m_device.report.fail(TSR_RESOURCE_EXHAUSTED, "%s takes %llu bytes, and %llu of %llu are allocated", what,
                                static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(before),
                                static_cast<unsigned long long>(m_device.used[device_space].limit()));
  return tell(&m_device, take(bytes), "allocating an index");
}

bool counted_memory::try_allocate(std::uint64_t bytes) {
  std::uint64_t before = 0;
  if (!m_device.used[device_space].reserve(bytes, &before)) return false;
  if (kind_of(take(bytes)) == error_kind::none) return true;
  clear_error();
  return false;
}

tsr_status build_index(tsr_device& device, const kit::csr_matrix& matrix, const host_structure& host,
                       const scoped_stream& stream, matrix_index& out) {
  if (!matrix.never_transposed)
    if (const auto status = build_transposed(device, matrix, host, stream, out)) return status;
  return build_for_library(device, matrix, host, stream, out);
}

}  // namespace tessera::gpu
