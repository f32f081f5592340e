#include "tests/conformance/suite/rig.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace tessera::conformance {
namespace {

/// Queues that live, by their device.
class live_queues {
 public:
  /// False: as many live as the device states that can.
  bool add(const device& on) {
    const std::lock_guard guard(m_mutex);
    std::uint32_t& count = m_counts[&on];
    const std::uint32_t most = on.description().max_streams;
    if (most != 0 && count >= most) return false;
    ++count;
    return true;
  }
  void remove(const device& on) {
    const std::lock_guard guard(m_mutex);
    if (const auto found = m_counts.find(&on); --found->second == 0) m_counts.erase(found);
  }

 private:
  std::mutex m_mutex;
  std::map<const device*, std::uint32_t> m_counts;
};
live_queues living;

/// Bytes of buffers that live, by their space.
class live_bytes {
 public:
  void add(const device& on, std::uint32_t space, std::uint64_t bytes) {
    const std::lock_guard guard(m_mutex);
    m_bytes[{&on, space}] += bytes;
  }
  void remove(const device& on, std::uint32_t space, std::uint64_t bytes) {
    const std::lock_guard guard(m_mutex);
    if (const auto found = m_bytes.find({&on, space}); (found->second -= bytes) == 0) m_bytes.erase(found);
  }
  std::uint64_t of(const device& on, std::uint32_t space) {
    const std::lock_guard guard(m_mutex);
    const auto found = m_bytes.find({&on, space});
    return found == m_bytes.end() ? 0 : found->second;
  }

 private:
  std::mutex m_mutex;
  std::map<std::pair<const device*, std::uint32_t>, std::uint64_t> m_bytes;
};
live_bytes in_use;

/// What an allocation takes of its space.
std::uint64_t taken_by(const device& on, std::uint32_t space, std::uint64_t bytes) {
  const std::uint64_t unit =
      space < on.spaces().size() ? std::max<std::uint64_t>(on.spaces()[space].description.granularity, 1) : 1;
  return (bytes + unit - 1) / unit * unit;
}

/// Throws beyond_limits where a space is too small for what the suite wants of it: more than half of it, which is what
/// memory.capacity_is_there holds a device to.
void need_room(const device& on, std::uint32_t space, std::uint64_t bytes) {
  const std::uint64_t capacity = space < on.spaces().size() ? on.spaces()[space].description.bytes : 0,
                      wanted = in_use.of(on, space) + taken_by(on, space, bytes);
  if (capacity == 0 || wanted <= capacity / 2) return;
  plugin::take_error_details();
  throw beyond_limits(
      fmt::format("it takes {} bytes of space {} of {} at once, which has {}", wanted, space, on.name(), capacity));
}

/// Enqueues piece(first byte, bytes) for all of `bytes`, and waits.
template <class Piece>
void in_pieces(const queue& stream, std::uint64_t bytes, const char* call, Piece&& piece) {
  std::uint64_t at = 0;
  do {
    const std::uint64_t count = copyable(stream.owner(), bytes - at);
    const tsr_copy copy = piece(at, count);
    need_ok(stream.owner().table().copy(stream.owner().handle(), stream.handle(), &copy), call);
    at += count;
  } while (at < bytes);
  stream.finish();
}

std::uint64_t within(std::uint64_t limit, std::uint64_t wanted) {
  return limit == 0 ? wanted : std::min(limit, wanted);
}

}  // namespace

std::uint64_t copyable(const device& device, std::uint64_t wanted) {
  return within(device.description().max_copy, wanted);
}
std::uint64_t allocatable(const device& device, std::uint64_t wanted) {
  return within(device.description().max_allocation, wanted);
}
std::size_t streams_of(const device& device, std::size_t wanted) {
  return within(device.description().max_streams, wanted);
}

void need_copyable(const device& device, std::uint64_t bytes) {
  if (copyable(device, bytes) < bytes)
    throw beyond_limits(fmt::format("it takes a copy of {} bytes, and {} states max_copy {}", bytes, device.name(),
                                    device.description().max_copy));
}

buffer::buffer(const device& device, std::uint32_t space, std::uint64_t bytes)
    : m_device(&device), m_space(space), m_bytes(bytes) {
  if (allocatable(device, bytes) < bytes)
    throw beyond_limits(fmt::format("it takes an allocation of {} bytes, and {} states max_allocation {}", bytes,
                                    device.name(), device.description().max_allocation));
  const tsr_status status = device.table().mem_alloc(device.handle(), space, bytes, &m_memory);
  if (status == TSR_RESOURCE_EXHAUSTED) need_room(device, space, bytes);
  need_ok(status, fmt::format("mem_alloc({} bytes)", bytes));
  need(m_memory != nullptr, "mem_alloc answers OK and gives no memory");
  in_use.add(device, space, taken_by(device, space, bytes));
}

buffer::~buffer() {
  if (m_memory == nullptr) return;
  m_device->table().mem_free(m_device->handle(), m_memory);
  in_use.remove(*m_device, m_space, taken_by(*m_device, m_space, m_bytes));
}

buffer::buffer(buffer&& other) noexcept
    : m_device(other.m_device),
      m_space(other.m_space),
      m_bytes(other.m_bytes),
      m_memory(std::exchange(other.m_memory, nullptr)) {}

queue::queue(const device& device, std::uint32_t flags) : m_device(&device) {
  if (!living.add(device))
    throw beyond_limits(fmt::format("it takes more streams at a time than {} states with max_streams {}", device.name(),
                                    device.description().max_streams));
  const tsr_status status = device.table().stream_create(device.handle(), flags, &m_stream);
  if (status != TSR_OK || m_stream == nullptr) living.remove(device);
  need_ok(status, "stream_create");
  need(m_stream != nullptr, "stream_create answers OK and gives no stream");
}

queue::~queue() {
  if (m_stream == nullptr) return;
  m_device->table().stream_destroy(m_device->handle(), m_stream);
  living.remove(*m_device);
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
  wait_until([&] { return reached(ticket); }, "the point of stream_signal behind all work of a stream");
}

void wait_until(const std::function<bool()>& done, std::string_view what) {
  using namespace std::chrono_literals;
  const auto began = std::chrono::steady_clock::now();
  while (!done()) {
    const auto waited = std::chrono::steady_clock::now() - began;
    need(waited < patience, "{} did not come within {:.3g} seconds", what,
         std::chrono::duration<double>(patience).count());
    if (waited < 50us)
      std::this_thread::yield();
    else  // the driver's own threads need the processor more
      std::this_thread::sleep_for(50us);
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
  const auto* const begin = static_cast<const unsigned char*>(from);
  in_pieces(stream, bytes, "copy from host memory", [&](std::uint64_t at, std::uint64_t count) {
    return plain_copy(to.where(), to.at(offset + at), host_space, host_address(begin + at), count);
  });
}

void download(const queue& stream, void* to, const buffer& from, std::uint64_t bytes, std::uint64_t offset) {
  auto* const begin = static_cast<unsigned char*>(to);
  in_pieces(stream, bytes, "copy to host memory", [&](std::uint64_t at, std::uint64_t count) {
    return plain_copy(host_space, host_address(begin + at), from.where(), from.at(offset + at), count);
  });
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
    } catch (const beyond_limits& limit) {
      left_out = limit.what();
    } catch (const check_failed& failure) {
      throw check_failed(fmt::format("device {}: {}", one->name(), failure.what()));
    }
  }
}

}  // namespace tessera::conformance
