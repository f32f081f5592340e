#include "core/schedule/memory_deadlock.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::schedule {

bool patience::over(const std::function<std::uint64_t()>& progress) {
  const std::lock_guard guard(m_mutex);
  const auto now = std::chrono::steady_clock::now();
  const std::uint64_t so_far = progress();
  if (m_alarm != nullptr && m_progress == so_far) return now >= m_end;
  if (m_alarm == nullptr) m_alarm = std::make_unique<alarm>(m_wake);
  m_progress = so_far;  // whenever the program has done something, it may do more
  m_end = now + m_time;
  m_alarm->set(m_end);
  return false;
}

memory_deadlock::memory_deadlock(setup with) : m_setup(std::move(with)), m_patience(m_setup.patience, m_setup.wake) {}

memory_deadlock::outlook memory_deadlock::program_outlook() const noexcept {
  if (!m_setup.counts_on_program) return outlook::none;
  outlook best = outlook::none;
  for (std::uint32_t k = 0, count = m_setup.threads->size(); k < count; ++k) {
    const thread_context& l = (*m_setup.threads)[k];
    if (!l.is_program || !l.in_use.load(std::memory_order_acquire) || l.waits.load(std::memory_order_seq_cst)) continue;
    best = std::max(best, l.held_views.load(std::memory_order_acquire) != 0 ? outlook::views : outlook::program);
  }
  return best;
}

memory::space* memory_deadlock::awaited(std::size_t k) const noexcept {
  memory::space& space = m_setup.coherence->space_at(static_cast<memory::space_number>(k));
  return space.waiters().any() ? &space : nullptr;
}

bool memory_deadlock::something_moves() const {
  return m_setup.set_aside->waiting_for_points() != 0 || m_setup.coherence->transfers_pending() ||
         m_setup.drivers->any_active();
}

memory_deadlock::rest memory_deadlock::at_rest() const {
  for (std::size_t k = 0; k < m_setup.coherence->space_count(); ++k)
    if (awaited(k) != nullptr) return rest::no;
  const outlook program = program_outlook();
  if (something_moves() || program == outlook::views) return rest::no;
  return program == outlook::none ? rest::all : rest::program;
}

/// A sixteenth of the memory, or more where that did not help before or has nothing that may leave.
bool memory_deadlock::evict_some(const memory::space& space, std::uint32_t doublings) const {
  for (std::uint32_t k = doublings; k <= max_doublings; ++k)
    if (m_setup.coherence->evict(space.number(), space.limit() >> (max_doublings - k))) return true;
  return false;
}

memory_deadlock::finding memory_deadlock::resolve(bool single_space) {
  transfer::coherence& coherence = *m_setup.coherence;
  // No task runs, nothing moves, and a task waits for memory: no event will ever wake it.
  bool any = false;
  for (std::size_t k = 0; k < coherence.space_count() && !any; ++k) any = awaited(k) != nullptr;
  if (!any || something_moves()) return {};
  // A thread of the program that holds a view and does not wait will give it back, and that is an event.
  const outlook program = program_outlook();
  if (program == outlook::views) return {};
  // What no task with a claim needs leaves, a little at first; then claims end, so that younger ones may run and free
  // something; if even that has been done again and again, a task is given up.
  constexpr std::uint32_t max_rounds = 256;
  if (!single_space && coherence.stuck_rounds() < max_rounds) {
    for (std::size_t k = 0; k < coherence.space_count(); ++k)
      if (memory::space* const space = awaited(k);
          space != nullptr && evict_some(*space, std::min<std::uint32_t>(coherence.stuck_rounds(), max_doublings))) {
        coherence.note_stuck();
        space->waiters().notify();
        return {.released = true, .hopeless = nullptr, .why = {}};
      }
    if (coherence.suspend_claims()) return {.released = true, .hopeless = nullptr, .why = {}};
  }
  for (std::size_t k = 0; k < coherence.space_count(); ++k)
    if (awaited(k) != nullptr && m_setup.join_copies && m_setup.join_copies(static_cast<memory::space_number>(k)))
      return {.released = true, .hopeless = nullptr, .why = {}};
  const auto submitted = [this] { return m_setup.threads->submitted(); };
  if (program == outlook::program && !m_patience.over(submitted)) return {};
  for (std::size_t k = 0; k < coherence.space_count(); ++k) {
    memory::space* const space = awaited(k);
    if (space == nullptr) continue;
    memory::memory_waiter* const oldest = space->waiters().take_oldest();
    if (oldest == nullptr) continue;
    if (space->may_try_again()) {  // the plugin has refused a slab: perhaps not the next one
      oldest->wake(oldest);
      return {.released = true, .hopeless = nullptr, .why = {}};
    }
    const memory::space_statistics s = space->statistics();
    const std::string stuck = coherence.why_stuck(space->number());
    return {.released = true,
            .hopeless = oldest,
            .why = fmt::format("{} is full ({} of {} bytes in use) and nothing in it can be evicted{}{}", space->name(),
                               s.used_bytes, s.limit_bytes, stuck.empty() ? "" : ": ", stuck)};
  }
  return {};
}

}  // namespace tessera::schedule
