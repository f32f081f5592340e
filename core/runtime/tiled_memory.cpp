#include "tessera/tiled_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/runtime/inside.hpp"

namespace tessera {

/// Neighbouring tiles that other ones take the place of: of the old ones, and of the ends wanted.
struct tiled_memory::exchange {
  std::size_t first_old, old_count, first_new, new_count;
};

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
  runtime_inside& inside = of.inside();
  m_tiles.push_back({0, rows, nullptr});
  transfer::adopted_memory& adopted = inside.coherence->adopted();
  const block::chunk all = adopted.take_over(memory, static_cast<std::uint64_t>(rows * row_elements) * size_of(type),
                                             inside.scheduler->places().front()->space, m_owner);
  m_all = all.word;
  try {
    m_origin = inside.blocks.make_origin(m_name, {m_rows});
    make_records(m_tiles, site);
  } catch (...) {
    adopted.let_go(all);
    throw;
  }
}

tiled_memory::~tiled_memory() {
  const lifetime::visit here = enter(m_alive);
  if (!here || m_tiles.empty()) return;
  for (const tile& t : m_tiles) m_runtime->inside().scheduler->destroy_later(*t.record);
  m_runtime->inside().coherence->adopted().let_go({m_all});
}

void tiled_memory::cut(std::span<const std::int64_t> ends, std::source_location site) {
  check(ends, site);
  const std::vector<exchange> exchanges = exchanges_for(ends);
  if (exchanges.empty()) return;
  schedule::scheduler& scheduler = *m_runtime->inside().scheduler;

  std::vector<tile> after, fresh;
  std::vector<block::record*> from, to;
  std::vector<schedule::scheduler::retiling> changes;
  after.reserve(ends.size()), changes.reserve(exchanges.size());
  for (const exchange& e : exchanges) {
    for (const tile& t : std::span(m_tiles).subspan(e.first_old, e.old_count)) from.push_back(t.record);
    for (std::size_t k = e.first_new; k < e.first_new + e.new_count; ++k)
      fresh.push_back({k == 0 ? 0 : ends[k - 1], ends[k], nullptr});
  }
  to.reserve(fresh.size());
  make_records(fresh, site);
  for (const tile& t : fresh) to.push_back(t.record);
  std::size_t kept = 0, old_taken = 0, new_taken = 0;
  for (const exchange& e : exchanges) {
    after.insert(after.end(), m_tiles.begin() + static_cast<std::ptrdiff_t>(kept),
                 m_tiles.begin() + static_cast<std::ptrdiff_t>(e.first_old));
    after.insert(after.end(), fresh.begin() + static_cast<std::ptrdiff_t>(new_taken),
                 fresh.begin() + static_cast<std::ptrdiff_t>(new_taken + e.new_count));
    changes.push_back({std::span(from).subspan(old_taken, e.old_count), std::span(to).subspan(new_taken, e.new_count)});
    kept = e.first_old + e.old_count, old_taken += e.old_count, new_taken += e.new_count;
  }
  after.insert(after.end(), m_tiles.begin() + static_cast<std::ptrdiff_t>(kept), m_tiles.end());
  try {
    scheduler.retile(changes, site);
  } catch (...) {
    for (block::record* const b : to) scheduler.destroy_later(*b);
    throw;
  }
  m_tiles.swap(after);
  m_changes += exchanges.size();
  for (block::record* const b : from) scheduler.destroy_later(*b);
}

void tiled_memory::check(std::span<const std::int64_t> ends, std::source_location site) const {
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    if (end <= begin || end > m_rows)
      throw error(error_kind::usage,
                  fmt::format("array {} of {} rows is cut at rows {} and {}", m_name, m_rows, begin, end));
    begin = end;
  }
  if (begin != m_rows)
    throw error(error_kind::usage, fmt::format("the tiles of array {} end at row {} of {}", m_name, begin, m_rows));
  if (m_runtime->inside().scheduler->is_recording())
    throw error(error_kind::usage, fmt::format("array {} is cut into other blocks inside a recording", m_name),
                fmt::format("{}:{}", site.file_name(), site.line()),
                "run what is recorded once before: its blocks are then as it wants them");
}

/// Where the tiles are not as wanted. One pass over both.
std::vector<tiled_memory::exchange> tiled_memory::exchanges_for(std::span<const std::int64_t> ends) const {
  std::vector<exchange> all;
  for (std::size_t k = 0, next = 0; next < ends.size(); ++k, ++next) {
    const std::size_t first = k, first_end = next;  // they begin at the same row; go on to the same end
    while (m_tiles[k].end != ends[next]) ++(m_tiles[k].end < ends[next] ? k : next);
    if (k != first || next != first_end) all.push_back({first, k - first + 1, first_end, next - first_end + 1});
  }
  return all;
}

/// Adopts the tiles' memory as their blocks. Where it throws, none of them has one.
void tiled_memory::make_records(std::vector<tile>& fresh, std::source_location site) {
  runtime_inside& inside = m_runtime->inside();
  std::vector<block::record*> records;
  std::vector<std::uint64_t> offsets;
  try {
    records.reserve(fresh.size()), offsets.reserve(fresh.size());
    for (const tile& t : fresh) {
      const auto position = std::min<std::int64_t>(t.begin, std::numeric_limits<std::uint32_t>::max());
      records.push_back(&inside.blocks.create(m_type, shape{(t.end - t.begin) * m_row_elements}, m_origin,
                                              static_cast<std::uint32_t>(position)));
      offsets.push_back(static_cast<std::uint64_t>(t.begin * m_row_elements) * size_of(m_type));
    }
    inside.coherence->adopted().adopt_within({m_all}, records, offsets);
    // Validation is not told of the memory: that tiles of different times share it is meant.
    inside.note_array(records, false, site);
  } catch (...) {
    for (block::record* const b : records) inside.scheduler->destroy_later(*b);
    if (records.empty() && m_tiles.front().record == nullptr) inside.blocks.forget_origin(m_origin);  // no block has it
    throw;
  }
  for (std::size_t k = 0; k < fresh.size(); ++k) fresh[k].record = records[k];
}

}  // namespace tessera
