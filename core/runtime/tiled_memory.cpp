#include "tessera/detail/tiled_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "core/base/call_site.hpp"
#include "core/runtime/inside.hpp"

namespace tessera {

/// Neighbouring tiles that other ones take the place of: of the old ones, and of the ends wanted.
struct tiled_memory::exchange {
  std::size_t first_old, old_count, first_new, new_count;
};

/// Tiles in the order of their rows. A few are found, and exchanged for others, in time for those; all of them are
/// listed when somebody asks.
class tiled_memory::tile_list {
 public:
  explicit tile_list(std::vector<tile> all) noexcept : m_listed(std::move(all)) {}

  std::span<const tile> all() {
    if (!m_is_listed) {
      m_listed.assign(m_ordered.begin(), m_ordered.end());
      m_is_listed = true;
      m_visits += m_listed.size();
    }
    return m_listed;
  }
  std::span<const tile> with(std::int64_t begin, std::int64_t end, std::vector<tile>& room) {
    if (begin >= end) return {};
    if (!m_is_listed && m_asked > m_ordered.size()) (void)all();  // nobody cuts any more
    std::span<const tile> found;
    if (m_is_listed) {
      const auto first = std::ranges::partition_point(m_listed, [&](const tile& t) { return t.end <= begin; });
      const auto last = std::partition_point(first, m_listed.end(), [&](const tile& t) { return t.begin < end; });
      found = {first, last};
    } else {
      room.clear();
      const auto behind = m_ordered.upper_bound(begin);
      for (auto t = behind != m_ordered.begin() ? std::prev(behind) : behind; t != m_ordered.end() && t->begin < end;)
        room.push_back(*t++);
      found = room;
      m_asked += found.size();
    }
    m_visits += found.size();
    return found;
  }
  struct by_row {
    using is_transparent = void;
    bool operator()(const tile& a, const tile& b) const noexcept { return a.begin < b.begin; }
    bool operator()(const tile& a, std::int64_t row) const noexcept { return a.begin < row; }
    bool operator()(std::int64_t row, const tile& a) const noexcept { return row < a.begin; }
  };
  using ordered = std::set<tile, by_row>;
  /// What tiles are exchanged for. All that takes memory is done before the exchange.
  struct replacement {
    bool whole = false;       // all tiles of the list were looked at
    std::vector<tile> all;    // where they were: those of the whole list, from now on
    std::vector<tile> old;    // where not: those that go
    ordered fresh;            // and those that come
    std::size_t changed = 0;  // tiles that go or come
  };
  /// @param among  neighbouring tiles of the list @param exchanges  of these @param fresh  what comes in their place
  replacement prepare(std::span<const tile> among, std::span<const exchange> exchanges, std::span<const tile> fresh);
  void take(replacement next) noexcept {
    m_visits += next.changed;
    if (next.whole) {
      m_listed = std::move(next.all);
      m_visits += m_listed.size();
      m_ordered.clear();
    } else {
      for (const tile& t : next.old) m_ordered.erase(m_ordered.find(t.begin));
      m_ordered.merge(next.fresh);
    }
    m_is_listed = next.whole;
    m_asked = 0;
  }
  void for_each(const auto& what) const {
    if (m_is_listed)
      std::ranges::for_each(m_listed, what);
    else
      std::ranges::for_each(m_ordered, what);
  }
  std::uint64_t visits() const noexcept { return m_visits; }

 private:
  std::vector<tile> m_listed;
  bool m_is_listed = true;
  ordered m_ordered;        // nothing where the whole list was the last that was exchanged
  std::size_t m_asked = 0;  // tiles, since the last exchange
  std::uint64_t m_visits = 0;
};

tiled_memory::tile_list::replacement tiled_memory::tile_list::prepare(std::span<const tile> among,
                                                                      std::span<const exchange> exchanges,
                                                                      std::span<const tile> fresh) {
  replacement next;
  next.whole = among.size() == (m_is_listed ? m_listed.size() : m_ordered.size());
  next.changed = fresh.size();
  for (const exchange& e : exchanges) next.changed += e.old_count;
  if (!next.whole) {
    if (m_ordered.empty()) m_ordered.insert(m_listed.begin(), m_listed.end());
    next.old.reserve(next.changed - fresh.size());
    for (const exchange& e : exchanges) {
      const std::span<const tile> of = among.subspan(e.first_old, e.old_count);
      next.old.insert(next.old.end(), of.begin(), of.end());
    }
    next.fresh.insert(fresh.begin(), fresh.end());
    return next;
  }
  next.all.reserve(among.size() + fresh.size());
  auto stays = among.begin();
  auto comes = fresh.begin();
  for (const exchange& e : exchanges) {
    const auto first = among.begin() + static_cast<std::ptrdiff_t>(e.first_old);
    const auto behind = comes + static_cast<std::ptrdiff_t>(e.new_count);
    next.all.insert(next.all.end(), stays, first);
    next.all.insert(next.all.end(), comes, behind);
    stays = first + static_cast<std::ptrdiff_t>(e.old_count);
    comes = behind;
  }
  next.all.insert(next.all.end(), stays, among.end());
  return next;
}

/// What takes the place of what.
struct tiled_memory::change {
  std::vector<block::record*> from, to;
  std::vector<schedule::retiling> parts;  // of from and to

  change(std::span<const tile> before, std::span<const exchange> exchanges, std::span<const tile> fresh) {
    from.reserve(before.size()), to.reserve(fresh.size()), parts.reserve(exchanges.size());
    for (const exchange& e : exchanges)
      for (const tile& t : before.subspan(e.first_old, e.old_count)) from.push_back(t.record);
    for (const tile& t : fresh) to.push_back(t.record);
    std::size_t old_taken = 0, new_taken = 0;
    for (const exchange& e : exchanges) {
      parts.push_back({std::span(from).subspan(old_taken, e.old_count), std::span(to).subspan(new_taken, e.new_count)});
      old_taken += e.old_count, new_taken += e.new_count;
    }
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
  tile_list now;
  std::shared_ptr<made_for_recording> blocks;
};

tiled_memory::tiled_memory(runtime& of, std::string name, element_type type, void* memory,
                           std::shared_ptr<const void> owner, std::int64_t rows, std::int64_t row_elements,
                           std::source_location site, std::int64_t per_element)
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
  auto tiles = std::make_unique<tile_list>(std::vector<tile>());
  if (rows == 0) {
    m_tiles = std::move(tiles);
    return;
  }
  runtime_inside& inside = of.inside();
  std::vector<tile> first{{0, rows, nullptr}};
  transfer::adopted_memory& adopted = inside.coherence->adopted();
  const block::chunk all = adopted.take_over(memory, static_cast<std::uint64_t>(rows * row_elements) * size_of(type),
                                             inside.scheduler->facts().places.front()->space, m_owner);
  m_all = all.word;
  try {
    m_origin = inside.blocks.make_origin(m_name, {m_rows}, false, per_element);
    make_records(first, site);
    *tiles = tile_list(std::move(first));
    m_tiles = std::move(tiles);
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
      m_tiles(std::make_unique<tile_list>(std::move(blocks))) {}

tiled_memory::~tiled_memory() {
  const lifetime::visit here = enter(m_alive);
  if (!here || m_rows == 0 || m_own_blocks) return;
  for (const auto& of_one : m_of_recordings)
    if (const auto tiles = of_one.lock()) tiles->end();
  m_tiles->for_each([&](const tile& t) { m_runtime->inside().scheduler->destroy_later(*t.record); });
  m_runtime->inside().coherence->adopted().let_go({m_all});
}

std::span<const tiled_memory::tile> tiled_memory::tiles() const { return list_here().all(); }

std::span<const tiled_memory::tile> tiled_memory::tiles_with(std::int64_t begin, std::int64_t end,
                                                             std::vector<tile>& room) const {
  return list_here().with(begin, end, room);
}

std::uint64_t tiled_memory::visits() const noexcept { return list_here().visits(); }

void tiled_memory::cut(const ends_of_rows& to, std::source_location site) {
  if (m_runtime->inside().scheduler->recordings().current() != nullptr)
    throw error(error_kind::usage, fmt::format("array {} is cut into other blocks inside a recording", m_name),
                file_and_line(site), "run what is recorded once before: its blocks are then as it wants them");
  cut_ahead(to, site);
}

void tiled_memory::cut_ahead(const ends_of_rows& to, std::source_location site) {
  const std::vector<tile> before = tiles_to_cut(*m_tiles, to);
  const std::vector<exchange> exchanges = exchanges_for(before, to);
  if (exchanges.empty()) return;
  schedule::scheduler& scheduler = *m_runtime->inside().scheduler;
  std::vector<tile> fresh = fresh_tiles(exchanges, to);
  make_records(fresh, site);
  try {
    const change all(before, exchanges, fresh);
    tile_list::replacement next = m_tiles->prepare(before, exchanges, fresh);
    scheduler.retiler().submit(all.parts, site);
    m_tiles->take(std::move(next));
  } catch (...) {
    for (const tile& t : fresh) scheduler.destroy_later(*t.record);
    throw;
  }
  m_changes += exchanges.size();
  for (const exchange& e : exchanges)
    for (const tile& t : std::span(before).subspan(e.first_old, e.old_count)) scheduler.destroy_later(*t.record);
}

tiled_memory::recorded* tiled_memory::find_here() const noexcept {
  const task::graph_recorder* const here = m_runtime->inside().scheduler->recordings().current();
  if (here == nullptr) return nullptr;
  const auto found = std::ranges::find_if(m_recorded, [&](const auto& one) { return one->by == here; });
  return found != m_recorded.end() ? found->get() : nullptr;
}

tiled_memory::tile_list& tiled_memory::list_here() const noexcept {
  recorded* const here = m_recorded.empty() ? nullptr : find_here();
  return here != nullptr ? here->now : *m_tiles;
}

bool tiled_memory::is_cut_here() const noexcept { return !m_recorded.empty() && find_here() != nullptr; }

void tiled_memory::cut_recorded(const ends_of_rows& to, std::source_location site) {
  schedule::scheduler& scheduler = *m_runtime->inside().scheduler;
  recorded* here = find_here();
  std::unique_ptr<recorded> first;  // enters when nothing can fail any more
  if (here == nullptr) {
    const std::span<const tile> all = m_tiles->all();
    first = std::make_unique<recorded>(recorded{scheduler.recordings().current(),
                                                tile_list(std::vector<tile>(all.begin(), all.end())),
                                                std::make_shared<made_for_recording>(m_alive, scheduler)});
    here = first.get();
  }
  const std::vector<tile> before = tiles_to_cut(here->now, to);
  if (first != nullptr) {
    std::erase_if(m_of_recordings, [](const auto& one) { return one.expired(); });
    m_of_recordings.push_back(first->blocks);
    scheduler.recordings().current()->keep(first->blocks);
    m_recorded.push_back(std::move(first));
  }
  const std::vector<exchange> exchanges = exchanges_for(before, to);
  if (exchanges.empty()) return;
  std::vector<tile> fresh = fresh_tiles(exchanges, to);
  make_missing(fresh, *here, site);
  const change all(before, exchanges, fresh);
  tile_list::replacement next = here->now.prepare(before, exchanges, fresh);
  scheduler.retiler().record(all.parts, site);
  here->now.take(std::move(next));
}

void tiled_memory::end_recorded(bool finished, std::source_location site) {
  recorded* const here = find_here();
  if (here == nullptr) return;
  const auto at = std::ranges::find(m_recorded, here, &std::unique_ptr<recorded>::get);
  const std::unique_ptr<recorded> ending = std::move(*at);
  m_recorded.erase(at);
  if (!finished) return;
  std::vector<std::int64_t> ends;
  for (const tile& t : m_tiles->all()) ends.push_back(t.end);
  const ends_of_rows to{0, ends};
  const std::span<const tile> before = ending->now.all();
  const std::vector<exchange> exchanges = exchanges_for(before, to);
  std::vector<tile> again = fresh_tiles(exchanges, to);
  make_missing(again, *ending, site);
  const change all(before, exchanges, again);
  m_runtime->inside().scheduler->retiler().record(all.parts, site);
}

/// Finds the blocks of tiles that everybody has, or that the recording had in a split before, and makes the others.
void tiled_memory::make_missing(std::vector<tile>& fresh, recorded& in, std::source_location site) {
  std::map<made_for_recording::interval, block::record*>& known = in.blocks->all;
  std::vector<tile> missing;
  std::vector<tile> room;
  for (tile& t : fresh) {
    if (const std::span<const tile> same = m_tiles->with(t.begin, t.begin + 1, room);
        same.front().begin == t.begin && same.front().end == t.end)
      t.record = same.front().record;
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

/// The tiles of the rows, which begin and end where these do. Throws usage where they do not, and for other ends.
std::vector<tiled_memory::tile> tiled_memory::tiles_to_cut(tile_list& of, const ends_of_rows& to) const {
  if (m_own_blocks)
    throw error(error_kind::usage, fmt::format("array {} was given blocks, and keeps them", m_name), {},
                "an array that is made without blocks is cut as its uses need");
  std::int64_t begin = to.begin;
  for (const std::int64_t end : to.ends) {
    if (begin < 0 || end <= begin || end > m_rows)
      throw error(error_kind::usage,
                  fmt::format("array {} of {} rows is cut at rows {} and {}", m_name, m_rows, begin, end));
    begin = end;
  }
  std::vector<tile> room;
  const std::span<const tile> tiles = of.with(to.begin, begin, room);
  const bool fits = tiles.empty() ? m_rows == 0 : tiles.front().begin == to.begin && tiles.back().end == begin;
  if (!fits)
    throw error(
        error_kind::usage,
        fmt::format("the tiles of rows {} to {} of array {} are cut, and rows {} to {} have them", to.begin, begin,
                    m_name, tiles.empty() ? 0 : tiles.front().begin, tiles.empty() ? m_rows : tiles.back().end));
  return {tiles.begin(), tiles.end()};
}

/// Where the tiles are not as wanted. One pass over both.
std::vector<tiled_memory::exchange> tiled_memory::exchanges_for(std::span<const tile> tiles, const ends_of_rows& to) {
  const std::span<const std::int64_t> ends = to.ends;
  std::vector<exchange> all;
  for (std::size_t k = 0, next = 0; next < ends.size(); ++k, ++next) {
    const std::size_t first = k, first_end = next;  // they begin at the same row; go on to the same end
    while (tiles[k].end != ends[next]) ++(tiles[k].end < ends[next] ? k : next);
    if (k != first || next != first_end) all.push_back({first, k - first + 1, first_end, next - first_end + 1});
  }
  return all;
}

/// Those that take the place of others, without their blocks.
std::vector<tiled_memory::tile> tiled_memory::fresh_tiles(std::span<const exchange> exchanges, const ends_of_rows& to) {
  std::vector<tile> fresh;
  for (const exchange& e : exchanges)
    for (std::size_t k = e.first_new; k < e.first_new + e.new_count; ++k)
      fresh.push_back({k == 0 ? to.begin : to.ends[k - 1], to.ends[k], nullptr});
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
    if (records.empty() && m_tiles == nullptr) inside.blocks.forget_origin(m_origin);  // no block has it
    throw;
  }
  for (std::size_t k = 0; k < fresh.size(); ++k) fresh[k].record = records[k];
}

}  // namespace tessera
