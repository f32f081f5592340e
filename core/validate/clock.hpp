#pragma once
// How much of what the others did is known to be before.
#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera::validate {

/// Number of a submission; all submissions of a runtime count together, from 1.
using event_number = std::uint64_t;
/// A thread, or a task that submits others.
using actor_number = std::uint32_t;

/// A vector clock: per actor the last of its events that is before, and a number up to which everything is.
class clock {
 public:
  /// Whether an event of an actor is before.
  bool knows(actor_number actor, event_number event) const noexcept { return event <= m_floor || event <= of(actor); }
  void learn(actor_number actor, event_number event) {
    if (event <= m_floor) return;
    const auto at = std::ranges::lower_bound(m_entries, actor, {}, &entry::actor);
    if (at != m_entries.end() && at->actor == actor)
      at->event = std::max(at->event, event);
    else
      m_entries.insert(at, {actor, event});
    if (m_entries.size() > max_entries) forget_details();
  }
  void learn(const clock& other) {
    learn_all_up_to(other.m_floor);
    for (const entry& e : other.m_entries) learn(e.actor, e.event);
  }
  /// Everything up to an event is before.
  void learn_all_up_to(event_number event) {
    if (event <= m_floor) return;
    m_floor = event;
    std::erase_if(m_entries, [&](const entry& e) { return e.event <= m_floor; });
  }
  event_number floor() const noexcept { return m_floor; }

 private:
  // Above this many actors since the last fence order is taken for granted: a mistake may be missed, none is invented.
  static constexpr std::size_t max_entries = 1024;
  struct entry {
    actor_number actor;
    event_number event;
  };
  event_number of(actor_number actor) const noexcept {
    const auto at = std::ranges::lower_bound(m_entries, actor, {}, &entry::actor);
    return at != m_entries.end() && at->actor == actor ? at->event : 0;
  }
  void forget_details() {
    event_number last = m_floor;
    for (const entry& e : m_entries) last = std::max(last, e.event);
    learn_all_up_to(last);
  }

  event_number m_floor = 0;
  std::vector<entry> m_entries;  // by actor
};

}  // namespace tessera::validate
