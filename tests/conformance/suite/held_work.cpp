#include "tests/conformance/suite/held_work.hpp"

#include <algorithm>
#include <thread>

namespace tessera::conformance {

tsr_status held_work::gate::wait(void* self, void* const*) {
  gate& own = *static_cast<gate*>(self);
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!own.open) {
    if (std::chrono::steady_clock::now() > end) {
      own.ran_out = true;
      break;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return TSR_OK;
}

held_work::held_work(const queue& stream, int copies)
    : m_stream(stream), m_is_gate(stream.owner().table().host_task != nullptr) {
  const device& device = stream.owner();
  if (m_is_gate) {
    expect_ok(device.table().host_task(device.handle(), stream.handle(), &gate::wait, &m_gate, nullptr, 0, 0), "host_task");
    m_last = stream.signal();
    return;
  }
  const std::uint32_t space = compute_space(device);
  const std::uint64_t room = device.spaces()[space].description.bytes;
  const std::uint64_t bytes = std::min<std::uint64_t>(4u << 20, room == 0 ? 4u << 20 : std::max<std::uint64_t>(room / 8, 64));
  m_bytes.resize(bytes, 7);
  m_memory.emplace(device, space, bytes);
  const tsr_copy copy = plain_copy(m_memory->where(), m_memory->at(0), host_space, host_address(m_bytes.data()), bytes);
  for (int i = 0; i < copies; ++i) expect_ok(device.table().copy(device.handle(), stream.handle(), &copy), "copy");
  m_last = stream.signal();
}

held_work::~held_work() {
  release();
  try {
    wait_until([&] { return m_stream.reached(m_last); }, "held work");
  } catch (const check_failed&) {
    // The check that is under way tells what it found; memory that the device still uses must not be freed early.
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

bool held_work::holds() const { return !m_stream.reached(m_last); }

}  // namespace tessera::conformance
