#include "plugins/gpu_common/abi/stream_state.hpp"

#include <system_error>
#include <utility>

#include "plugins/gpu_common/abi/handles.hpp"

namespace tessera::gpu {

error_t event_pool::take(event_t* out) {
  {
    const std::lock_guard lock(m_mutex);
    if (!m_free.empty()) {
      *out = m_free.back();
      m_free.pop_back();
      return error_t{};
    }
  }
  return create_event(out);
}

void event_pool::give(event_t event) {
  const std::lock_guard lock(m_mutex);
  m_free.push_back(event);
}

void event_pool::clear() {
  for (const event_t event : m_free) destroy_event(event);
  m_free.clear();
}

error_t advance(event_pool& events, stream_state& state, kit::timeline& line) {
  while (!state.pending.empty()) {
    const auto [value, event] = state.pending.front();
    const auto error = query(event);
    const auto kind = kind_of(error);
    if (kind == error_kind::not_ready ||
        kind == error_kind::not_while_capturing) {  // some vendors leave it as the last error
      clear_error();
      break;
    }
    if (kind != error_kind::none) return error;
    for (; !state.failures.empty() && state.failures.front().value <= value; state.failures.pop_front())
      line.fail(state.failures.front().status, std::move(state.failures.front().message));
    line.reach(value, 0);
    events.give(event);
    state.pending.pop_front();
  }
  return error_t{};
}

callback_list::entry* callback_list::add(void (*function)(void*), void* argument) {
  const std::lock_guard lock(m_mutex);
  m_entries.push_front({function, argument, this, {}});
  m_entries.front().self = m_entries.begin();
  return &m_entries.front();
}

void callback_list::drop(entry* one) {
  const std::lock_guard lock(m_mutex);
  m_entries.erase(one->self);
}

void callback_list::call(void* one) {
  auto& self = *static_cast<entry*>(one);
  auto& owner = *self.owner;
  const auto function = self.function;
  const auto argument = self.argument;
  {
    const std::lock_guard lock(owner.m_mutex);
    if (self.called) return;
    owner.m_entries.erase(self.self);
  }
  function(argument);
}

void callback_list::call_rest() {
  std::vector<entry*> left;
  {
    const std::lock_guard lock(m_mutex);
    for (auto one = m_entries.rbegin(); one != m_entries.rend(); ++one) {
      if (one->called) continue;
      one->called = true;
      left.push_back(&*one);
    }
  }
  for (const entry* one : left) one->function(one->argument);
}

void loss::begin(tsr_device* device, error_t error) {
  if (has_begun()) return;  // before the lock, which somebody may hold who waits
  const std::lock_guard lock(m_mutex);
  if (m_begun.load(std::memory_order_relaxed)) return;
  m_reason = text_of(error);
  const auto end = [this, device] {
    use_device(device->ordinal);
    synchronize_device();  // its answer is the error that brought us here
    device->callbacks.call_rest();
    m_lost.store(true, std::memory_order_release);
  };
  try {
    m_thread = std::thread(end);
  } catch (const std::system_error&) {
    end();  // no more threads: then it is waited for here
  }
  m_begun.store(true, std::memory_order_release);
}

void loss::wait() {
  const std::lock_guard lock(m_mutex);
  if (m_thread.joinable()) m_thread.join();
}

}  // namespace tessera::gpu
