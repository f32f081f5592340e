#include "tessera/tiled_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/runtime/inside.hpp"

namespace tessera {

namespace {

/// Memory that is fast for the copies of devices from its first tile to its last: those find it registered. May outlive
/// the runtime, which unregisters everything when it ends.
struct registered_memory {
  registered_memory(memory::registration_cache& with, const std::shared_ptr<lifetime>& of_runtime, void* memory,
                    std::uint64_t bytes, std::shared_ptr<const void> kept)
      : registrations(with), alive(of_runtime), pointer(memory), owner(std::move(kept)) {
    registrations.acquire(pointer, bytes);
  }
  ~registered_memory() {
    if (const lifetime::visit here = enter(alive)) registrations.release(pointer);
  }
  registered_memory(const registered_memory&) = delete;
  registered_memory& operator=(const registered_memory&) = delete;

  memory::registration_cache& registrations;
  std::shared_ptr<lifetime> alive;
  void* pointer;
  std::shared_ptr<const void> owner;
};

}  // namespace

tiled_memory::tiled_memory(runtime& of, std::string name, element_type type, void* memory,
                           std::shared_ptr<const void> owner, std::int64_t rows, std::int64_t row_elements,
                           std::source_location site)
    : m_runtime(&of),
      m_alive(of.inside().scheduler->alive()),
      m_name(std::move(name)),
      m_type(type),
      m_memory(memory),
      m_owner(std::move(owner)),
      m_rows(rows),
      m_row_elements(row_elements) {
  if (rows < 0 || row_elements < 0)
    throw error(error_kind::usage, fmt::format("array {} has {} rows of {} elements", m_name, rows, row_elements));
  if (rows == 0) return;
  if (const auto& cache = of.inside().registrations)
    m_owner = std::make_shared<registered_memory>(
        *cache, m_alive, memory, static_cast<std::uint64_t>(rows * row_elements) * size_of(type), std::move(m_owner));
  m_tiles.reserve(1);
  m_tiles.push_back({0, rows, adopt(0, std::span(&rows, 1), site).front()});
}

tiled_memory::~tiled_memory() {
  if (const lifetime::visit here = enter(m_alive))
    for (const tile& t : m_tiles) m_runtime->inside().scheduler->destroy_later(*t.record);
}

void tiled_memory::cut(std::span<const std::int64_t> ends, std::source_location site) {
  check(ends);
  for (std::size_t k = 0, next = 0; next < ends.size();) {
    if (m_tiles[k].end == ends[next]) {  // it begins where it should, since what is before it ends there
      ++k, ++next;
      continue;
    }
    std::size_t last = k, last_end = next;  // the first ones from here that end at the same row
    while (m_tiles[last].end != ends[last_end]) ++(m_tiles[last].end < ends[last_end] ? last : last_end);
    replace(k, last - k + 1, ends.subspan(next, last_end - next + 1), site);
    k += last_end - next + 1;
    next = last_end + 1;
  }
}

void tiled_memory::check(std::span<const std::int64_t> ends) const {
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    if (end <= begin || end > m_rows)
      throw error(error_kind::usage,
                  fmt::format("array {} of {} rows is cut at rows {} and {}", m_name, m_rows, begin, end));
    begin = end;
  }
  if (begin != m_rows)
    throw error(error_kind::usage, fmt::format("the tiles of array {} end at row {} of {}", m_name, begin, m_rows));
}

/// Blocks in the array's memory from row `begin` to each of `ends`.
std::vector<block::record*> tiled_memory::adopt(std::int64_t begin, std::span<const std::int64_t> ends,
                                                std::source_location site) {
  runtime_inside& inside = m_runtime->inside();
  const std::int64_t first_row = begin;
  std::vector<block::record*> fresh;
  fresh.reserve(ends.size());
  if (m_origin == nullptr) m_origin = inside.blocks.make_origin(m_name, {m_rows});
  try {
    for (const std::int64_t end : ends) {
      const auto position = std::min<std::int64_t>(begin, std::numeric_limits<std::uint32_t>::max());
      fresh.push_back(&inside.blocks.create(m_type, shape{(end - begin) * m_row_elements}, m_origin,
                                            static_cast<std::uint32_t>(position)));
      begin = end;
    }
    inside.coherence->adopted().adopt(
        fresh,
        static_cast<std::byte*>(m_memory) + first_row * m_row_elements * static_cast<std::int64_t>(size_of(m_type)),
        inside.scheduler->places().front()->space, m_owner);
    // Validation is not told of the memory: that tiles of different times share it is meant.
    inside.note_array(fresh, false, site);
  } catch (...) {
    for (block::record* const b : fresh) inside.scheduler->destroy_later(*b);
    if (fresh.empty() && m_tiles.empty()) inside.blocks.forget_origin(m_origin);
    throw;
  }
  return fresh;
}

void tiled_memory::replace(std::size_t first, std::size_t count, std::span<const std::int64_t> ends,
                           std::source_location site) {
  schedule::scheduler& scheduler = *m_runtime->inside().scheduler;
  std::vector<tile> after;
  after.reserve(ends.size());
  m_tiles.reserve(m_tiles.size() + ends.size());
  std::vector<block::record*> old;
  for (std::size_t k = first; k < first + count; ++k) old.push_back(m_tiles[k].record);
  const std::vector<block::record*> fresh = adopt(m_tiles[first].begin, ends, site);
  try {
    scheduler.retile(old, fresh, site);
  } catch (...) {
    for (block::record* const b : fresh) scheduler.destroy_later(*b);
    throw;
  }
  // What follows allocates nothing but tasks.
  std::int64_t begin = m_tiles[first].begin;
  for (std::size_t k = 0; k < ends.size(); begin = ends[k++]) after.push_back({begin, ends[k], fresh[k]});
  const auto from = m_tiles.erase(m_tiles.begin() + static_cast<std::ptrdiff_t>(first),
                                  m_tiles.begin() + static_cast<std::ptrdiff_t>(first + count));
  m_tiles.insert(from, after.begin(), after.end());
  ++m_changes;
  for (block::record* const b : old) scheduler.destroy_later(*b);
}

}  // namespace tessera
