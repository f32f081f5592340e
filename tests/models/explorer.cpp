#include "tests/models/explorer.hpp"

#include <fmt/format.h>

#include <boost/container/small_vector.hpp>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <unordered_map>

#include "core/base/leak_on_purpose.hpp"
#include "tests/models/fibers.hpp"
#include "tests/models/orders.hpp"
#include "tests/models/search.hpp"
#include "tests/models/views.hpp"

namespace tessera::models {
namespace {

constexpr std::size_t main_thread = 0;  // it prepares, and looks at the end
constexpr std::size_t no_thread = ~std::size_t{0};

}  // namespace

class machine {
 public:
  machine(const settings& how, std::deque<decision>& trail, known_states& known, report& out)
      : m_how(how), m_trail(trail), m_known(known), m_report(out) {}
  ~machine() { current = nullptr; }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  static machine* current;

  void run(const std::function<void(scenario&)>& make) {
    current = this;
    m_threads.resize(1);
    m_running = main_thread;
    scenario what;
    make(what);
    if (what.m_threads.size() >= max_threads) fail_outside("too many threads");
    m_threads.resize(1 + what.m_threads.size());
    for (std::size_t t = 1; t < m_threads.size(); ++t) start(t, std::move(what.m_threads[t - 1]));
    while (!failed() && schedule()) {
    }
    if (failed()) {
      auto stopped = std::make_unique<std::vector<boost::context::fiber>>();  // inside of functions that must not
                                                                              // throw: cannot be unwound
      for (thread& t : m_threads) stopped->push_back(std::move(t.fiber));
      leak_on_purpose(std::move(stopped));
      return;
    }
    m_running = main_thread;
    for (const thread& t : m_threads) m_threads[main_thread].now.join(t.now);
    if (what.m_end) what.m_end();
  }

  void fail(std::string_view text) {
    if (!failed()) {
      m_report.failure = std::string(text);
      for (const step& s : m_steps) m_report.failure += "\n  " + described(s);
    }
    leave_for_good();
  }
  bool failed() const noexcept { return !m_report.failure.empty(); }
  bool redundant() const noexcept { return m_redundant; }

  // --- operations, called by the running thread
  std::uint64_t load(operation o) {
    o.order = weakened(o);
    const std::uint32_t l = begin(o);
    thread& me = running();
    const stamp after = spins(me, l) && m_running != main_thread ? me.spun_at + 1 : 0;
    const stored& s = pick(l, std::max(oldest(l, o.order), after), false);
    see(me, l, s, o.order);
    me.looks = me.spins_on == l && me.spun_at == s.at ? me.looks + 1 : 1;
    me.spins_on = l, me.spun_at = s.at;
    note(o, l, s.value, s.name);
    return s.value;
  }

  void store(operation o, std::uint64_t value) {
    o.order = weakened(o);
    const std::uint32_t l = begin(o);
    thread& me = running();
    const stored& before = pick(l, oldest(l, o.order), true);
    const std::uint64_t behind = before.name;
    insert(me, l, before.at, value, o.order, nullptr);
    me.spins_on = none;
    note(o, l, value, behind);
  }

  std::uint64_t exchange(operation o, const std::function<std::uint64_t(std::uint64_t)>& change,
                         const std::uint64_t* only_if, std::memory_order otherwise) {
    const std::memory_order weak = weakened(o);
    if (weak != o.order) otherwise = weak;
    o.order = weak;
    const std::uint32_t l = begin(o);
    thread& me = running();
    me.spins_on = none;
    const auto& stores = m_locations[l].stores;
    const stored read = pick(l, [&](std::size_t k) {
      if (only_if != nullptr && stores[k].value != *only_if) return stores[k].at >= oldest(l, otherwise);
      return stores[k].at >= oldest(l, o.order) && open_behind(l, k);
    });
    if (only_if != nullptr && read.value != *only_if) {
      see(me, l, read, otherwise);
      note(o, l, read.value, read.name);
      return read.value;
    }
    see(me, l, read, o.order);
    const std::uint64_t value = change(read.value);
    insert(me, l, read.at, value, o.order, &read.released);
    note(o, l, value, read.name);
    return read.value;
  }

  void wait(operation o, std::uint64_t old) {
    for (;;) {
      const std::uint32_t l = begin(o);
      thread& me = running();
      me.spins_on = none;
      const stored& s = pick(l, oldest(l, o.order), false);
      see(me, l, s, o.order);
      note(o, l, s.value, s.name);
      if (s.value != old) return;
      if (s.at < m_locations[l].notified) {  // the notifier comes before it in the order of the system's own lock
        me.now.of.raise(l, m_locations[l].notified);
        continue;
      }
      me.sleeps_on = l;
      me.slept_at = s.at;
      suspend();
    }
  }

  void notify(operation o, bool all) {
    const std::uint32_t l = begin(o);
    thread& me = running();
    me.spins_on = none;
    const stamp seen = me.now.of.at(l);
    m_locations[l].notified = std::max(m_locations[l].notified, seen);
    std::vector<std::uint8_t> sleepers;
    for (std::size_t t = 1; t < m_threads.size(); ++t)
      if (m_threads[t].sleeps_on == l && m_threads[t].slept_at < seen) sleepers.push_back(static_cast<std::uint8_t>(t));
    note(o, l, sleepers.size(), 0);
    if (sleepers.empty()) return;
    if (all)
      for (const std::uint8_t t : sleepers) m_threads[t].sleeps_on = none;
    else
      m_threads[sleepers[choose(sleepers.size())]].sleeps_on = none;
  }

  void fence(std::memory_order order, const std::source_location& at) {
    operation o{action::fence, nullptr, 0, order, at};
    if (planted(o)) return;
    if (m_running != main_thread) arrive({action::fence, 0, sequential(order)});
    thread& me = running();
    me.spins_on = none;
    if (acquires(order)) me.now.join(me.acquired_by_a_fence);
    if (sequential(order)) {
      me.now.of.join(m_sequential_accesses);
      me.now.of.join(m_sequential_fences);
      m_sequential_fences.join(me.now.of);
    }
    if (releases(order)) me.released_by_a_fence = me.now;
    note(o, none, 0, sequential(order) ? name_of_sequence() : 0);
  }

  void forget(const void* where) noexcept {
    if (!m_numbers.empty()) m_numbers.erase(where);
    if (!m_plain.empty()) m_plain.erase(where);
    m_names[where] = mixed(m_running + 2, ++running().made);
  }

  void plain_access(const void* where, bool writes, const std::source_location& at) {
    thread& me = running();
    plain_state& p = m_plain[where];
    const auto meets = [&](std::size_t t, std::uint32_t count) { return t != m_running && count > me.now.steps[t]; };
    bool race = p.writer != no_thread && meets(p.writer, p.written);
    if (writes)
      for (std::size_t t = 0; t < max_threads; ++t) race = race || (p.read[t] != 0 && meets(t, p.read[t]));
    const std::uint32_t count = ++me.now.steps[m_running];
    if (race)
      fail(fmt::format("data race: thread {}, {}: not ordered with an earlier access", m_running, place_of(at)));
    if (writes)
      p.writer = m_running, p.written = count;
    else
      p.read[m_running] = count;
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct thread {
    boost::context::fiber fiber;
    bool ended = true;
    bool announced = false;
    step_kind next;                  // what it is about to do
    std::uint32_t sleeps_on = none;  // waits for a notification there, having seen ...
    stamp slept_at = 0;
    std::uint32_t spins_on = none;  // its last operation was a load there, which read ...
    stamp spun_at = 0;
    std::uint32_t looks = 0;    // ... so many times in a row
    std::uint64_t history = 0;  // of all that it has done
    std::uint32_t stores = 0, made = 0;
    view now, acquired_by_a_fence, released_by_a_fence;
  };
  struct plain_state {
    std::size_t writer = no_thread;
    std::uint32_t written = 0;
    std::array<std::uint32_t, max_threads> read{};
  };

  thread& running() noexcept { return m_threads[m_running]; }

  void fail_outside(const char* text) { m_report.failure = text; }

  void start(std::size_t t, std::function<void()> body) {
    thread& fresh = m_threads[t];
    fresh.ended = false;
    fresh.now = m_threads[main_thread].now;
    fresh.fiber = boost::context::fiber(std::allocator_arg, shelved_stack{},
                                        [this, t, body = std::move(body)](boost::context::fiber&& back) {
                                          m_scheduler = std::move(back);
                                          body();
                                          m_threads[t].ended = true;
                                          return std::move(m_scheduler);
                                        });
    resume(t);  // up to its first operation
  }
  void resume(std::size_t t) {
    m_running = t;
    boost::context::fiber back = std::move(m_threads[t].fiber).resume();
    if (!m_threads[t].ended) m_threads[t].fiber = std::move(back);
  }
  void suspend() { m_scheduler = std::move(m_scheduler).resume(); }
  void leave_for_good() {
    if (m_running == main_thread) return;
    for (;;) suspend();
  }

  /// Another thread may go first.
  void arrive(step_kind next) {
    running().next = next;
    suspend();
  }

  std::uint32_t begin(const operation& o) {
    const std::uint32_t l = number_of(o);
    if (m_running != main_thread)
      arrive({o.what, l, sequential(o.order) && o.what != action::wait && o.what != action::notify});
    return l;
  }

  bool can_run(const thread& t) const {
    if (t.ended || t.sleeps_on != none) return false;
    return t.next.what != action::load || !spins(t, t.next.location) ||
           m_locations[t.spins_on].stores.back().at > t.spun_at;
  }
  /// A thread that has looked twice, and at nothing else, and looks again, waits for something newer: such loops end,
  /// and need not be run more often.
  static bool spins(const thread& t, std::uint32_t l) { return t.spins_on == l && t.looks >= 2; }

  /// Lets one thread do one operation. False: all have ended.
  bool schedule() {
    boost::container::small_vector<std::uint8_t, 8> can;
    bool all_ended = true;
    const std::size_t last = m_running;
    const auto consider = [&](std::size_t t) {
      if (!m_threads[t].ended) all_ended = false;
      if (can_run(m_threads[t])) can.push_back(static_cast<std::uint8_t>(t));
    };
    if (last != main_thread) consider(last);
    for (std::size_t t = 1; t < m_threads.size(); ++t)
      if (t != last) consider(t);
    if (all_ended) return false;
    if (can.empty()) {
      m_running = main_thread;
      fail("all threads that have not ended wait, and nothing is left that could wake them");
      return false;
    }
    std::size_t chosen = can.front();
    if (!m_redundant) {
      can.erase(std::remove_if(can.begin(), can.end(), [&](std::uint8_t t) { return (m_asleep >> t & 1) != 0; }),
                can.end());
      if (can.empty()) {
        m_redundant = true;  // the rest was explored in another order; it is run to its end without a choice
        return true;
      }
      if (m_depth == m_trail.size()) {
        if (!m_how.everything && m_known.covers(name_of_state(), m_asleep)) {
          m_redundant = true;
          return true;
        }
        m_trail.push_back({can, 0, m_asleep});
      }
      const decision& d = m_trail[m_depth++];
      chosen = d.options[d.taken];
      std::uint32_t before = d.asleep;
      for (std::size_t k = 0; k < d.taken; ++k) before |= 1u << d.options[k];
      m_asleep = 0;
      for (std::size_t t = 1; t < m_threads.size(); ++t)
        if (!m_how.everything && (before >> t & 1) != 0 && independent(m_threads[t].next, m_threads[chosen].next))
          m_asleep |= 1u << t;
    }
    resume(chosen);
    return true;
  }

  std::size_t choose(std::size_t count) {
    if (count <= 1 || m_redundant || m_running == main_thread) return 0;
    if (m_depth == m_trail.size()) {
      decision d;
      for (std::size_t k = 0; k < count; ++k) d.options.push_back(static_cast<std::uint8_t>(k));
      m_trail.push_back(std::move(d));
    }
    const decision& d = m_trail[m_depth++];
    return d.options[d.taken];
  }

  std::uint32_t number_of(const operation& o) {
    const auto [at, fresh] = m_numbers.try_emplace(o.where, static_cast<std::uint32_t>(m_locations.size()));
    if (fresh) {
      location& l = m_locations.emplace_back();
      l.stores.emplace_back();
      l.stores.back().at = 1;
      l.stores.back().value = o.initial;
      const auto name = m_names.find(o.where);
      l.name = name == m_names.end() ? mixed(1, m_locations.size()) : name->second;
    }
    return at->second;
  }

  /// What is there, whatever order of operations has led to it.
  std::uint64_t name_of_state() const {
    std::uint64_t all = name_of_sequence();
    for (const thread& t : m_threads) all = mixed(all, mixed(t.history, t.ended ? 1 : t.sleeps_on != none ? 2 : 0));
    for (const location& l : m_locations) {
      std::uint64_t one = mixed(l.name, l.notified == 0 ? 0 : store_at(l, l.notified).name);
      for (const stored& s : l.stores) one = mixed(one, s.name);
      all += one;
    }
    return all;
  }
  std::uint64_t name_of_sequence() const {
    std::uint64_t all = 0;
    const auto add = [&](const bounds& b, std::uint64_t which) {
      b.for_each([&](std::uint32_t l, stamp at) {
        all += mixed(mixed(m_locations[l].name, store_at(m_locations[l], at).name), which);
      });
    };
    add(m_sequential_accesses, 1);
    add(m_sequential_fences, 2);
    return all;
  }
  static const stored& store_at(const location& l, stamp at) {
    for (const stored& s : l.stores)
      if (s.at == at) return s;
    return l.stores.front();
  }

  bool planted(const operation& o) {
    for (const weakening& w : m_how.planted)
      if (w.what == o.what && std::string_view(o.at.function_name()).find(w.function) != std::string_view::npos) {
        ++m_report.weakened;
        return true;
      }
    return false;
  }
  std::memory_order weakened(const operation& o) { return planted(o) ? std::memory_order_relaxed : o.order; }

  stamp oldest(std::uint32_t l, std::memory_order o) {
    stamp at = running().now.of.at(l);
    if (sequential(o)) at = std::max({at, m_sequential_accesses.at(l), m_sequential_fences.at(l)});
    return at;
  }
  /// Whether a store may come right behind this one.
  bool open_behind(std::uint32_t l, std::size_t k) const {
    const auto& stores = m_locations[l].stores;
    return k + 1 == stores.size() || !stores[k + 1].by_exchange;
  }
  const stored& pick(std::uint32_t l, stamp from, bool to_store_behind) {
    const auto& stores = m_locations[l].stores;
    return pick(l, [&](std::size_t k) { return stores[k].at >= from && (!to_store_behind || open_behind(l, k)); });
  }
  /// One of the stores of which accept(number) holds; the newest first, so that the first execution is the obvious one.
  template <class Accept>
  const stored& pick(std::uint32_t l, Accept&& accept) {
    const auto& stores = m_locations[l].stores;
    std::size_t count = 0;
    for (std::size_t k = 0; k < stores.size(); ++k) count += accept(k) ? 1 : 0;
    if (count == 0) fail("no store can be read: a mistake of the explorer");
    std::size_t left = choose(count);
    for (std::size_t k = stores.size(); k-- > 0;)
      if (accept(k) && left-- == 0) return stores[k];
    return stores.back();
  }
  void see(thread& me, std::uint32_t l, const stored& s, std::memory_order o) {
    me.now.of.raise(l, s.at);
    if (acquires(o))
      me.now.join(s.released);
    else
      me.acquired_by_a_fence.join(s.released);
    if (sequential(o)) m_sequential_accesses.raise(l, s.at);
  }
  void insert(thread& me, std::uint32_t l, stamp behind, std::uint64_t value, std::memory_order o,
              const view* continued) {
    auto& stores = m_locations[l].stores;
    std::size_t k = 0;
    while (stores[k].at != behind) ++k;
    const stamp apart = stamp{1} << 40;
    if (stores.size() > 200) fail("too many stores at one location for one execution");
    stored s;
    s.name = std::uint64_t{m_running} << 32 | ++me.stores;
    s.at = k + 1 == stores.size() ? behind + apart : behind + (stores[k + 1].at - behind) / 2;
    s.value = value;
    s.by_exchange = continued != nullptr;
    me.now.of.raise(l, s.at);
    s.released = releases(o) ? me.now : me.released_by_a_fence;
    s.released.of.raise(l, s.at);
    if (continued != nullptr) s.released.join(*continued);  // the release sequence goes on
    if (sequential(o)) m_sequential_accesses.raise(l, s.at);
    if (m_running == main_thread)
      stores.clear(), k = 0, s.by_exchange = false;  // no other thread is there to read the older ones
    else
      ++k;
    stores.insert(stores.begin() + static_cast<std::ptrdiff_t>(k), std::move(s));
  }

  struct step {
    std::size_t thread = 0;
    operation what;
    std::uint32_t location = none;
    std::uint64_t value = 0;
  };
  void note(const operation& o, std::uint32_t l, std::uint64_t value, std::uint64_t read) {
    thread& me = running();
    me.history =
        mixed(mixed(me.history, static_cast<std::uint64_t>(o.what) + (l == none ? 0 : m_locations[l].name)), read);
    if (m_running != main_thread) m_steps.push_back({m_running, o, l, value});
  }
  static std::string described(const step& s) {
    static constexpr std::array<std::string_view, 6> names = {"load", "store", "exchange", "fence", "wait", "notify"};
    const std::string_view name = names[static_cast<std::size_t>(s.what.what)];
    const std::string where = place_of(s.what.at);
    if (s.what.what == action::fence)
      return fmt::format("thread {}: fence, {}, {}", s.thread, name_of(s.what.order), where);
    if (s.what.what == action::notify)
      return fmt::format("thread {}: notify at [{}], {} asleep, {}", s.thread, s.location, s.value, where);
    return fmt::format("thread {}: {} [{}] = {:#x}, {}, {}", s.thread, name, s.location, s.value, name_of(s.what.order),
                       where);
  }

  const settings& m_how;
  std::deque<decision>& m_trail;
  known_states& m_known;
  report& m_report;
  std::size_t m_depth = 0;
  std::uint32_t m_asleep = 0;
  bool m_redundant = false;
  std::size_t m_running = main_thread;
  std::vector<thread> m_threads;
  boost::context::fiber m_scheduler;
  std::vector<location> m_locations;
  std::unordered_map<const void*, std::uint32_t> m_numbers;
  std::unordered_map<const void*, std::uint64_t>
      m_names;  // of locations, in the order in which each thread has made them
  std::unordered_map<const void*, plain_state> m_plain;
  bounds m_sequential_accesses, m_sequential_fences;
  std::vector<step> m_steps;
};

machine* machine::current = nullptr;

namespace {

machine& in_use() {
  if (machine::current == nullptr) {
    std::fputs("an atomic of tests/models is used outside of explore()\n", stderr);
    std::abort();
  }
  return *machine::current;
}

}  // namespace

report explore(const std::function<void(scenario&)>& make, const settings& how) {
  report out;
  std::deque<decision> trail;
  known_states known;
  while (out.executions < how.max_executions) {
    {
      machine m(how, trail, known, out);
      m.run(make);
      if (!m.redundant()) ++out.executions;
    }
    if (!out.failure.empty()) return out;
    while (!trail.empty() && trail.back().taken + 1 == trail.back().options.size()) trail.pop_back();
    if (trail.empty()) {
      out.complete = true;
      return out;
    }
    ++trail.back().taken;
  }
  return out;
}

void require(bool holds, std::string_view what, std::source_location at) {
  if (!holds) in_use().fail(fmt::format("{} ({})", what, place_of(at)));
}

std::uint64_t perform_load(operation o) { return in_use().load(o); }
void perform_store(operation o, std::uint64_t value) { in_use().store(o, value); }
std::uint64_t perform_exchange(operation o, const std::function<std::uint64_t(std::uint64_t)>& change,
                               const std::uint64_t* only_if, std::memory_order otherwise) {
  return in_use().exchange(o, change, only_if, otherwise);
}
void perform_wait(operation o, std::uint64_t old) { in_use().wait(o, old); }
void perform_notify(operation o, bool all) { in_use().notify(o, all); }
void perform_fence(std::memory_order order, std::source_location at) { in_use().fence(order, at); }
void forget(const void* where) noexcept {
  if (machine::current != nullptr) machine::current->forget(where);
}
void plain_access(const void* where, bool writes, std::source_location at) { in_use().plain_access(where, writes, at); }

}  // namespace tessera::models
