#pragma once
// A stream whose plugin is not trusted to have finished with memory when it says so.
#include <deque>
#include <vector>

#include "tests/conformance/suite/rig.hpp"

namespace tessera::conformance {

/// What work uses; outlives the opened devices, which wait for their work when they are closed.
struct kept_memory {
  std::deque<std::vector<unsigned char>> bytes;
  std::deque<tsr_copy> copies;

  std::vector<unsigned char>& filled(std::uint64_t count, unsigned char with) {
    return bytes.emplace_back(count, with);
  }
};

/// A stream and an allocation, which are left to device_close unless destroy() and free() end them.
class kept_stream {
 public:
  kept_stream(const device& on, std::uint64_t bytes, kept_memory& kept);

  /// Enqueue a copy between host memory and the allocation; the struct that was given, which stays.
  tsr_copy& into(std::uint64_t offset, const std::vector<unsigned char>& from);
  tsr_copy& out_of(std::uint64_t offset, std::vector<unsigned char>& to);

  /// The next point, whose value must be larger than all before.
  tsr_ticket signal();
  bool reached(const tsr_ticket& point) const;
  void wait();

  void destroy();
  void free();
  tsr_stream* handle() const { return m_stream; }

 private:
  tsr_space_ref here() const { return {m_device.handle(), compute_space(m_device)}; }
  tsr_copy& enqueued(const tsr_copy& copy);

  const device& m_device;
  kept_memory& m_kept;
  tsr_stream* m_stream = nullptr;
  tsr_memory* m_memory = nullptr;
  std::uint64_t m_last = 0;
};

}  // namespace tessera::conformance
