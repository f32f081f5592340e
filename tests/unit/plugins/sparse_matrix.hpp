#pragma once
// Matrices on a device that was opened through its C ABI.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/plugins/opened_plugin.hpp"

namespace tessera::test {

/// Memory of one device with what is put there, freed at the end.
class placed_data {
 public:
  explicit placed_data(const opened_plugin::device& device) : m_device(device), m_stream(device) {}
  ~placed_data() {
    for (tsr_memory* memory : m_memory) m_device.table->mem_free(m_device.handle, memory);
  }
  placed_data(const placed_data&) = delete;
  placed_data& operator=(const placed_data&) = delete;

  template <class T>
  tsr_address put(const std::vector<T>& values) {
    tsr_memory* memory = nullptr;
    const std::uint64_t bytes = values.size() * sizeof(T);
    opened_plugin::check(m_device.table->mem_alloc(m_device.handle, 0, std::max<std::uint64_t>(bytes, 1), &memory));
    m_memory.push_back(memory);
    const auto copy = flat_copy({m_device.handle, 0}, at(memory), {nullptr, 0}, at(values.data()), bytes);
    if (bytes > 0) opened_plugin::check(m_device.table->copy(m_device.handle, m_stream.handle, &copy));
    m_stream.finish();
    return at(memory);
  }
  template <class T>
  std::vector<T> get(tsr_address from, std::size_t count) {
    std::vector<T> values(count);
    const auto copy = flat_copy({nullptr, 0}, at(values.data()), {m_device.handle, 0}, from, count * sizeof(T));
    opened_plugin::check(m_device.table->copy(m_device.handle, m_stream.handle, &copy));
    m_stream.finish();
    return values;
  }
  void free(tsr_address what) {
    m_memory.erase(std::find(m_memory.begin(), m_memory.end(), what.memory));
    opened_plugin::check(m_device.table->mem_free(m_device.handle, what.memory));
  }
  tsr_stream* stream() const { return m_stream.handle; }
  void finish() const { m_stream.finish(); }

  /// A square matrix of float32 with `value` in (i, i) for each of the first `nonzeros` rows.
  tsr_csr diagonal(std::int64_t n, std::int64_t nonzeros, float value, std::uint32_t flags = 0) {
    std::vector<std::int64_t> starts(static_cast<std::size_t>(n) + 1);
    std::vector<std::int32_t> columns;
    for (std::int64_t row = 0; row < n; ++row) {
      if (row < nonzeros) columns.push_back(static_cast<std::int32_t>(row));
      starts[static_cast<std::size_t>(row) + 1] = static_cast<std::int64_t>(columns.size());
    }
    tsr_csr made{};
    made.struct_size = sizeof made;
    made.type = TSR_F32;
    made.rows = made.columns = n;
    made.nonzeros = nonzeros;
    made.row_starts = put(starts);
    made.column_indices = put(columns);
    made.values = put(std::vector<float>(columns.size(), value));
    made.flags = flags;
    return made;
  }

  /// y = alpha op(A) x, one column.
  tsr_status multiply(tsr_sparse* matrix, float alpha, tsr_address x, tsr_address y,
                      tsr_transpose transpose = TSR_NO_TRANSPOSE) const {
    const float none = 0;
    return m_device.sparse->spmm(m_device.handle, m_stream.handle, transpose, &alpha, matrix, x, 1, 1, &none, y, 1, {});
  }

 private:
  const opened_plugin::device m_device;
  owned_stream m_stream;
  std::vector<tsr_memory*> m_memory;
};

}  // namespace tessera::test
