#include "core/transfer/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/fence.hpp"
#include "core/base/leak_on_purpose.hpp"

namespace tessera::transfer {

stream::stream(std::uint32_t number, const plugin::device& device, std::uint32_t flags, const stream_table* others)
    : m_number(number), m_device(&device), m_others(others) {
  device.check(plugin::contained("stream_create",
                                 [&] { return device.table().stream_create(device.handle(), flags, &m_handle); }),
               "creation of a stream");
  if (m_handle == nullptr) device.fail(TSR_INTERNAL, "creation of a stream (stream_create answered OK and gave none)");
}

stream::~stream() {
  m_waiter.reset();
  destroy();
}

void stream::destroy() {
  const auto call = [&] { return m_device->table().stream_destroy(m_device->handle(), m_handle); };
  if (plugin::contained("stream_destroy", call) != TSR_OK) plugin::take_error_details();
}

void stream::require_usable() const {
  if (!abandoned()) return;
  const std::lock_guard guard(m_pending_lock);
  throw error(error_kind::device, m_lost_details, "device " + m_device->name());
}

tsr_status stream::set_point(tsr_ticket& at) const {
  // What was enqueued runs, also when the plugin refuses to say when it ends: it is asked again.
  constexpr int most = 8;
  for (int tried = 1;; ++tried) {
    const tsr_status status = plugin::contained(
        "stream_signal", [&] { return m_device->table().stream_signal(m_device->handle(), m_handle, &at); });
    if (status == TSR_OK || status == TSR_DEVICE_LOST || tried == most) return status;
    plugin::take_error_details();
  }
}

block::ticket stream::signal(std::span<const block::ticket> depends_on) {
  require_usable();
  tsr_ticket at{};
  const tsr_status status = set_point(at);
  if (status == TSR_DEVICE_LOST) m_device->fail(status, "signal of a stream");
  if (status != TSR_OK) {
    const std::string details = plugin::take_error_details();
    const std::string why = fmt::format("the ends of its work cannot be known: signal of a stream failed: {}{}{}",
                                        plugin::name_of(status), details.empty() ? "" : ": ", details);
    end_for_good(why);
    m_device->note_lost(why);
    throw error(error_kind::device, why, "device " + m_device->name(),
                "the device is gone for this process; run again without it");
  }
  dependence made{at.value, {}};
  for (const block::ticket t : depends_on)
    if (t && (!m_others->reached(t) || m_others->failed(t))) made.on.push_back(t);
  if (!made.on.empty()) {
    const std::lock_guard guard(m_pending_lock);
    m_dependences.push_back(std::move(made));
    m_any_dependence.store(true, std::memory_order_release);  // before m_signalled covers the point
  }
  if (m_wake != nullptr) m_calls_due.fetch_add(1, std::memory_order_seq_cst);  // before who polls can see the point
  m_signalled.store(at.value, std::memory_order_release);
  if (m_wake != nullptr && !arm(at.value)) {
    m_silent.store(at.value, std::memory_order_release);
    m_wake(m_wake_context);  // to ask from now on
  }
  return {m_number, at.value};
}

/// Nothing that its work uses may be given to others before that ends, and no point will tell: to destroy the stream is
/// what waits for it. Who polls fires what is pending.
void stream::end_for_good(const std::string& why) {
  m_waiter.reset();
  m_no_waiter = true;
  const std::lock_guard asking(m_ask_lock);  // no thread asks the plugin meanwhile, or later
  m_ending.store(true, std::memory_order_seq_cst);
  while (m_callers.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  destroy();
  const std::lock_guard guard(m_pending_lock);
  if (m_lost == TSR_OK) {
    m_lost = TSR_DEVICE_LOST;
    m_lost_above = std::max(m_known, m_completed.load(std::memory_order_relaxed));
  }
  m_lost_details = why;
  m_any_failure.store(true, std::memory_order_release);
  m_abandoned.store(true, std::memory_order_release);
  m_known = ~std::uint64_t{0};
}

bool stream::arm(std::uint64_t value) {
  if (arm_callback()) return true;
  m_calls_due.fetch_sub(1, std::memory_order_seq_cst);
  if (m_no_waiter || !completion_thread::possible(*m_device)) return false;
  if (!m_waiter) try {
      m_waiter = std::make_unique<completion_thread>(*m_device, m_handle, m_completed, m_wake, m_wake_context);
    } catch (const std::system_error&) {
      m_no_waiter = true;
      return false;
    }
  m_waited_for.store(true, std::memory_order_relaxed);
  m_waiter->tell_of(value);
  return true;
}

bool stream::arm_callback() {
  const tsr_device_table& table = m_device->table();
  if (!m_device->has(TSR_DEVICE_CALLBACK) || table.stream_callback == nullptr) return false;
  m_armed.fetch_add(1, std::memory_order_relaxed);
  const auto call = [](void* self) {
    auto& mine = *static_cast<stream*>(self);
    mine.m_calls_due.fetch_sub(1, std::memory_order_seq_cst);
    if (mine.abandoned()) return;  // the thread that it would wake may be gone
    mine.m_wake(mine.m_wake_context);
    mine.m_armed.fetch_sub(1, std::memory_order_release);
  };
  if (plugin::contained("stream_callback",
                        [&] { return table.stream_callback(m_device->handle(), m_handle, call, this); }) == TSR_OK)
    return true;
  m_armed.fetch_sub(1, std::memory_order_relaxed);
  plugin::take_error_details();
  return false;
}

bool stream::can_wait_for(const stream& other) const noexcept {
  return &other == this || (other.m_device->plugin_name() == m_device->plugin_name() &&
                            m_device->has(TSR_DEVICE_DEVICE_WAIT) && m_device->table().stream_wait != nullptr);
}

bool stream::enter() const noexcept {
  m_callers.fetch_add(1, std::memory_order_seq_cst);
  if (!m_ending.load(std::memory_order_seq_cst) && !abandoned()) return true;
  leave();
  while (!abandoned()) std::this_thread::yield();
  return false;
}

void stream::wait(const stream& other, block::ticket ticket) {
  if (&other == this) return;  // one stream keeps its order by itself
  require_usable();
  if (!other.enter()) return;  // all of its work has ended, or will not be waited for
  const tsr_status status = plugin::contained("stream_wait", [&] {
    return m_device->table().stream_wait(m_device->handle(), m_handle, {other.m_handle, ticket.value});
  });
  other.leave();
  m_device->check(status, "wait of a stream for another");
}

void stream::check_inline() {
  tsr_ticket at{};
  m_device->check(set_point(at), "signal of a stream");
  std::uint64_t value = 0, failed = 0;
  const tsr_status status = plugin::contained("stream_progress", [&] {
    return m_device->table().stream_progress(m_device->handle(), m_handle, &value, &failed);
  });
  if (status != TSR_OK && status != TSR_NOT_READY) m_device->fail(status, "its work");
}

void stream::on_completion(completion& what) {
  tsr_status status = TSR_OK;
  {
    const std::lock_guard guard(m_pending_lock);
    if (!reached(what.ticket.value)) {
      what.next = nullptr;
      if (m_pending == nullptr) {
        m_pending = m_pending_last = &what;
      } else if (m_pending_last->ticket.value <= what.ticket.value) {  // the usual case
        m_pending_last->next = &what;
        m_pending_last = &what;
      } else {
        completion** place = &m_pending;
        while ((*place)->ticket.value <= what.ticket.value) place = &(*place)->next;
        what.next = *place;
        *place = &what;
      }
      return;
    }
    status = failure_at(what.ticket.value);
  }
  what.fire(&what, status);
}

bool stream::poll() {
  bool any = false;
  while (busy()) {
    // A thread that finds another one polling leaves a note: that one may have asked before what this was woken for.
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
  const std::uint64_t known = ask();
  // What a point depends on is noted by the time that it has been signalled, which the plugin may know before this
  // thread.
  const std::uint64_t noted = std::min(known, m_signalled.load(std::memory_order_acquire));
  inherit_failures(noted);
  const bool any = fire_until(abandoned() ? known : noted);
  // All calls have come, and something is not reached: they came too early, or the plugin's answer lags behind them.
  // Nobody else will tell.
  if (m_wake != nullptr && busy() && m_calls_due.load(std::memory_order_seq_cst) == 0 &&
      !m_waited_for.load(std::memory_order_relaxed))
    ask_from_now_on(m_signalled.load(std::memory_order_acquire));
  return any;
}

/// Any thread may poll here, and the one that has to ask may have gone to sleep since it was called. While this
/// thread polls, the stream stays busy, and what it wakes stays.
void stream::ask_from_now_on(std::uint64_t value) {
  if (m_silent.exchange(value, std::memory_order_acq_rel) == value || abandoned()) return;
  m_armed.fetch_add(1, std::memory_order_relaxed);
  m_wake(m_wake_context);
  m_armed.fetch_sub(1, std::memory_order_release);
}

std::uint64_t stream::ask() {
  const std::lock_guard asking(
      m_ask_lock);  // a failure is told once: no thread may see the point passed before it is noted
  // One failure at a time is told, and nothing behind the next one: of several that were reached since, no call will
  // wake us again.
  for (std::uint64_t known = 0; !abandoned();) {
    const std::uint64_t failed = ask_once();
    if (failed == 0 || failed == known) break;
    known = failed;
  }
  return m_known;
}

std::uint64_t stream::ask_once() {
  std::uint64_t value = m_completed.load(std::memory_order_relaxed), failed = 0;
  const tsr_status status = plugin::contained("stream_progress", [&] {
    return m_device->table().stream_progress(m_device->handle(), m_handle, &value, &failed);
  });
  std::string details;
  if (status != TSR_OK && status != TSR_NOT_READY) details = plugin::take_error_details();
  if (status == TSR_DEVICE_LOST) m_device->note_lost(details);
  {
    const std::lock_guard guard(m_pending_lock);
    if (status == TSR_DEVICE_LOST) {
      if (m_lost == TSR_OK) {
        m_lost = status;
        m_lost_above = std::max(m_known, m_completed.load(std::memory_order_relaxed));
        m_lost_details = std::move(details);
        m_any_failure.store(true, std::memory_order_release);
      }
      value = m_signalled.load(std::memory_order_acquire);
    } else if (status != TSR_OK && status != TSR_NOT_READY && failed != 0) {
      m_failures.push_back({failed, status, std::move(details), {}});
      m_any_failure.store(true, std::memory_order_release);
    }
  }
  m_known = std::max(m_known, value);
  return status != TSR_OK && status != TSR_NOT_READY && status != TSR_DEVICE_LOST ? failed : 0;
}

bool stream::passed_with_failure(std::uint64_t value) {
  while (!reached(value) && ask() < value) std::this_thread::yield();
  inherit_failures(value);
  return failed(value);
}

/// Several threads may do so at once. Points depend on points that were signalled before them, so this comes to an end;
/// how deep it goes is bounded by what a device has under way.
void stream::inherit_failures(std::uint64_t value) {
  while (m_any_dependence.load(std::memory_order_acquire)) {
    dependence next;
    {
      const std::lock_guard guard(m_pending_lock);
      if (m_dependences.empty() || m_dependences.front().value > value) return;
      next = m_dependences.front();
      if (failure_at(next.value) != TSR_OK)
        next.on.clear();  // it has failed by itself, perhaps before what it depends on is reached
    }
    const auto failing =
        std::ranges::find_if(next.on, [&](block::ticket t) { return m_others->passed_with_failure(t); });
    std::string details;
    if (failing != next.on.end()) details = m_others->at(failing->stream).details_at(failing->value);
    const std::lock_guard guard(m_pending_lock);
    if (m_dependences.empty() || m_dependences.front().value != next.value) continue;  // another thread has come first
    if (failing != next.on.end()) {
      m_failures.push_back({next.value, TSR_OK, std::move(details), *failing});
      m_any_failure.store(true, std::memory_order_release);
    }
    m_dependences.pop_front();
    if (m_dependences.empty()) m_any_dependence.store(false, std::memory_order_release);
  }
}

bool stream::fire_until(std::uint64_t value) {
  completion* due = nullptr;
  {
    const std::lock_guard guard(m_pending_lock);
    m_completed.store(std::max(value, m_completed.load(std::memory_order_relaxed)), std::memory_order_release);
    completion** end = &due;
    while (m_pending != nullptr && m_pending->ticket.value <= value) {
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
    tsr_status outcome = TSR_OK;
    if (m_any_failure.load(std::memory_order_acquire)) {
      const std::lock_guard guard(m_pending_lock);
      outcome = failure_at(now->ticket.value);
    }
    now->fire(now, outcome);
  }
  return any;
}

tsr_status stream::failure_at(std::uint64_t value) const noexcept {
  for (const failure& f : m_failures)
    if (f.value == value && f.status != TSR_OK) return f.status;
  return value > m_lost_above ? m_lost : TSR_OK;
}

bool stream::failed(std::uint64_t value) const noexcept {
  if (!m_any_failure.load(std::memory_order_acquire)) return false;
  const std::lock_guard guard(m_pending_lock);
  return std::ranges::any_of(m_failures, [&](const failure& f) { return f.value == value; }) ||
         failure_at(value) != TSR_OK;
}

std::string stream::details_at(std::uint64_t value) const {
  const std::lock_guard guard(m_pending_lock);
  for (const failure& f : m_failures)
    if (f.value == value) return f.details;
  return value > m_lost_above ? m_lost_details : std::string();
}

block::ticket stream::cause_of(std::uint64_t value) const {
  const std::lock_guard guard(m_pending_lock);
  for (const failure& f : m_failures)
    if (f.value == value) return f.cause;
  return {};
}

tsr_status stream::status_at(std::uint64_t value) const {
  const std::lock_guard guard(m_pending_lock);
  return failure_at(value);
}

void stream::abandon(tsr_status status, std::string why) {
  {
    const std::lock_guard guard(m_pending_lock);
    if (m_abandoned.load(std::memory_order_relaxed)) return;
    if (m_lost == TSR_OK) {
      m_lost = status;
      m_lost_above = m_completed.load(std::memory_order_relaxed);
    }
    m_lost_details = std::move(why);
    m_any_failure.store(true, std::memory_order_release);
    m_abandoned.store(true, std::memory_order_release);
  }
  {
    const std::lock_guard asking(m_ask_lock);
    m_known = ~std::uint64_t{0};
  }
  fire_until(~std::uint64_t{0});
}

bool stream::oldest(std::uint64_t& value, pending_work& out) const {
  if (!busy()) return false;
  const std::lock_guard guard(m_pending_lock);
  value = m_completed.load(std::memory_order_relaxed) + 1;
  for (const completion* c = m_pending; c != nullptr; c = c->next)
    if (c->describe != nullptr) {
      out = c->describe(c);
      break;
    }
  return true;
}

stream_table::~stream_table() {
  for (auto& s : m_streams)
    if (s->abandoned())
      leak_on_purpose(std::move(s));  // its device may call back, and destroying it might wait for ever
}

void stream::finish_wakes() noexcept {
  // Of an abandoned stream some wake-ups never come; those that have come are over, as far as this sees them (acquire).
  while (m_armed.load(std::memory_order_acquire) != 0 && !abandoned()) std::this_thread::yield();
  if (!abandoned())
    m_waiter.reset();
  else if (m_waiter)
    m_waiter->quiet();  // its thread may be in the plugin, which may not come back
}

void stream::wait_until_idle(std::uint64_t timeout_ns) {
  if (!busy()) return;
  const std::uint64_t value = m_signalled.load(std::memory_order_acquire);
  if (m_device->table().stream_host_wait != nullptr) {
    if (!enter()) return;
    if (plugin::contained("stream_host_wait", [&] {
          return m_device->table().stream_host_wait(m_device->handle(), {m_handle, value}, timeout_ns);
        }) != TSR_OK)
      plugin::take_error_details();  // a time-out or a failure: poll reports it
    leave();
  } else {
    std::this_thread::yield();
  }
  poll();
}

}  // namespace tessera::transfer
