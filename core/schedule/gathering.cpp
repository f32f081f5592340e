#include "core/schedule/gathering.hpp"

#include <algorithm>

namespace tessera::schedule {

void gathering::add(task::record& t) {
  const std::lock_guard guard(m_mutex);
  const auto behind =
      std::ranges::find_if(m_waiting, [&](const task::record* other) { return other->priority < t.priority; });
  m_waiting.insert(behind, &t);
  m_any.store(true, std::memory_order_seq_cst);  // before it counts workers: who becomes one looks at this
  count();
}

std::deque<task::record*>::iterator gathering::next() {
  const std::uint32_t workers = m_workers();
  return std::ranges::find_if(m_waiting, [&](const task::record* t) { return t->more->cores <= workers; });
}

void gathering::count() {
  m_any.store(!m_waiting.empty(), std::memory_order_seq_cst);
  const bool wanted = next() != m_waiting.end();
  m_wanted.store(wanted, std::memory_order_relaxed);
  m_wants(wanted);
}

void gathering::recount() {
  const std::lock_guard guard(m_mutex);
  count();
  m_changed.notify_all();  // the guests may be fewer than they waited to be
}

void gathering::notify() {
  const std::lock_guard guard(m_mutex);
  m_changed.notify_all();
}

gathering::team gathering::attend(std::uint32_t worker, const std::function<bool()>& enough) {
  std::unique_lock lock(m_mutex);
  guest me{worker};
  m_guests.push_back(&me);
  for (;;) {
    if (me.works) {
      m_changed.wait(lock, [&] { return me.is_free; });
      return {};
    }
    const auto found = next();
    if (found == m_waiting.end() || enough()) {
      std::erase(m_guests, &me);
      return {};
    }
    task::record& t = **found;
    if (m_guests.size() < t.more->cores) {
      m_changed.wait(lock);
      continue;
    }
    m_waiting.erase(found);
    count();
    std::erase(m_guests, &me);
    team gathered{.t = &t, .workers = {worker}};
    while (gathered.workers.size() < t.more->cores) {
      guest& one = *m_guests.back();
      m_guests.pop_back();
      one.works = true;
      m_working.push_back(&one);
      gathered.workers.push_back(one.worker);
    }
    m_changed.notify_all();  // those who are left look for the next one
    return gathered;
  }
}

void gathering::done(const team& over) {
  const std::lock_guard guard(m_mutex);
  std::erase_if(m_working, [&](guest* one) {
    const bool takes_part = std::ranges::find(over.workers, one->worker) != over.workers.end();
    if (takes_part) one->is_free = true;
    return takes_part;
  });
  m_changed.notify_all();
}

}  // namespace tessera::schedule
