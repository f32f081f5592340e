#include "tests/conformance/suite/rig.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace tessera::conformance {

buffer::buffer(const device& device, std::uint32_t space, std::uint64_t bytes)
    : m_device(&device), m_space(space), m_bytes(bytes) {
  need_ok(device.table().mem_alloc(device.handle(), space, bytes, &m_memory),
            fmt::format("mem_alloc({} bytes)", bytes));
  need(m_memory != nullptr, "mem_alloc answers OK and gives no memory");
}

buffer::~buffer() {
  if (m_memory != nullptr) m_device->table().mem_free(m_device->handle(), m_memory);
}

buffer::buffer(buffer&& other) noexcept
    : m_device(other.m_device),
      m_space(other.m_space),
      m_bytes(other.m_bytes),
      m_memory(std::exchange(other.m_memory, nullptr)) {}

queue::queue(const device& device, std::uint32_t flags) : m_device(&device) {
  need_ok(device.table().stream_create(device.handle(), flags, &m_stream), "stream_create");
  need(m_stream != nullptr, "stream_create answers OK and gives no stream");
}

queue::~queue() {
  if (m_stream != nullptr) m_device->table().stream_destroy(m_device->handle(), m_stream);
}

queue::queue(queue&& other) noexcept : m_device(other.m_device), m_stream(std::exchange(other.m_stream, nullptr)) {}

tsr_ticket queue::signal() const {
  tsr_ticket ticket{nullptr, 0};
  need_ok(m_device->table().stream_signal(m_device->handle(), m_stream, &ticket), "stream_signal");
  need(ticket.stream == m_stream && ticket.value > 0, "stream_signal gives a ticket of another stream or value 0");
  return ticket;
}

bool queue::reached(tsr_ticket ticket, tsr_status* status, std::uint64_t* failed) const {
  std::uint64_t value = 0, failed_value = 0;
  const tsr_status answer = m_device->table().stream_progress(m_device->handle(), m_stream, &value, &failed_value);
  if (status == nullptr) {
    need_ok(answer, "stream_progress");
  } else if (answer != TSR_OK) {
    *status = answer;
    if (failed != nullptr) *failed = failed_value;
  }
  return value >= ticket.value;
}

void queue::finish() const {
  const tsr_ticket ticket = signal();
  wait_until([&] { return reached(ticket); }, "the stream's work");
}

void wait_until(const std::function<bool()>& done, std::string_view what) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!done()) {
    need(std::chrono::steady_clock::now() < limit, "{} did not finish within 60 seconds", what);
    std::this_thread::yield();
  }
}

tsr_copy plain_copy(tsr_space_ref to, tsr_address destination, tsr_space_ref from, tsr_address source,
                    std::uint64_t bytes) {
  tsr_copy copy{};
  copy.struct_size = sizeof copy;
  copy.destination_space = to;
  copy.source_space = from;
  copy.destination = destination;
  copy.source = source;
  copy.bytes = bytes;
  copy.rows[0] = copy.rows[1] = 1;
  return copy;
}

void upload(const queue& stream, const buffer& to, const void* from, std::uint64_t bytes, std::uint64_t offset) {
  const tsr_copy copy = plain_copy(to.where(), to.at(offset), host_space, host_address(from), bytes);
  need_ok(stream.owner().table().copy(stream.owner().handle(), stream.handle(), &copy), "copy from host memory");
  stream.finish();
}

void download(const queue& stream, void* to, const buffer& from, std::uint64_t bytes, std::uint64_t offset) {
  const tsr_copy copy = plain_copy(host_space, host_address(to), from.where(), from.at(offset), bytes);
  need_ok(stream.owner().table().copy(stream.owner().handle(), stream.handle(), &copy), "copy to host memory");
  stream.finish();
}

std::vector<unsigned char> random_bytes(random_source& random, std::size_t count) {
  std::vector<unsigned char> bytes(count);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  return bytes;
}

std::uint32_t compute_space(const device& device) {
  for (std::uint32_t i = 0; i < device.spaces().size(); ++i)
    if (device.spaces()[i].description.kind == TSR_SPACE_DEVICE) return i;
  return 0;
}

void for_each_device(const opened& all, const std::function<void(const device&)>& function) {
  for (const auto& one : all.devices) {
    try {
      function(*one);
    } catch (const check_failed& failure) {
      throw check_failed(fmt::format("device {}: {}", one->name(), failure.what()));
    }
  }
}

}  // namespace tessera::conformance
