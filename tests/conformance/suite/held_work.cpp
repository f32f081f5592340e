#include "tests/conformance/suite/held_work.hpp"

#include <algorithm>
#include <thread>

namespace tessera::conformance {

std::uint64_t bytes_of_row(const device& on) {
  const std::uint64_t usual = std::uint64_t{4} << 20, room = on.spaces()[compute_space(on)].description.bytes;
  return allocatable(on, copyable(on, room == 0 ? usual : std::min(usual, std::max<std::uint64_t>(room / 8, 64))));
}

namespace {

/// A host task that finds out whether the call that enqueues it returns before it ends.
struct scout {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> returned{false}, inside{false};

  static tsr_status look(void* self, void* const*) {
    auto& own = *static_cast<scout*>(self);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (!own.returned) {
      if (std::this_thread::get_id() == own.caller || std::chrono::steady_clock::now() > end) {
        own.inside = true;
        break;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return TSR_OK;
  }
};

bool runs_tasks_inside(const queue& stream) {
  scout sent;
  const device& on = stream.owner();
  need_ok(on.table().host_task(on.handle(), stream.handle(), &scout::look, &sent, nullptr, 0, 0), "host_task");
  sent.returned = true;
  stream.finish();
  return sent.inside;
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

tsr_status held_work::gate::wait(void* self, void* const*) {
  gate& own = *static_cast<gate*>(self);
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!own.open) {
    if (std::this_thread::get_id() == own.holder || std::chrono::steady_clock::now() > end) {
      own.ran_out = true;
      break;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return TSR_OK;
}

held_work::held_work(const queue& stream, hold how, int copies) : m_stream(stream), m_is_gate(how == hold::gate) {
  const device& device = stream.owner();
  if (m_is_gate) {
    expect_ok(device.table().host_task(device.handle(), stream.handle(), &gate::wait, &m_gate, nullptr, 0, 0),
              "host_task");
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
