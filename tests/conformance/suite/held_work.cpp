#include "tests/conformance/suite/held_work.hpp"

#include <algorithm>
#include <thread>

namespace tessera::conformance {

std::uint64_t bytes_of_row(const device& on) {
  const std::uint64_t usual = std::uint64_t{4} << 20, room = on.spaces()[compute_space(on)].description.bytes;
  return allocatable(on, copyable(on, room == 0 ? usual : std::min(usual, std::max<std::uint64_t>(room / 8, 64))));
}

namespace {

/// Whether the call that enqueues a host task returns only when the task has ended.
bool runs_tasks_inside(const queue& stream) {
  blocking_task task(std::chrono::seconds(1));
  task.enqueue(stream.owner(), stream.handle());
  task.release();
  stream.finish();
  return task.ran_out();
}

/// Whether several copies in a row were all done as soon as their calls had returned.
bool copies_inside(const queue& stream) {
  const device& on = stream.owner();
  const std::vector<unsigned char> bytes(bytes_of_row(on), 7);
  const buffer memory(on, compute_space(on), bytes.size());
  const tsr_copy copy = plain_copy(memory.where(), memory.at(0), host_space, host_address(bytes.data()), bytes.size());
  bool inside = true;
  for (int i = 0; i < 8 && inside; ++i) {
    need_ok(on.table().copy(on.handle(), stream.handle(), &copy), "copy");
    inside = stream.reached(stream.signal());
  }
  stream.finish();
  return inside;
}

}  // namespace

hold hold_of(const queue& stream) {
  if (stream.owner().table().host_task != nullptr && !runs_tasks_inside(stream)) return hold::gate;
  return copies_inside(stream) ? hold::nothing : hold::copies;
}

held_work::held_work(const queue& stream, hold how, int copies) : m_stream(stream), m_is_gate(how == hold::gate) {
  const device& device = stream.owner();
  if (m_is_gate) {
    m_gate.enqueue(device, stream.handle());
    m_last = stream.signal();
    return;
  }
  m_bytes.resize(bytes_of_row(device), 7);
  m_memory.emplace(device, compute_space(device), m_bytes.size());
  const tsr_copy copy =
      plain_copy(m_memory->where(), m_memory->at(0), host_space, host_address(m_bytes.data()), m_bytes.size());
  for (int i = 0; i < copies; ++i) expect_ok(device.table().copy(device.handle(), stream.handle(), &copy), "copy");
  m_last = stream.signal();
}

held_work::~held_work() {
  release();
  try {
    wait_until([&] { return m_stream.reached(m_last); }, "the point of stream_signal behind work that was held back");
  } catch (const check_failed&) {
    // The check that is under way tells what it found; memory that the device still uses must not be freed early.
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

bool held_work::holds() const { return !m_stream.reached(m_last); }

}  // namespace tessera::conformance
