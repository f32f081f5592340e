#include "core/schedule/binding.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <system_error>

namespace tessera::schedule {

binding::cpu_set::cpu_set(const std::vector<std::uint32_t>& cpus) {
  const std::uint32_t highest = cpus.empty() ? 0 : *std::ranges::max_element(cpus);
  words.resize(highest / CPU_SETSIZE + 1);
  CPU_ZERO_S(bytes(), words.data());
  for (const std::uint32_t cpu : cpus) CPU_SET_S(cpu, bytes(), words.data());
}

binding::binding(std::vector<std::vector<std::uint32_t>> cpus, bool on) : m_cpus(std::move(cpus)), m_on(on) {}

void binding::bind(std::thread& worker, std::uint32_t k) {
  if (!m_on || m_cpus[k].empty()) return;  // more workers than cores: the system deals them out better
  const cpu_set own(m_cpus[k]);
  if (const int why = pthread_setaffinity_np(worker.native_handle(), own.bytes(), own.words.data()); why != 0) {
    if (m_trouble.empty())
      m_trouble = fmt::format("worker {} is not bound to CPU {}: {}; it floats, and others may too", k,
                              m_cpus[k].front(), std::generic_category().message(why));
    return;
  }
  for (const std::uint32_t cpu : m_cpus[k]) {
    if (cpu >= m_taken.size()) m_taken.resize(cpu + 1);
    m_taken[cpu] = true;
  }
}

void binding::place_this_thread() const noexcept {
  const int here = sched_getcpu();
  if (here < 0 || static_cast<std::size_t>(here) >= m_taken.size() || !m_taken[static_cast<std::size_t>(here)]) return;
  if (std::ranges::find(m_cpus.front(), static_cast<std::uint32_t>(here)) != m_cpus.front().end())
    return;  // two workers of one core
  cpu_set_t before;
  if (sched_getaffinity(0, sizeof before, &before) != 0) return;
  for (const std::uint32_t cpu : m_cpus.front())
    if (cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &before)) return;  // the program has bound its thread elsewhere
  const cpu_set first(m_cpus.front());
  // The first call moves it; the second leaves it where it is, and lets it float.
  if (sched_setaffinity(0, first.bytes(), first.words.data()) == 0) sched_setaffinity(0, sizeof before, &before);
}

binding::scoped_spread::scoped_spread(const binding& of, std::span<const std::uint32_t> workers) noexcept {
  if (!of.m_on || sched_getaffinity(0, sizeof m_before, &m_before) != 0) return;
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const std::uint32_t k : workers)
    for (const std::uint32_t cpu : of.m_cpus[k])
      if (cpu < CPU_SETSIZE) CPU_SET(cpu, &all);
  m_is_spread = CPU_COUNT(&all) != 0 && sched_setaffinity(0, sizeof all, &all) == 0;
}

binding::scoped_spread::~scoped_spread() {
  if (m_is_spread) sched_setaffinity(0, sizeof m_before, &m_before);
}

}  // namespace tessera::schedule
