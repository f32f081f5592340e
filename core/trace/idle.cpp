#include "core/trace/idle.hpp"

#include <algorithm>
#include <array>

#include "core/trace/intervals.hpp"

namespace tessera::trace {
namespace {

enum cause : std::size_t {
  worker,
  slab_wanted,
  memory,
  data,
  causes  ///< of a place; what depends on other tasks has no place yet
};

/// At `time` so many more tasks wait for a cause at a place, or for other tasks.
struct change {
  nanoseconds time;
  std::uint32_t place;  ///< no_index: for other tasks
  std::size_t why;
  int more;
};

class sweep {
 public:
  explicit sweep(const timeline& of) : m_of(of), m_made(of.tracks.size()), m_here(of.places.size()) {
    for (const task& t : of.tasks) {
      if (t.view) continue;
      nanoseconds at = t.submitted;
      const auto wait = [&](std::uint32_t place, std::size_t why, nanoseconds length) {
        if (length <= 0) return;
        m_changes.push_back({at, place, why, 1});
        at += length;
        m_changes.push_back({at, place, why, -1});
      };
      const std::uint32_t place = of.tracks[t.track].place;
      wait(no_index, 0, t.waited.dependency);
      wait(place, data, t.waited.data);
      wait(place, memory, t.waited.memory);
      wait(place, slab_wanted, t.waited.slab);
      wait(place, worker, t.waited.worker);
    }
    std::ranges::stable_sort(m_changes, {}, &change::time);
    for (std::uint32_t k = 0; k < of.tracks.size(); ++k)
      if (is_unit(k)) m_units.push_back({k, {}, 0, 0});
    std::vector<std::vector<std::pair<nanoseconds, nanoseconds>>> busy(of.tracks.size());
    for (const task& t : of.tasks)
      if (!t.view) busy[t.track].emplace_back(t.started, t.ended);
    for (const program_wait& w : of.waits)
      if (w.barrier && is_unit(w.track)) m_at_barrier.add(w.track, w.started, w.ended);
    m_at_barrier.settle();
    for (unit& u : m_units) u.busy = std::move(busy[u.track]), std::ranges::sort(u.busy);
  }

  std::vector<idle_time> run() {
    nanoseconds from = 0;
    for (const change& c : m_changes) {
      pass(from, std::clamp<nanoseconds>(c.time, 0, m_of.length));
      from = std::max(from, std::clamp<nanoseconds>(c.time, 0, m_of.length));
      if (c.place == no_index)
        m_dependent += c.more;
      else if (c.place < m_here.size())
        m_here[c.place][c.why] += c.more;
    }
    pass(from, m_of.length);
    return std::move(m_made);
  }

 private:
  struct unit {
    std::uint32_t track;
    std::vector<std::pair<nanoseconds, nanoseconds>> busy;  ///< by start
    std::size_t next = 0;                                   ///< the first that has not ended
    nanoseconds until = 0;                                  ///< the end of those before
  };

  bool is_unit(std::uint32_t track) const {
    const track_kind kind = m_of.tracks[track].kind;
    return kind == track_kind::worker || kind == track_kind::stream || kind == track_kind::interpreter;
  }

  /// Nothing changes between the two.
  void pass(nanoseconds from, nanoseconds to) {
    if (to <= from) return;
    for (unit& u : m_units) {
      nanoseconds idle = 0, at_barrier = 0, at = std::max(from, u.until);
      const auto idle_until = [&](nanoseconds end) {
        if (end <= at) return;
        const nanoseconds waited = m_at_barrier.overlap(u.track, at, end);
        at_barrier += waited, idle += end - at - waited;
      };
      while (at < to && u.next < u.busy.size()) {
        const auto& [begin, end] = u.busy[u.next];
        if (begin >= to) break;
        idle_until(begin);
        at = std::max(at, end);
        u.until = std::max(u.until, end);
        ++u.next;
      }
      idle_until(to);
      m_made[u.track].barrier += at_barrier;
      if (idle > 0) cause_at(u.track) += idle;
    }
  }

  nanoseconds& cause_at(std::uint32_t track) {
    idle_time& sum = m_made[track];
    const std::uint32_t place = m_of.tracks[track].place;
    if (place < m_here.size()) {
      if (m_here[place][worker] > 0) return sum.runtime;
      if (m_here[place][slab_wanted] > 0) return sum.slab;
      if (m_here[place][memory] > 0) return sum.memory;
      if (m_here[place][data] > 0) return sum.data;
    }
    return m_dependent > 0 ? sum.nothing_ready : sum.nothing_submitted;
  }

  const timeline& m_of;
  std::vector<idle_time> m_made;
  std::vector<std::array<std::int64_t, causes>> m_here;  // waiting tasks by place and cause
  std::int64_t m_dependent = 0;
  std::vector<change> m_changes;
  std::vector<unit> m_units;
  interval_sets m_at_barrier;  // by track
};

}  // namespace

std::vector<idle_time> idle_times(const timeline& of) { return sweep(of).run(); }

}  // namespace tessera::trace
