// What a plugin does to the process around it, and handles that it never gave:
//   talking        a refused mem_alloc is told on standard error
//   unbound        a thread of the plugin is not bound inside the mask
//   staying        each opening of a device leaves a thread behind
//   hoarding       the bytes of an allocation are kept for good
//   hurried        stream_host_wait takes its nanoseconds for picoseconds
//   narrow         a copy counts its bytes in 32 bits
//   trusting       mem_free answers OK to any handle
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

#include "tests/plugins/careless/careless.hpp"

namespace careless {
namespace {

tsr_status talking_alloc(tsr_device* device, std::uint32_t space, std::uint64_t bytes, tsr_memory** out) {
  const tsr_status status = inner_device.mem_alloc(device, space, bytes, out);
  if (status != TSR_OK) std::fprintf(stderr, "no memory: %d\n", status);
  return status;
}

tsr_status hoarding_alloc(tsr_device* device, std::uint32_t space, std::uint64_t bytes, tsr_memory** out) {
  const tsr_status status = inner_device.mem_alloc(device, space, bytes, out);
  if (status != TSR_OK) return status;
  static std::vector<std::vector<unsigned char>> kept;
  const std::lock_guard guard(mutex);
  kept.emplace_back(bytes, static_cast<unsigned char>(1));
  return TSR_OK;
}

tsr_status hurried_wait(tsr_device* device, tsr_ticket ticket, std::uint64_t timeout_ns) {
  return inner_device.stream_host_wait(device, ticket, timeout_ns / 1000);
}

tsr_status narrow_copy(tsr_device* device, tsr_stream* stream, const tsr_copy* copy) {
  if (copy == nullptr) return inner_device.copy(device, stream, copy);
  tsr_copy truncated = *copy;
  truncated.bytes = static_cast<std::uint32_t>(copy->bytes);
  return inner_device.copy(device, stream, &truncated);
}

tsr_status trusting_free(tsr_device* device, tsr_memory* memory) {
  inner_device.mem_free(device, memory);
  return TSR_OK;
}

void stay() {
  for (;;) pause();
}

}  // namespace

void plant_in_manners(tsr_device_table& table) {
  if (about == "talking") table.mem_alloc = talking_alloc;
  if (about == "hoarding") table.mem_alloc = hoarding_alloc;
  if (about == "hurried") table.stream_host_wait = hurried_wait;
  if (about == "narrow") table.copy = narrow_copy;
  if (about == "trusting") table.mem_free = trusting_free;
  if (about == "unbound" || about == "staying") std::thread(stay).detach();
}

}  // namespace careless
