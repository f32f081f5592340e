#pragma once
// Memory, streams and transfers of a device, with failures turned into failed checks. They are tools: what a check is
// about it expects itself.
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "core/plugin/device.hpp"
#include "tests/conformance/suite/check.hpp"

namespace tessera::conformance {

using plugin::device;

/// What a device's stated limits leave of `wanted`: bytes of one copy, bytes of one allocation, streams that live at a
/// time.
std::uint64_t copyable(const device& device, std::uint64_t wanted);
std::uint64_t allocatable(const device& device, std::uint64_t wanted);
std::size_t streams_of(const device& device, std::size_t wanted);
/// Throws beyond_limits where one copy may not have so many bytes.
void need_copyable(const device& device, std::uint64_t bytes);

/// An allocation, freed at the end of the scope. Throws beyond_limits for more bytes than the device states that it
/// allocates at once, and where its memory is too small for what the suite has of it then.
class buffer {
 public:
  buffer(const device& device, std::uint32_t space, std::uint64_t bytes);
  ~buffer();
  buffer(buffer&& other) noexcept;
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  tsr_address at(std::uint64_t offset) const { return {m_memory, offset}; }
  tsr_memory* memory() const { return m_memory; }
  std::uint64_t bytes() const { return m_bytes; }
  tsr_space_ref where() const { return {m_device->handle(), m_space}; }

 private:
  const device* m_device;
  std::uint32_t m_space;
  std::uint64_t m_bytes;
  tsr_memory* m_memory = nullptr;
};

/// A stream, destroyed at the end of the scope. Throws beyond_limits where as many live as the device states that can.
class queue {
 public:
  explicit queue(const device& device, std::uint32_t flags = TSR_STREAM_COMPUTE);
  ~queue();
  queue(queue&& other) noexcept;
  queue(const queue&) = delete;
  queue& operator=(const queue&) = delete;

  tsr_stream* handle() const { return m_stream; }
  const device& owner() const { return *m_device; }
  tsr_ticket signal() const;
  /// Waits for all work enqueued so far; a failure of the work is a failed check.
  void finish() const;
  /// Whether the ticket (of this stream) is reached. Stores the answer of stream_progress and the failed value.
  bool reached(tsr_ticket ticket, tsr_status* status = nullptr, std::uint64_t* failed = nullptr) const;

 private:
  const device* m_device;
  tsr_stream* m_stream = nullptr;
};

/// Calls `done` until it is true; a failed check after `patience`. `what` has not come then.
void wait_until(const std::function<bool()>& done, std::string_view what);

inline tsr_address host_address(const void* pointer) {
  return {nullptr, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer))};
}
constexpr tsr_space_ref host_space{nullptr, 0};

/// A one-dimensional copy, ready to be enqueued.
tsr_copy plain_copy(tsr_space_ref to, tsr_address destination, tsr_space_ref from, tsr_address source,
                    std::uint64_t bytes);

/// Copies between the host and an allocation, and waits. In pieces, where the device states a largest copy.
void upload(const queue& stream, const buffer& to, const void* from, std::uint64_t bytes, std::uint64_t offset = 0);
void download(const queue& stream, void* to, const buffer& from, std::uint64_t bytes, std::uint64_t offset = 0);

template <class T>
buffer uploaded(const queue& stream, std::uint32_t space, const std::vector<T>& values) {
  buffer memory(stream.owner(), space, std::max<std::size_t>(values.size(), 1) * sizeof(T));
  if (!values.empty()) upload(stream, memory, values.data(), values.size() * sizeof(T));
  return memory;
}
template <class T>
std::vector<T> downloaded(const queue& stream, const buffer& from, std::size_t count) {
  std::vector<T> values(count);
  if (count != 0) download(stream, values.data(), from, count * sizeof(T));
  return values;
}

std::vector<unsigned char> random_bytes(random_source& random, std::size_t count);

/// The space in which a device computes: its first of kind device, else its first.
std::uint32_t compute_space(const device& device);

/// Runs `function` for every device; a failed check names the device. One whose limits are too small is left out.
void for_each_device(const opened& all, const std::function<void(const device&)>& function);

}  // namespace tessera::conformance
