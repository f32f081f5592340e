#include "tests/conformance/suite/held_work.hpp"

#include <algorithm>
#include <thread>

#include "tests/conformance/suite/host_code.hpp"

namespace tessera::conformance {

std::uint64_t bytes_of_row(const device& on) {
  const std::uint64_t usual = std::uint64_t{4} << 20, room = on.spaces()[compute_space(on)].description.bytes;
  return allocatable(on, copyable(on, room == 0 ? usual : std::min(usual, std::max<std::uint64_t>(room / 8, 64))));
}

row_copy::row_copy(const queue& stream) {
  // Longer than a call takes: the device works behind its caller. Within the device where it copies there, because
  // copies of the host's pageable memory may be staged, and done but for their ends when the call returns.
  constexpr std::chrono::microseconds long_enough{200};
  const device& on = stream.owner();
  const std::uint32_t space = compute_space(on);
  const std::uint64_t least = bytes_of_row(on), room = on.spaces()[space].description.bytes;
  tsr_link_desc link{};
  const tsr_space_ref here{on.handle(), space};
  if (on.table().link(on.handle(), here, here, &link) != TSR_OK) {
    plugin::take_error_details();
    m_host.resize(least, 7);
    m_to.emplace(on, space, least);
    m_call = plain_copy(m_to->where(), m_to->at(0), host_space, host_address(m_host.data()), least);
    return;
  }
  for (std::uint64_t bytes = std::min(least, std::uint64_t{1} << 16);; bytes *= 2) {
    m_from.emplace(on, space, bytes);
    m_to.emplace(on, space, bytes);
    m_call = plain_copy(m_to->where(), m_to->at(0), m_from->where(), m_from->at(0), bytes);
    stream.finish();
    const auto begin = std::chrono::steady_clock::now();
    need_ok(on.table().copy(on.handle(), stream.handle(), &m_call), "copy");
    stream.finish();
    if (std::chrono::steady_clock::now() - begin >= long_enough || 2 * bytes > room / 16 ||
        allocatable(on, copyable(on, 2 * bytes)) < 2 * bytes)
      return;
  }
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
  const row_copy copy(stream);
  bool inside = true;
  for (int i = 0; i < 8 && inside; ++i) {
    need_ok(on.table().copy(on.handle(), stream.handle(), &copy.call()), "copy");
    inside = stream.reached(stream.signal());
  }
  stream.finish();
  return inside;
}

}  // namespace

hold hold_of(const queue& stream) {
  if (runs_host_code(stream.owner()) && !runs_tasks_inside(stream)) return hold::gate;
  return copies_inside(stream) ? hold::nothing : hold::copies;
}

held_work::held_work(const queue& stream, hold how, int copies) : m_stream(stream), m_is_gate(how == hold::gate) {
  const device& device = stream.owner();
  if (m_is_gate) {
    m_gate.enqueue(device, stream.handle());
    m_last = stream.signal();
    return;
  }
  m_copy.emplace(stream);
  for (int i = 0; i < copies; ++i)
    expect_ok(device.table().copy(device.handle(), stream.handle(), &m_copy->call()), "copy");
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
