#include "core/transfer/stream.hpp"

#include <algorithm>
#include <thread>

#include "core/base/fence.hpp"

namespace tessera::transfer {

stream::stream(std::uint32_t number, const plugin::device& device, std::uint32_t flags)
    : m_number(number), m_device(&device) {
  device.check(device.table().stream_create(device.handle(), flags, &m_handle), "creation of a stream");
}

stream::~stream() { m_device->table().stream_destroy(m_device->handle(), m_handle); }

block::ticket stream::signal() {
  tsr_ticket at{};
  const tsr_device_table& table = m_device->table();
  m_device->check(table.stream_signal(m_device->handle(), m_handle, &at), "signal of a stream");
  m_signalled.store(at.value, std::memory_order_release);
  if (m_wake != nullptr && m_device->has(TSR_DEVICE_CALLBACK) && table.stream_callback != nullptr) {
    m_armed.fetch_add(1, std::memory_order_relaxed);
    const auto call = [](void* self) {
      auto& mine = *static_cast<stream*>(self);
      mine.m_wake(mine.m_wake_context);
      mine.m_armed.fetch_sub(1, std::memory_order_release);
    };
    const tsr_status status = table.stream_callback(m_device->handle(), m_handle, call, this);
    if (status != TSR_OK) m_armed.fetch_sub(1, std::memory_order_relaxed);
    m_device->check(status, "stream callback");
  }
  return {m_number, at.value};
}

bool stream::can_wait_for(const stream& other) const noexcept {
  return &other == this || (other.m_device->plugin_name() == m_device->plugin_name() &&
                            m_device->has(TSR_DEVICE_DEVICE_WAIT) && m_device->table().stream_wait != nullptr);
}

void stream::wait(const stream& other, block::ticket ticket) {
  if (&other == this) return;  // one stream keeps its order by itself
  m_device->check(m_device->table().stream_wait(m_device->handle(), m_handle, {other.m_handle, ticket.value}),
                  "wait of a stream for another");
}

void stream::on_completion(completion& what) {
  tsr_status status = TSR_OK;
  {
    const std::lock_guard guard(m_pending_lock);
    if (!reached(what.at.value)) {
      what.next = nullptr;
      if (m_pending == nullptr) {
        m_pending = m_pending_last = &what;
      } else if (m_pending_last->at.value <= what.at.value) {  // the usual case
        m_pending_last->next = &what;
        m_pending_last = &what;
      } else {
        completion** place = &m_pending;
        while ((*place)->at.value <= what.at.value) place = &(*place)->next;
        what.next = *place;
        *place = &what;
      }
      return;
    }
    status = m_lost;
    for (const auto& [value, failure] : m_failures)
      if (value == what.at.value) status = failure;
  }
  what.fire(&what, status);
}

bool stream::poll() {
  bool any = false;
  while (busy()) {
    // Who finds somebody else polling leaves a note: that one may have asked the plugin before what we were woken for.
    m_poll_asked.store(true, std::memory_order_release);
    full_fence();
    {
      const std::unique_lock polling(m_poll_lock, std::try_to_lock);
      if (!polling) return any;
      m_poll_asked.exchange(false, std::memory_order_acq_rel);
      any = poll_once() || any;
    }
    full_fence();
    if (!m_poll_asked.load(std::memory_order_relaxed)) return any;
  }
  return any;
}

bool stream::poll_once() {
  std::uint64_t value = m_completed.load(std::memory_order_relaxed), failed = 0;
  const tsr_status status = m_device->table().stream_progress(m_device->handle(), m_handle, &value, &failed);
  if (status != TSR_OK && status != TSR_NOT_READY) plugin::take_error_details();
  completion* due = nullptr;
  {
    const std::lock_guard guard(m_pending_lock);
    if (status == TSR_DEVICE_LOST) {
      m_lost = status;
      value = m_signalled.load(std::memory_order_acquire);
    } else if (status != TSR_OK && status != TSR_NOT_READY && failed != 0) {
      m_failures.emplace_back(failed, status);
    }
    m_completed.store(std::max(value, m_completed.load(std::memory_order_relaxed)), std::memory_order_release);
    completion** end = &due;
    while (m_pending != nullptr && m_pending->at.value <= value) {
      *end = m_pending;
      end = &m_pending->next;
      m_pending = m_pending->next;
    }
    *end = nullptr;
    if (m_pending == nullptr) m_pending_last = nullptr;
  }
  const bool any = due != nullptr;
  while (due != nullptr) {
    completion* const now = due;
    due = due->next;  // firing may reuse the object
    tsr_status outcome = m_lost;
    for (const auto& [at, failure] : m_failures)
      if (at == now->at.value) outcome = failure;
    now->fire(now, outcome);
  }
  return any;
}

void stream::finish_wakes() noexcept {
  while (m_armed.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

void stream::wait_until_idle(std::uint64_t timeout_ns) {
  if (!busy()) return;
  const std::uint64_t value = m_signalled.load(std::memory_order_acquire);
  if (m_device->table().stream_host_wait != nullptr) {
    if (m_device->table().stream_host_wait(m_device->handle(), {m_handle, value}, timeout_ns) != TSR_OK)
      plugin::take_error_details();  // a time-out or a failure: poll reports it
  } else {
    std::this_thread::yield();
  }
  poll();
}

}  // namespace tessera::transfer
