#include "hierarchy/region/fenced_memory.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/error.hpp"

namespace tessera::hierarchy {

std::shared_ptr<array_storage> fenced_memory::find(const range& memory) {
  const std::lock_guard guard(m_mutex);
  return look_for(memory, "scalar");
}

bool fenced_memory::has_arrays() {
  const std::lock_guard guard(m_mutex);
  std::erase_if(m_entries, [](const auto& one) { return one.second.array.expired(); });
  return !m_entries.empty();
}

std::vector<std::shared_ptr<array_storage>> fenced_memory::let_go() {
  const std::lock_guard guard(m_mutex);
  std::vector<std::shared_ptr<array_storage>> all;
  for (auto& [end, e] : m_entries)
    if (e.kept != nullptr) all.push_back(std::move(e.kept));
  return all;
}

std::shared_ptr<array_storage> fenced_memory::look_for(const range& memory, const std::string& name) {
  if (memory.bytes == 0) return nullptr;
  const auto* const begin = static_cast<const std::byte*>(memory.begin);
  const auto* const end = begin + memory.bytes;
  for (auto at = m_entries.upper_bound(begin); at != m_entries.end();) {  // the first that ends behind `begin`
    entry& e = at->second;
    if (static_cast<const std::byte*>(e.memory.begin) >= end) break;
    auto array = e.array.lock();
    if (array == nullptr) {
      at = m_entries.erase(at);
      continue;
    }
    if (e.memory == memory) return array;
    if (e.memory.begin == memory.begin && e.memory.bytes == memory.bytes && e.memory.type == memory.type) {
      const row_extents &known = e.memory.extents, &asked = memory.extents;
      throw error(error_kind::usage,
                  fmt::format("'{}' is an array of {} x {} x {} elements until the next fence, and cannot be one of {} "
                              "x {} x {} meanwhile",
                              name, known.rows, known.second, known.third, asked.rows, asked.second, asked.third),
                  {}, "name it with the same extents in all regions, or fence in between");
    }
    throw error(error_kind::usage,
                fmt::format("the memory of '{}' ({} elements of {}) overlaps that of '{}' ({} elements of {}), which "
                            "regions use since the last fence",
                            name, memory.bytes / size_of(memory.type), name_of(memory.type), e.name,
                            e.memory.bytes / size_of(e.memory.type), name_of(e.memory.type)),
                {}, "name the same elements each time, or fence in between");
  }
  return nullptr;
}

void fenced_memory::enter(const range& memory, const std::string& name, const std::shared_ptr<array_storage>& array) {
  const auto* const end = static_cast<const std::byte*>(memory.begin) + memory.bytes;
  m_entries.insert_or_assign(end, entry{memory, name, nullptr, array});
}

void fenced_memory::keep(array_storage& array) {
  const auto* const end = static_cast<const std::byte*>(array.tiles().memory()) + array.bytes();  // which never change
  const std::lock_guard guard(m_mutex);
  const auto found = m_entries.find(end);
  if (found == m_entries.end()) return;
  if (const auto known = found->second.array.lock(); known.get() == &array) found->second.kept = known;
}

}  // namespace tessera::hierarchy
