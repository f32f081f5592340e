#include "core/validate/quarantine.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::validate {

void quarantine::keep(std::unique_ptr<guarded_memory> memory, element_type type, participant whose) {
  m_pattern.fill(memory->elements(), type, pattern::meaning::ended, memory->number());
  const std::lock_guard guard(m_mutex);
  m_bytes += memory->elements().size();
  m_entries.push_back({std::move(memory), type, std::move(whose)});
  while (m_bytes > m_limit && m_entries.size() > 1) {
    look_at(m_entries.front());
    m_bytes -= m_entries.front().memory->elements().size();
    m_entries.pop_front();
  }
}

void quarantine::look_at(entry& e) {
  std::size_t first = 0;
  const auto elements = e.memory->elements();
  const bool inside = m_pattern.intact(elements, e.type, e.memory->number(), first);
  const auto outside = e.memory->find_damage(m_pattern);
  if (inside && !outside) return;
  m_journal.add(
      {.fault = fault::after_end,
       .text = fmt::format("the elements of a {} were written after it had ended{}",
                           e.whose.description.starts_with("view") ? "view" : "task",
                           inside ? ", outside of the block"
                                  : fmt::format(": element {} of {}", first, elements.size() / size_of(e.type))),
       .here = e.whose,
       .there = {},
       .hint = "keep no pointer to elements; take a view, or submit a task, whenever they are needed"});
  m_pattern.fill(elements, e.type, pattern::meaning::ended, e.memory->number());
  e.memory->mend(m_pattern);
}

void quarantine::look() {
  const std::lock_guard guard(m_mutex);
  for (entry& e : m_entries) look_at(e);
}

std::optional<participant> quarantine::whose(std::uint32_t number) const {
  const std::lock_guard guard(m_mutex);
  const auto found = std::ranges::find_if(m_entries, [&](const entry& e) { return e.memory->number() == number; });
  if (found == m_entries.end()) return std::nullopt;
  return found->whose;
}

bool quarantine::covers(const void* first, std::uint64_t bytes, participant& out) const {
  const auto from = reinterpret_cast<std::uintptr_t>(first);
  const std::lock_guard guard(m_mutex);
  for (const entry& e : m_entries) {
    const auto at = reinterpret_cast<std::uintptr_t>(e.memory->elements().data());
    if (from >= at + e.memory->elements().size() || at >= from + bytes) continue;
    out = e.whose;
    return true;
  }
  return false;
}

}  // namespace tessera::validate
