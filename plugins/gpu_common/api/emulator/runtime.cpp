#include "plugins/gpu_common/api/emulator/runtime.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/bytes/copy.hpp"
#include "plugins/gpu_common/api/emulator/device_state.hpp"
#include "plugins/kit/abi/copy_plan.hpp"
#include "plugins/kit/abi/work_queue.hpp"
#include "plugins/kit/system/shared_memory.hpp"

namespace tessera::gpu {
namespace emulator {

/// Recorded work. Launches under way have their share of it.
struct graph {
  using pieces = std::vector<std::function<void()>>;
  std::shared_ptr<const pieces> work;
};

/// A stream is a work queue that may be fed by several threads, as CUDA's may.
class queued_stream final : public stream {
 public:
  queued_stream(int ordinal, const std::atomic<bool>* lost, const std::string& name, const tsr_host* host)
      : device(ordinal), line(std::make_shared<kit::timeline>()), m_lost(lost), m_queue(line, name, host, nullptr) {}

  void run(std::function<void()> work) override;
  std::uint64_t signal() {
    const std::lock_guard lock(m_mutex);
    return m_queue.signal();
  }
  void wait(std::shared_ptr<kit::timeline> other, std::uint64_t value) {
    const std::lock_guard lock(m_mutex);
    m_queue.wait(std::move(other), value);
  }

  /// False when it records already.
  bool begin_capture() {
    const std::lock_guard lock(m_mutex);
    if (m_recorded != nullptr) return false;
    m_recorded = std::make_shared<graph::pieces>();
    return true;
  }
  /// What was recorded; null when it does not record.
  std::shared_ptr<const graph::pieces> end_capture() {
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_recorded, nullptr);
  }
  bool is_lost() const { return m_lost->load(std::memory_order_acquire); }

  const int device;
  const std::shared_ptr<kit::timeline> line;

 private:
  const std::atomic<bool>* const m_lost;  // then queued work is dropped
  std::mutex m_mutex;
  kit::work_queue m_queue;
  std::shared_ptr<graph::pieces> m_recorded;  // null: work runs
};

/// Where its last record is; none: it counts as reached.
struct event {
  std::mutex mutex;
  std::shared_ptr<kit::timeline> line;
  std::uint64_t value = 0;
  int device = -1;
};

namespace {

std::atomic<const tsr_host*> thread_host{nullptr};
std::atomic<unsigned> streams_made{0};
std::atomic<bool> shares{false};
thread_local int running = 0;

std::mutex host_mutex;
std::map<std::uintptr_t, std::uint64_t>& registered() {
  static std::map<std::uintptr_t, std::uint64_t> all;
  return all;
}

/// All streams are made here.
queued_stream& own(stream_t stream) { return static_cast<queued_stream&>(*stream); }

/// What the emulated device has: more than any test allocates; plugins cap it.
constexpr std::size_t device_bytes = std::size_t{64} << 30;

/// Reading it before it is written is a mistake that real devices hide; every 4 or 8 bytes of it are not a number.
constexpr std::uint32_t poison = 0x7ff4feed;

error_t allocate_some(void** out, std::size_t bytes) {
  if (bytes == 0) return error_t::invalid_value;
  if (bytes > device_bytes || ::posix_memalign(out, 256, bytes) != 0) return error_t::out_of_memory;
  return error_t::success;
}

}  // namespace

device_state& state_of_device(int ordinal) {
  static std::array<device_state, device_count> all;
  return all[static_cast<std::size_t>(ordinal)];
}

int& current_device() {
  static thread_local int current = 0;
  return current;
}

device_state& current_state() { return state_of_device(current_device()); }

error_t alive(int ordinal) { return state_of_device(ordinal).why.load(std::memory_order_acquire); }
error_t alive() { return alive(current_device()); }

std::optional<allocation> take_out(void* memory, bool imported) {
  const std::lock_guard lock(current_state().mutex);
  const auto found = current_state().allocations.find(memory);
  if (found == current_state().allocations.end() || found->second.imported != imported) return std::nullopt;
  std::optional<allocation> taken(std::move(found->second));
  current_state().allocations.erase(found);
  return taken;
}

void queued_stream::run(std::function<void()> work) {
  const std::lock_guard lock(m_mutex);
  if (m_recorded != nullptr) {
    m_recorded->push_back(std::move(work));
    return;
  }
  m_queue.run([this, work = std::move(work)](kit::execution&) -> tsr_status {
    if (is_lost()) return TSR_OK;
    running = device;
    work();
    return TSR_OK;
  });
}

void use_host(const tsr_host* host) noexcept { thread_host.store(host); }
void share_memory(bool yes) noexcept { shares.store(yes); }
void lose_device(int ordinal, error_t why) noexcept {
  auto& device = state_of_device(ordinal);
  auto none = error_t::success;
  device.why.compare_exchange_strong(none, why);
  device.lost.store(true, std::memory_order_release);
}
int running_device() noexcept { return running; }

error_t enqueue(stream_t stream, std::function<void()> work) {
  if (stream == nullptr) return error_t::invalid_value;
  if (const auto error = alive(own(stream).device); error != error_t::success) return error;
  stream->run(std::move(work));
  return error_t::success;
}

}  // namespace emulator

using namespace emulator;

error_kind kind_of(error_t error) noexcept {
  switch (error) {
    case error_t::success:
      return error_kind::none;
    case error_t::not_ready:
      return error_kind::not_ready;
    case error_t::out_of_memory:
      return error_kind::out_of_memory;
    case error_t::no_device:
      return error_kind::no_device;
    case error_t::invalid_value:
      return error_kind::bad_argument;
    case error_t::already_registered:
      return error_kind::already_there;
    case error_t::gone:
      return error_kind::gone;
    case error_t::not_permitted:
      return error_kind::denied;
    case error_t::not_supported:
      return error_kind::unsupported;
    case error_t::lost:
    case error_t::missed_barrier:
      return error_kind::sticky;
  }
  return error_kind::other;
}

const char* text_of(error_t error) noexcept {
  switch (error) {
    case error_t::success:
      return "no error";
    case error_t::not_ready:
      return "not ready";
    case error_t::out_of_memory:
      return "out of memory";
    case error_t::no_device:
      return "no such device";
    case error_t::invalid_value:
      return "invalid value";
    case error_t::already_registered:
      return "host memory is already registered";
    case error_t::gone:
      return "the memory is gone, or its process cannot be seen from here";
    case error_t::not_permitted:
      return "the operating system keeps the processes apart";
    case error_t::not_supported:
      return "not supported";
    case error_t::lost:
      return "the emulated device is lost";
    case error_t::missed_barrier:
      return "of a kernel's threads some waited at a barrier, some ended";
  }
  return "an error of no name";
}

void clear_error() noexcept {}

std::string missing_driver() { return {}; }

error_t count_devices(int* out) noexcept {
  *out = device_count;
  return error_t::success;
}

error_t use_device(int ordinal) noexcept {
  if (ordinal < 0 || ordinal >= device_count) return error_t::no_device;
  current_device() = ordinal;
  return error_t::success;
}

error_t describe(int ordinal, device_facts& out) noexcept {
  if (ordinal < 0 || ordinal >= device_count) return error_t::no_device;
  out = {};
  std::snprintf(out.name, sizeof out.name, "Emulated GPU %d", ordinal);
  std::memcpy(out.uuid, "tessera.gpuemu", 14);
  out.uuid[15] = static_cast<std::uint8_t>(ordinal);
  out.compute_units = 1;
  out.copy_engines = 2;
  return error_t::success;
}

error_t free_memory(std::size_t* out) noexcept {
  *out = device_bytes;
  return alive();
}

error_t synchronize_device() {
  std::vector<std::shared_ptr<queued_stream>> all;
  {
    const std::lock_guard lock(current_state().mutex);
    for (const auto& [handle, one] : current_state().streams) all.push_back(one);
  }
  for (const auto& one : all) one->line->wait(one->signal());
  return alive();
}

void revive_device(int ordinal) noexcept {
  auto& device = state_of_device(ordinal);
  const std::lock_guard lock(device.mutex);
  if (!device.streams.empty() || !device.allocations.empty()) return;
  device.why.store(error_t::success);
  device.lost.store(false, std::memory_order_release);
}

error_t allocate(void** out, std::size_t bytes) {
  if (const auto error = alive(); error != error_t::success) return error;
  allocation made;
  if (shares.load()) {
    auto pages = kit::map_shared(bytes, -1, made.place);
    if (!pages) return bytes == 0 ? error_t::invalid_value : error_t::out_of_memory;
    made.pages = std::move(*pages);
    *out = made.pages.data();
  } else if (const auto error = allocate_some(out, bytes); error != error_t::success) {
    return error;
  }
  kit::fill_pattern(*out, &poison, sizeof poison, bytes / sizeof poison);
  const std::lock_guard lock(current_state().mutex);
  current_state().allocations.emplace(*out, std::move(made));
  return error_t::success;
}

error_t allocate_managed(void** out, std::size_t bytes) { return allocate(out, bytes); }

error_t release(void* memory) {
  const auto which = take_out(memory, false);
  if (!which) return error_t::invalid_value;
  if (which->pages.data() == nullptr) std::free(memory);
  return alive();
}

error_t allocate_pinned(void** out, std::size_t bytes) {
  if (const auto error = alive(); error != error_t::success) return error;
  return allocate_some(out, bytes);
}

error_t release_pinned(void* memory) {
  std::free(memory);
  return alive();
}

error_t allocate_in_order(void** out, std::size_t bytes, stream_t stream) {
  if (const auto error = alive(own(stream).device); error != error_t::success) return error;
  return allocate_some(out, bytes);
}

error_t release_in_order(void* memory, stream_t stream) {
  // Also when the device is lost meanwhile and drops what is queued.
  const std::shared_ptr<void> owner(memory, std::free);
  return enqueue(stream, [owner] {});
}

error_t register_host(void* memory, std::size_t bytes) {
  if (const auto error = alive(); error != error_t::success) return error;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::lock_guard lock(host_mutex);
  auto& all = registered();
  const auto next = all.lower_bound(begin);
  if (next != all.end() && next->first < begin + bytes) return error_t::already_registered;
  if (next != all.begin() && std::prev(next)->first + std::prev(next)->second > begin)
    return error_t::already_registered;
  all.emplace(begin, bytes);
  return error_t::success;
}

error_t unregister_host(void* memory) {
  const std::lock_guard lock(host_mutex);
  return registered().erase(reinterpret_cast<std::uintptr_t>(memory)) == 0 ? error_t::invalid_value : alive();
}

error_t create_stream(stream_t* out) {
  if (const auto error = alive(); error != error_t::success) return error;
  const auto name = "gpu" + std::to_string(current_device()) + ".s" + std::to_string(streams_made.fetch_add(1) % 10000);
  auto made = std::make_shared<queued_stream>(current_device(), &current_state().lost, name, thread_host.load());
  *out = made.get();
  const std::lock_guard lock(current_state().mutex);
  current_state().streams.emplace(*out, std::move(made));
  return error_t::success;
}

error_t synchronize_stream(stream_t stream) {
  own(stream).line->wait(own(stream).signal());
  return alive(own(stream).device);
}

error_t destroy_stream(stream_t stream) {
  auto& device = state_of_device(own(stream).device);
  std::shared_ptr<queued_stream> last;
  {
    const std::lock_guard lock(device.mutex);
    const auto found = device.streams.find(stream);
    if (found == device.streams.end()) return error_t::invalid_value;
    last = std::move(found->second);
    device.streams.erase(found);
  }
  last.reset();  // works off what is queued and joins
  return error_t::success;
}

error_t create_event(event_t* out) {
  if (const auto error = alive(); error != error_t::success) return error;
  *out = std::make_unique<event>().release();
  return error_t::success;
}

error_t destroy_event(event_t event) {
  const std::unique_ptr<emulator::event> owner(event);
  return error_t::success;
}

error_t record(event_t event, stream_t stream) {
  if (const auto error = alive(own(stream).device); error != error_t::success) return error;
  const auto value = own(stream).signal();
  const std::lock_guard lock(event->mutex);
  event->line = own(stream).line;
  event->value = value;
  event->device = own(stream).device;
  return error_t::success;
}

error_t query(event_t event) {
  const std::lock_guard lock(event->mutex);
  if (event->line == nullptr) return error_t::success;
  // The device first: what a lost one dropped counts as reached in its queue.
  const bool reached = event->line->reached() >= event->value;
  if (const auto error = alive(event->device); error != error_t::success) return error;
  return reached ? error_t::success : error_t::not_ready;
}

error_t wait(stream_t stream, event_t event) {
  if (const auto error = alive(own(stream).device); error != error_t::success) return error;
  std::shared_ptr<kit::timeline> line;
  std::uint64_t value = 0;
  {
    const std::lock_guard lock(event->mutex);
    line = event->line;
    value = event->value;
  }
  if (line != nullptr) own(stream).wait(std::move(line), value);
  return error_t::success;
}

error_t copy(void* to, const void* from, std::size_t bytes, stream_t stream) {
  return enqueue(stream, [=] { move_bytes(to, from, bytes); });
}

error_t copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t bytes,
                std::size_t rows, stream_t stream) {
  return copy_3d(to, to_pitch, rows, from, from_pitch, rows, bytes, rows, 1, stream);
}

error_t copy_3d(void* to, std::size_t to_pitch, std::size_t to_rows, const void* from, std::size_t from_pitch,
                std::size_t from_rows, std::size_t bytes, std::size_t rows, std::size_t planes, stream_t stream) {
  const auto largest = std::max(to_pitch, from_pitch);
  if (largest > max_pitch || bytes > std::min(to_pitch, from_pitch) || rows > std::min(to_rows, from_rows))
    return error_t::invalid_value;
  return enqueue(stream, [=] {
    for (std::size_t p = 0; p < planes; ++p)
      for (std::size_t r = 0; r < rows; ++r)
        copy_bytes(static_cast<char*>(to) + (p * to_rows + r) * to_pitch,
                   static_cast<const char*>(from) + (p * from_rows + r) * from_pitch, bytes);
  });
}

error_t fill_bytes(void* to, int value, std::size_t bytes, stream_t stream) {
  return enqueue(stream, [=] { std::memset(to, value, bytes); });
}

error_t host_function(stream_t stream, void (*function)(void*), void* argument) {
  return enqueue(stream, [=] { function(argument); });
}

error_t begin_capture(stream_t stream) {
  if (const auto error = alive(own(stream).device); error != error_t::success) return error;
  return own(stream).begin_capture() ? error_t::success : error_t::invalid_value;
}

error_t end_capture(stream_t stream, graph_t* out) {
  auto recorded = own(stream).end_capture();
  if (const auto error = alive(own(stream).device); error != error_t::success) return error;
  if (recorded == nullptr) return error_t::invalid_value;
  *out = std::make_unique<graph>(graph{std::move(recorded)}).release();
  return error_t::success;
}

error_t launch_graph(graph_t graph, stream_t stream) {
  return enqueue(stream, [work = graph->work, on = &own(stream)] {
    for (const auto& piece : *work)
      if (!on->is_lost()) piece();
  });
}

error_t destroy_graph(graph_t graph) {
  const std::unique_ptr<emulator::graph> owner(graph);
  return error_t::success;
}

error_t can_access_peer(int* out, int ordinal, int peer) noexcept {
  // Neighbours reach each other, so that both cases exist: 0 and 1, 2 and 3, ….
  *out = ordinal / 2 == peer / 2 ? 1 : 0;
  return error_t::success;
}

error_t enable_peer(int) noexcept { return error_t::success; }

}  // namespace tessera::gpu
