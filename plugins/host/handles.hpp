#pragma once
// What the host plugin's opaque handles are. Start here; device.cpp has the table.
#include <tessera/plugin.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "plugins/common/handle_pool.hpp"
#include "plugins/common/operand.hpp"
#include "plugins/common/pages.hpp"
#include "plugins/common/registration.hpp"
#include "plugins/common/report.hpp"
#include "plugins/common/timeline.hpp"
#include "plugins/common/work_queue.hpp"

namespace tessera::host {
inline constexpr std::uint64_t device_magic = 0x7473722e686f7374;  // "tsr.host"
inline constexpr std::uint64_t memory_magic = 0x7473722e736c6162;  // "tsr.slab"
inline constexpr std::uint64_t stream_magic = 0x7473722e666c6f77;  // "tsr.flow"
}  // namespace tessera::host

/// One slab of host memory.
struct tsr_memory_s {
  tessera::common::magic_word magic;
  tsr_device* device = nullptr;
  std::uint32_t space = 0;
  std::uint64_t bytes = 0;  // as asked for: what bounds are checked against
  tessera::common::pages pages;
};

/// One stream. Without a queue it is an inline stream: work runs inside the enqueueing call.
struct tsr_stream_s {
  tessera::common::magic_word magic;
  tsr_device* device = nullptr;
  std::shared_ptr<tessera::common::timeline> line;
  std::unique_ptr<tessera::common::work_queue> queue;
};

/// The one device of an opened host plugin. A closed device stays (without its magic word) until shutdown.
struct tsr_device_s {
  tessera::common::magic_word magic;
  tessera::common::reporter report;
  std::vector<tessera::common::numa_domain> domains;         // one per space
  std::vector<std::string> space_names;
  std::unique_ptr<std::atomic<std::uint64_t>[]> allocated;   // bytes per space
  std::atomic<std::uint64_t> live_allocations{0};
  std::atomic<std::uint32_t> streams_made{0};
  bool huge_pages = true;
  double bandwidth = 0;
  std::chrono::steady_clock::time_point opened_at;
  tessera::common::registration_table registered;
  tessera::common::handle_pool<tsr_memory_s> memories;
  tessera::common::handle_pool<tsr_stream_s> streams;
};

namespace tessera::host {

/// Calls function() for a live device; misuse answers INVALID_ARGUMENT, exceptions become statuses.
template <class Function>
tsr_status on_device(tsr_device* device, Function&& function) noexcept {
  if (device == nullptr || !device->magic.is(device_magic)) return TSR_INVALID_ARGUMENT;
  return common::guarded(device->report, function);
}

/// As on_device, for a live stream of that device.
template <class Function>
tsr_status on_stream(tsr_device* device, tsr_stream* stream, Function&& function) noexcept {
  return on_device(device, [&]() -> tsr_status {
    if (stream == nullptr || !stream->magic.is(stream_magic) || stream->device != device)
      return device->report.fail(TSR_INVALID_ARGUMENT, "the stream is not a live stream of this device");
    return function();
  });
}

/// Runs `function(execution&)` now (inline stream) or enqueues it. A failure of the work goes to the timeline.
template <class Function>
tsr_status enqueue(tsr_stream* stream, Function&& function) {
  if (stream->queue != nullptr) {
    stream->queue->run(std::forward<Function>(function));
    return TSR_OK;
  }
  common::execution state;
  if (const tsr_status status = function(state); status != TSR_OK) stream->line->fail(status, std::move(state.message));
  return TSR_OK;
}

/// Resolves plain host pointers and slabs of the device.
class operands final : public common::operand_resolver {
 public:
  explicit operands(tsr_device* device) : m_device(device) {}
  tsr_status resolve(const char* name, const tsr_address& address, std::uint64_t bytes, void** out) override;

 private:
  tsr_device* m_device;
};

// memory.cpp
tsr_status mem_alloc(tsr_device* device, std::uint32_t space, std::uint64_t bytes, tsr_memory** out_memory);
tsr_status mem_free(tsr_device* device, tsr_memory* memory);
tsr_status mem_base(tsr_device* device, tsr_memory* memory, void** out_base);
tsr_status host_register(tsr_device* device, void* pointer, std::uint64_t bytes);
tsr_status host_unregister(tsr_device* device, void* pointer);

// stream.cpp
tsr_status stream_create(tsr_device* device, std::uint32_t flags, tsr_stream** out_stream);
tsr_status stream_destroy(tsr_device* device, tsr_stream* stream);
tsr_status stream_signal(tsr_device* device, tsr_stream* stream, tsr_ticket* out_ticket);
tsr_status stream_progress(tsr_device* device, tsr_stream* stream, std::uint64_t* out_value, std::uint64_t* out_failed);
tsr_status stream_wait(tsr_device* device, tsr_stream* stream, tsr_ticket ticket);
tsr_status stream_host_wait(tsr_device* device, tsr_ticket ticket, std::uint64_t timeout_ns);
tsr_status stream_callback(tsr_device* device, tsr_stream* stream, void (*function)(void*), void* argument);
tsr_status copy(tsr_device* device, tsr_stream* stream, const tsr_copy* copy);
tsr_status fill(tsr_device* device, tsr_stream* stream, tsr_address destination, const void* pattern,
                std::uint32_t pattern_bytes, std::uint64_t count);
tsr_status host_task(tsr_device* device, tsr_stream* stream, tsr_status (*function)(void*, void* const*),
                     void* argument, const tsr_address* ranges, std::uint32_t range_count, double modelled_flops);

// device.cpp
const tsr_device_table& device_table();

// kernels.cpp
tsr_blas_table blas_table(const char* library);
tsr_tensor_table tensor_table();

}  // namespace tessera::host
