#pragma once
// What the scheduler writes down while a run is recorded; see trace/event.hpp for the meaning of the fields.
#include <algorithm>
#include <span>

#include "core/block/ticket.hpp"
#include "core/task/flow.hpp"
#include "core/trace/tracer.hpp"

namespace tessera::schedule {

/// A host task ran, or the program held a view, from `start` until now.
inline void trace_run(trace::buffer& to, const task::record& t, std::uint64_t start, std::uint16_t flags) noexcept {
  trace::event e{trace::event_kind::ran};
  e.small = flags;
  e.time = start;
  e.task = task::reference_to(t);
  e.words[0] = to.now();
  to.add(e);
}

/// A device task was enqueued between two times, and is complete now.
inline void trace_landing(trace::buffer& to, const task::record& t, std::uint64_t begin, std::uint64_t end,
                          block::ticket done, std::uint16_t flags) noexcept {
  trace::event e{trace::event_kind::enqueued};
  e.small = flags;
  e.time = begin;
  e.task = task::reference_to(t);
  e.words = {to.now(), trace::point_of(done.stream, done.value), end, 0, 0};
  to.add(e);
}

/// A task is about to be enqueued behind these tickets.
inline void trace_waits(trace::buffer& to, const task::record& t, std::span<const block::ticket> tickets) noexcept {
  while (!tickets.empty()) {
    trace::event e{trace::event_kind::waits};
    e.time = to.now();
    e.task = task::reference_to(t);
    e.count = static_cast<std::uint8_t>(std::min(tickets.size(), e.words.size()));
    for (std::size_t k = 0; k < e.count; ++k) e.words[k] = trace::point_of(tickets[k].stream, tickets[k].value);
    tickets = tickets.subspan(e.count);
    to.add(e);
  }
}

/// A task is set aside. `space`: whose memory it lacks.
inline void trace_park(trace::buffer& to, const task::record& t, std::uint16_t why, std::uint32_t space = 0) noexcept {
  trace::event e{trace::event_kind::parked};
  e.small = why;
  e.number = space;
  e.time = to.now();
  e.task = task::reference_to(t);
  to.add(e);
}

/// It is queued again.
inline void trace_resume(trace::buffer& to, const task::record& t) noexcept {
  trace::event e{trace::event_kind::resumed};
  e.time = to.now();
  e.task = task::reference_to(t);
  to.add(e);
}

/// This thread waited for everything submitted, from `start` until now.
inline void trace_fence(trace::buffer& to, std::uint64_t start) noexcept {
  trace::event e{trace::event_kind::fence};
  e.time = start;
  e.words[0] = to.now();
  to.add(e);
}

}  // namespace tessera::schedule
