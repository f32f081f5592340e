#include "tessera/detail/tiled_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "core/base/call_site.hpp"
#include "core/runtime/inside.hpp"

namespace tessera {

/// Neighbouring tiles that other ones take the place of: of the old ones, and of the ends wanted.
struct tiled_memory::exchange {
  std::size_t first_old, old_count, first_new, new_count;
};

/// The tiles of a cut, and what takes the place of what.
struct tiled_memory::change {
  std::vector<tile> after;
  std::vector<block::record*> from, to;
  std::vector<schedule::retiling> parts;  // of from and to

  change() = default;
  change(std::span<const tile> before, std::span<const exchange> exchanges, std::span<const tile> fresh) {
    for (const exchange& e : exchanges)
      for (const tile& t : before.subspan(e.first_old, e.old_count)) from.push_back(t.record);
    for (const tile& t : fresh) to.push_back(t.record);
    std::size_t kept = 0, old_taken = 0, new_taken = 0;
    const auto take = [&](std::span<const tile> tiles) { after.insert(after.end(), tiles.begin(), tiles.end()); };
    for (const exchange& e : exchanges) {
      take(before.subspan(kept, e.first_old - kept));
      take(fresh.subspan(new_taken, e.new_count));
      parts.push_back({std::span(from).subspan(old_taken, e.old_count), std::span(to).subspan(new_taken, e.new_count)});
      kept = e.first_old + e.old_count, old_taken += e.old_count, new_taken += e.new_count;
    }
    take(before.subspan(kept));
  }
};

/// Tiles that no one has but a recording, which keeps them. They end with it or with the memory, whichever is first.
struct tiled_memory::made_for_recording {
  made_for_recording(std::shared_ptr<lifetime> of, schedule::scheduler& there)
      : alive(std::move(of)), scheduler(there) {}
  ~made_for_recording() { end(); }
  made_for_recording(const made_for_recording&) = delete;
  made_for_recording& operator=(const made_for_recording&) = delete;
  void end() noexcept {
    const lifetime::visit here = enter(alive);
    std::map<interval, block::record*> ending;
    {
      const std::lock_guard guard(mutex);
      ending.swap(all);
    }
    if (here)
      for (const auto& [of, record] : ending) scheduler.destroy_later(*record);
  }

  const std::shared_ptr<lifetime> alive;  // of the scheduler
  schedule::scheduler& scheduler;
  std::mutex mutex;  // two threads may end it; while the recording is made, nobody does
  using interval = std::pair<std::int64_t, std::int64_t>;
  std::map<interval, block::record*> all;
};

/// The tiles of a recording that is being made.
struct tiled_memory::recorded {
  const task::graph_recorder* by;
  std::vector<tile> now;
  std::shared_ptr<made_for_recording> blocks;
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
                                             inside.scheduler->facts().places.front()->space, m_owner);
  m_all = all.word;
  try {
    m_origin = inside.blocks.make_origin(m_name, {m_rows});
    make_records(m_tiles, site);
  } catch (...) {
    adopted.let_go(all);
    throw;
  }
}

tiled_memory::tiled_memory(runtime& of, std::string name, element_type type, std::vector<tile> blocks,
                           std::int64_t row_elements)
    : m_runtime(&of),
      m_alive(of.inside().scheduler->alive()),
      m_name(std::move(name)),
      m_type(type),
      m_memory(nullptr),
      m_rows(blocks.empty() ? 0 : blocks.back().end),
      m_row_elements(row_elements),
      m_own_blocks(true),
      m_tiles(std::move(blocks)) {}

tiled_memory::~tiled_memory() {
  const lifetime::visit here = enter(m_alive);
  if (!here || m_tiles.empty() || m_own_blocks) return;
  for (const auto& of_one : m_of_recordings)
    if (const auto tiles = of_one.lock()) tiles->end();
  for (const tile& t : m_tiles) m_runtime->inside().scheduler->destroy_later(*t.record);
  m_runtime->inside().coherence->adopted().let_go({m_all});
}

void tiled_memory::cut(std::span<const std::int64_t> ends, std::source_location site) {
  if (m_runtime->inside().scheduler->recordings().current() != nullptr)
    throw error(error_kind::usage, fmt::format("array {} is cut into other blocks inside a recording", m_name),
                file_and_line(site), "run what is recorded once before: its blocks are then as it wants them");
  cut_ahead(ends, site);
}

void tiled_memory::cut_ahead(std::span<const std::int64_t> ends, std::source_location site) {
  check(ends);
  const std::vector<exchange> exchanges = exchanges_for(m_tiles, ends);
  if (exchanges.empty()) return;
  schedule::scheduler& scheduler = *m_runtime->inside().scheduler;
  std::vector<tile> fresh = fresh_tiles(exchanges, ends);
  make_records(fresh, site);
  change all;
  try {
    all = change(m_tiles, exchanges, fresh);
    scheduler.retiler().submit(all.parts, site);
  } catch (...) {
    for (const tile& t : fresh) scheduler.destroy_later(*t.record);
    throw;
  }
  m_tiles.swap(all.after);
  m_changes += exchanges.size();
  for (block::record* const b : all.from) scheduler.destroy_later(*b);
}

tiled_memory::recorded* tiled_memory::find_here() const noexcept {
  const task::graph_recorder* const here = m_runtime->inside().scheduler->recordings().current();
  if (here == nullptr) return nullptr;
  const auto found = std::ranges::find_if(m_recorded, [&](const auto& one) { return one->by == here; });
  return found != m_recorded.end() ? found->get() : nullptr;
}

std::span<const tiled_memory::tile> tiled_memory::tiles_here() const noexcept {
  const recorded* const here = find_here();
  return here != nullptr ? here->now : m_tiles;
}

bool tiled_memory::is_cut_here() const noexcept { return !m_recorded.empty() && find_here() != nullptr; }

void tiled_memory::cut_recorded(std::span<const std::int64_t> ends, std::source_location site) {
  check(ends);
  schedule::scheduler& scheduler = *m_runtime->inside().scheduler;
  recorded* here = find_here();
  if (here == nullptr) {
    auto blocks = std::make_shared<made_for_recording>(m_alive, scheduler);
    std::erase_if(m_of_recordings, [](const auto& one) { return one.expired(); });
    m_of_recordings.push_back(blocks);
    scheduler.recordings().current()->keep(blocks);
    m_recorded.push_back(
        std::make_unique<recorded>(recorded{scheduler.recordings().current(), m_tiles, std::move(blocks)}));
    here = m_recorded.back().get();
  }
  const std::vector<exchange> exchanges = exchanges_for(here->now, ends);
  if (exchanges.empty()) return;
  std::vector<tile> fresh = fresh_tiles(exchanges, ends);
  make_missing(fresh, *here, site);
  change all(here->now, exchanges, fresh);
  scheduler.retiler().record(all.parts, site);
  here->now.swap(all.after);
}

void tiled_memory::end_recorded(bool finished, std::source_location site) {
  recorded* const here = find_here();
  if (here == nullptr) return;
  const auto at = std::ranges::find(m_recorded, here, &std::unique_ptr<recorded>::get);
  const std::unique_ptr<recorded> ending = std::move(*at);
  m_recorded.erase(at);
  if (!finished) return;
  std::vector<std::int64_t> ends;
  for (const tile& t : m_tiles) ends.push_back(t.end);
  const std::vector<exchange> exchanges = exchanges_for(ending->now, ends);
  std::vector<tile> again = fresh_tiles(exchanges, ends);
  make_missing(again, *ending, site);
  const change all(ending->now, exchanges, again);
  m_runtime->inside().scheduler->retiler().record(all.parts, site);
}

/// Finds the blocks of tiles that everybody has, or that the recording had in a split before, and makes the others.
void tiled_memory::make_missing(std::vector<tile>& fresh, recorded& in, std::source_location site) {
  std::map<made_for_recording::interval, block::record*>& known = in.blocks->all;
  std::vector<tile> missing;
  for (tile& t : fresh) {
    if (const auto same = std::ranges::lower_bound(m_tiles, t.begin, {}, &tile::begin);
        same != m_tiles.end() && same->begin == t.begin && same->end == t.end)
      t.record = same->record;
    else if (const auto before = known.find({t.begin, t.end}); before != known.end())
      t.record = before->second;
    else
      missing.push_back(t);
  }
  if (missing.empty()) return;
  std::map<made_for_recording::interval, block::record*> added;  // before the blocks, which nobody else would end
  for (const tile& t : missing) added[{t.begin, t.end}] = nullptr;
  make_records(missing, site);
  for (const tile& t : missing) added.at({t.begin, t.end}) = t.record;
  for (tile& t : fresh)
    if (t.record == nullptr) t.record = added.at({t.begin, t.end});
  known.merge(added);
}

void tiled_memory::check(std::span<const std::int64_t> ends) const {
  if (m_own_blocks)
    throw error(error_kind::usage, fmt::format("array {} was given blocks, and keeps them", m_name), {},
                "an array that is made without blocks is cut as its uses need");
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

/// Where the tiles are not as wanted. One pass over both.
std::vector<tiled_memory::exchange> tiled_memory::exchanges_for(std::span<const tile> tiles,
                                                                std::span<const std::int64_t> ends) {
  std::vector<exchange> all;
  for (std::size_t k = 0, next = 0; next < ends.size(); ++k, ++next) {
    const std::size_t first = k, first_end = next;  // they begin at the same row; go on to the same end
    while (tiles[k].end != ends[next]) ++(tiles[k].end < ends[next] ? k : next);
    if (k != first || next != first_end) all.push_back({first, k - first + 1, first_end, next - first_end + 1});
  }
  return all;
}

/// Those that take the place of others, without their blocks.
std::vector<tiled_memory::tile> tiled_memory::fresh_tiles(std::span<const exchange> exchanges,
                                                          std::span<const std::int64_t> ends) {
  std::vector<tile> fresh;
  for (const exchange& e : exchanges)
    for (std::size_t k = e.first_new; k < e.first_new + e.new_count; ++k)
      fresh.push_back({k == 0 ? 0 : ends[k - 1], ends[k], nullptr});
  return fresh;
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
