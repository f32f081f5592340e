#pragma once
// The smallest work for a device: x *= 2.
#include <vector>

#include "tests/unit/plugins/opened_plugin.hpp"

namespace tessera::test {

class scaling {
 public:
  explicit scaling(const opened_plugin::device& device) : stream(device), m_device(device) {
    opened_plugin::check(device.table->mem_alloc(device.handle, 0, m_values.size() * sizeof(float), &m_memory));
    const auto in =
        flat_copy({device.handle, 0}, at(m_memory), {nullptr, 0}, at(m_values.data()), m_values.size() * sizeof(float));
    opened_plugin::check(device.table->copy(device.handle, stream.handle, &in));
    stream.finish();
  }
  ~scaling() { m_device.table->mem_free(m_device.handle, m_memory); }
  scaling(const scaling&) = delete;
  scaling& operator=(const scaling&) = delete;

  tsr_status enqueue() {
    tsr_vector_operation v{};
    v.struct_size = sizeof v;
    v.type = TSR_F32;
    v.n = static_cast<std::int64_t>(m_values.size());
    v.incx = v.incy = 1;
    v.alpha = &m_factor;
    v.x = at(m_memory);
    return m_device.blas->scal(m_device.handle, stream.handle, &v);
  }
  std::vector<float> result() const {
    std::vector<float> values(m_values.size());
    const auto out =
        flat_copy({nullptr, 0}, at(values.data()), {m_device.handle, 0}, at(m_memory), values.size() * sizeof(float));
    opened_plugin::check(m_device.table->copy(m_device.handle, stream.handle, &out));
    stream.finish();
    return values;
  }
  std::vector<float> expected() const { return {2, 4, 6, 8, 10}; }

  const owned_stream stream;

 private:
  const opened_plugin::device& m_device;
  const std::vector<float> m_values{1, 2, 3, 4, 5};
  const float m_factor = 2;
  tsr_memory* m_memory = nullptr;
};

}  // namespace tessera::test
