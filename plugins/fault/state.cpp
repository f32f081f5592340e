#include "plugins/fault/state.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace tessera::fault {
namespace {

/// Open handles of one type and their state. Never destroyed: threads of a plugin may outlive static objects.
template <class Handle, class State>
class book {
 public:
  static book& all() {
    static book* const kept = std::make_unique<book>().release();
    return *kept;
  }
  std::shared_ptr<State> find(const Handle* handle) const {
    const std::shared_lock lock(m_mutex);
    const auto found = m_entries.find(handle);
    return found == m_entries.end() ? nullptr : found->second;
  }
  std::vector<std::shared_ptr<State>> values() const {
    const std::shared_lock lock(m_mutex);
    std::vector<std::shared_ptr<State>> all;
    for (const auto& [handle, state] : m_entries) all.push_back(state);
    return all;
  }
  void add(const Handle* handle, std::shared_ptr<State> state) {
    const std::lock_guard lock(m_mutex);
    m_entries[handle] = std::move(state);
  }
  void remove(const Handle* handle) {
    const std::lock_guard lock(m_mutex);
    m_entries.erase(handle);
  }

 private:
  mutable std::shared_mutex m_mutex;
  std::unordered_map<const Handle*, std::shared_ptr<State>> m_entries;
};

/// What a held piece of work waits for; frees itself when it has run.
struct hold {
  std::shared_ptr<plugin_state> plugin;
  std::uint64_t ns = 0;  // 0: until the gate opens
  static void pass(void* argument) {
    const std::unique_ptr<hold> mine(static_cast<hold*>(argument));
    if (mine->ns == 0)
      mine->plugin->held.wait();
    else
      mine->plugin->held.wait_for(mine->ns);
  }
  static tsr_status pass_as_task(void* argument, void* const*) {
    pass(argument);
    return TSR_OK;
  }
};

/// Enqueues something that takes `ns` (0: until the end) before what follows on the stream.
tsr_status hold_back(device_state& device, tsr_stream* stream, std::uint64_t ns) {
  auto plugin = find(device.plugin->handle);
  if (plugin == nullptr || plugin->held.is_open()) return TSR_OK;
  auto fresh = std::make_unique<hold>(hold{std::move(plugin), ns});
  tsr_status status = TSR_UNIMPLEMENTED;
  if (device.inner.host_task != nullptr)
    status = device.inner.host_task(device.handle, stream, hold::pass_as_task, fresh.get(), nullptr, 0, 0);
  else if (device.inner.stream_callback != nullptr)  // holds the stream where callbacks are part of its order
    status = device.inner.stream_callback(device.handle, stream, hold::pass, fresh.get());
  if (status == TSR_OK) static_cast<void>(fresh.release());
  return status;
}

}  // namespace

void gate::open() noexcept {
  {
    const std::lock_guard lock(m_mutex);
    m_open.store(true, std::memory_order_release);
  }
  m_opened.notify_all();
}

void gate::wait() noexcept {
  std::unique_lock lock(m_mutex);
  m_opened.wait(lock, [&] { return is_open(); });
}

void gate::wait_for(std::uint64_t ns) noexcept {
  std::unique_lock lock(m_mutex);
  m_opened.wait_for(lock, std::chrono::nanoseconds(ns), [&] { return is_open(); });
}

void stream_state::fail(tsr_status status, std::string message) {
  const std::lock_guard lock(mutex);
  if (pending != TSR_OK) return;  // the first failure before a point is kept
  pending = status;
  pending_message = std::move(message);
}

std::shared_ptr<stream_state> device_state::find(tsr_stream* stream) const {
  const std::shared_lock lock(m_mutex);
  const auto found = m_streams.find(stream);
  return found == m_streams.end() ? nullptr : found->second;
}

void device_state::add(tsr_stream* stream, std::uint32_t flags) {
  auto fresh = std::make_shared<stream_state>();
  fresh->is_inline = (flags & TSR_STREAM_INLINE) != 0;
  const std::lock_guard lock(m_mutex);
  m_streams[stream] = std::move(fresh);
}

void device_state::remove(tsr_stream* stream) {
  const std::lock_guard lock(m_mutex);
  m_streams.erase(stream);
}

passage::passage(device_state& device) : m_device(&device) {
  device.m_inside.fetch_add(1);
  if (!device.m_dying.load()) return;
  leave();
  while (!device.lost.load(std::memory_order_acquire)) std::this_thread::yield();
}

/// Waits until every stream is at its end. Nobody enqueues meanwhile.
void device_state::drain() {
  std::vector<tsr_stream*> open;
  {
    const std::shared_lock lock(m_mutex);
    for (const auto& [key, stream] : m_streams)
      if (!stream->capturing.load()) open.push_back(key);
  }
  for (tsr_stream* stream : open) {
    tsr_ticket end{};
    if (inner.stream_signal(handle, stream, &end) != TSR_OK) continue;
    if (inner.stream_host_wait != nullptr && inner.stream_host_wait(handle, end, ~std::uint64_t{0}) == TSR_OK) continue;
    std::uint64_t value = 0, failed = 0;
    while (value < end.value && inner.stream_progress(handle, stream, &value, &failed) != TSR_DEVICE_LOST)
      std::this_thread::yield();
  }
}

void device_state::lose() {
  if (m_dying.exchange(true)) {
    while (!lost.load(std::memory_order_acquire)) std::this_thread::yield();
    return;
  }
  plugin->held.open();
  while (m_inside.load() != 0) std::this_thread::yield();
  drain();
  const std::shared_lock lock(m_mutex);
  for (const auto& [key, stream] : m_streams) {
    const std::uint64_t next = stream->reached.load() + 1;
    std::uint64_t none = 0;
    if (stream->signalled.load() >= next) stream->lost_from.compare_exchange_strong(none, next);
  }
  lost.store(true, std::memory_order_release);
}

std::shared_ptr<device_state> find(const tsr_device* device) {
  return book<tsr_device, device_state>::all().find(device);
}
std::shared_ptr<plugin_state> find(const tsr_plugin* plugin) {
  return book<tsr_plugin, plugin_state>::all().find(plugin);
}
std::vector<std::shared_ptr<plugin_state>> all_plugins() { return book<tsr_plugin, plugin_state>::all().values(); }
void keep(std::shared_ptr<device_state> device) {
  const tsr_device* const handle = device->handle;
  book<tsr_device, device_state>::all().add(handle, std::move(device));
}
void keep(std::shared_ptr<plugin_state> plugin) {
  const tsr_plugin* const handle = plugin->handle;
  book<tsr_plugin, plugin_state>::all().add(handle, std::move(plugin));
}
void forget(const tsr_device* device) { book<tsr_device, device_state>::all().remove(device); }
void forget(const tsr_plugin* plugin) { book<tsr_plugin, plugin_state>::all().remove(plugin); }

tsr_status alive(const device_state& device) {
  if (!device.lost.load(std::memory_order_acquire)) return TSR_OK;
  return device.plugin->report.fail(TSR_DEVICE_LOST, "device '%s' is lost (injected)", device.name.c_str());
}

tsr_status before(passage& in, device_state& device, tsr_stream* stream, call which, std::uint64_t bytes,
                  const char* what, bool& work) {
  work = true;
  if (const auto status = alive(device)) return status;
  if (!device.plugin->rules.any()) return TSR_OK;
  const auto line = stream != nullptr ? device.find(stream) : nullptr;
  if (which != call::alloc && (line == nullptr || line->capturing.load()))
    return TSR_OK;  // the plugin will refuse it, or run it later
  const verdict made = device.plugin->rules.decide(which, device.called, bytes);
  if (made.delay_ns != 0)
    if (const auto status = hold_back(device, stream, made.delay_ns)) return status;
  if (made.strikes == nullptr) return TSR_OK;
  const rule& struck = *made.strikes;
  const auto number = static_cast<unsigned long long>(made.number);
  const kit::reporter& report = device.plugin->report;
  switch (struck.fault) {
    case kind::alloc_fails:
    case kind::copy_refused:
    case kind::kernel_refused:
    case kind::signal_refused:
      return report.fail(struck.status, "injected into device '%s': %s (%s, call %llu)", device.name.c_str(),
                         word_for(struck.fault), what, number);
    case kind::copy_fails:
    case kind::kernel_fails:
      line->fail(struck.status, "injected into device '" + device.name + "': " + word_for(struck.fault) + " (" + what +
                                    ", call " + std::to_string(number) + ")");
      work = false;
      return TSR_OK;
    case kind::hang:
      if (line->is_inline) return TSR_OK;  // its caller would hang, not the stream
      report.log(2, "injected into device '%s': a stream hangs (%s, call %llu)", device.name.c_str(), what, number);
      return hold_back(device, stream, 0);
    case kind::lost:
      report.log(2, "injected into device '%s': it is lost (%s, call %llu)", device.name.c_str(), what, number);
      in.leave();
      device.lose();
      return alive(device);
    case kind::slow:
      break;
  }
  return TSR_OK;
}

}  // namespace tessera::fault
