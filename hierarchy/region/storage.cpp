#include "hierarchy/region/storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <shared_mutex>

#include "core/base/call_site.hpp"
#include "core/base/lifetime.hpp"
#include "core/bytes/copy.hpp"
#include "core/runtime/program_side.hpp"
#include "core/schedule/recordings.hpp"
#include "core/schedule/replay_player.hpp"
#include "core/schedule/view_requests.hpp"
#include "core/schedule/waits.hpp"
#include "core/validate/range_uses.hpp"
#include "hierarchy/region/rows_in_use.hpp"
#include "tessera/region.hpp"

namespace tessera::hierarchy {

array_storage::array_storage(runtime& of, std::string name, element_type type, void* memory,
                             std::shared_ptr<const void> owner, const row_extents& extents,
                             std::shared_ptr<live_tree> tree, location::node_id at, std::source_location site)
    : m_runtime(of),
      m_alive(program_side_of(of).alive),
      m_name(std::move(name)),
      m_type(type),
      m_extents(extents),
      m_tree(std::move(tree)),
      m_at(at),
      m_tiles(std::make_unique<tiled_memory>(of, m_name, type, memory, std::move(owner), extents.rows,
                                             extents.row_elements(), site, extents.per_element)) {}

array_storage::array_storage(runtime& of, std::string name, element_type type, std::vector<tiled_memory::tile> blocks,
                             const row_extents& extents, std::shared_ptr<live_tree> tree, location::node_id at)
    : m_runtime(of),
      m_alive(program_side_of(of).alive),
      m_name(std::move(name)),
      m_type(type),
      m_extents(extents),
      m_tree(std::move(tree)),
      m_at(at),
      m_tiles(std::make_unique<tiled_memory>(of, m_name, type, std::move(blocks), extents.row_elements())),
      m_has_own_blocks(true) {}

const std::shared_ptr<validate::range_uses>& array_storage::uses() {
  if (m_uses == nullptr) m_uses = std::make_shared<validate::range_uses>(m_name);
  return m_uses;
}

std::shared_ptr<const void> array_storage::keep_tiles() {
  std::shared_ptr<const void> kept = m_kept.lock();
  if (kept == nullptr) m_kept = kept = std::make_shared<const char>();
  return kept;
}

bool array_storage::cut_may_wait(const row_interval& rows) const {
  return program_side_of(m_runtime).views.held_here() != 0 || m_views.cut_may_wait(rows);
}

void array_storage::cut_in_recording(const tiled_memory::ends_of_rows& to, std::source_location site) {
  if (!keeps_tiles()) {
    m_tiles->cut_ahead(to, site);
    m_views.note_region(true);
    return;
  }
  if (!m_tiles->is_cut_here())
    program_side_of(m_runtime).recordings.current()->at_end([array = weak_from_this(), site](bool finished) {
      const std::shared_ptr<array_storage> there = array.lock();
      if (there == nullptr) return;  // and its tiles have ended with it
      const std::lock_guard guard(*there);
      there->tiles().end_recorded(finished, site);
    });
  m_tiles->cut_recorded(to, site);
  program_side_of(m_runtime).recordings.current()->count_replays(
      m_views.counter(true));  // an exchange waits as one that writes
}

void array_storage::remake(std::source_location site) noexcept try {
  auto fresh = array_memory::fresh(bytes(), m_name);
  void* const data = fresh->data();
  fresh->keep(m_claimed);
  m_tiles = std::make_unique<tiled_memory>(m_runtime, m_name, m_type, data, std::move(fresh), m_extents.rows,
                                           m_extents.row_elements(), site, m_extents.per_element);
} catch (...) {  // the next region writes what is there
}

void array_storage::check_viewed(const row_interval& rows, intent how, std::source_location site) const {
  const auto refuse = [&](std::string text, std::string hint) {
    throw error(error_kind::usage, std::move(text), file_and_line(site), std::move(hint));
  };
  if (is_remade())
    refuse(fmt::format("array '{}' is made again for each region, and has nothing to look at between them", name()),
           "make it with the form automatic to keep its elements");
  if (rows.begin < 0 || rows.end < rows.begin || rows.end > m_extents.rows)
    refuse(fmt::format("a view of rows {} to {} of array '{}', which has {} rows", rows.begin, rows.end, name(),
                       m_extents.rows),
           hint_of_rows);
  if (rows.begin < rows.end) m_views.check(rows, how, name(), site);  // who waits for nothing may have it
}

std::span<const tiled_memory::tile> array_storage::tiles_for_view(const row_interval& rows, intent how,
                                                                  std::vector<tiled_memory::tile>& room,
                                                                  std::source_location site) {
  const std::span<const tiled_memory::tile> there = m_tiles->tiles_with(rows.begin, rows.end, room);
  const bool stay = has_own_blocks() || keeps_tiles() || (how == intent::read && cut_may_wait(rows));
  if (stay || cuts_fit(there, {&rows, 1}, true)) return there;
  m_tiles->cut({there.front().begin, fitting_cuts(there, {&rows, 1}, true)}, site);
  return m_tiles->tiles_with(rows.begin, rows.end, room);
}

detail::held_rows array_storage::hold(intent how, const row_interval& rows, std::source_location site) {
  const program_side& side = program_side_of(m_runtime);
  side.views.require(site);  // before anything is cut for it
  std::vector<detail::held_block> held;
  std::vector<std::uint64_t> bytes;
  std::uint64_t before = 0;
  std::shared_ptr<const void> noted;
  {
    const std::lock_guard guard(*this);
    std::shared_lock<std::shared_mutex> between_replays;  // none comes between the tiles, or before the view is noted
    if (keeps_tiles()) between_replays = side.replays.hold();
    check_viewed(rows, how, site);
    if (rows.begin == rows.end) return {};
    std::vector<tiled_memory::tile> room;
    const row_interval cut_from = with_their_tiles(m_tiles->tiles_with(rows.begin, rows.end, room), rows);
    const std::span<const tiled_memory::tile> taken = tiles_for_view(rows, how, room, site);
    const row_interval all{taken.front().begin, taken.back().end};
    rows_in_use order(m_runtime);
    order.add(*this, rows, how);
    if (order.is_validated()) order.enter("view taken", site);
    const bool of_part = all != rows && how == intent::write;
    if (of_part) how = intent::update;  // the other rows stay
    m_views.check(all, how, name(), site);
    if (how != intent::read) m_views.note_writer(cut_from);
    held.reserve(taken.size()), bytes.reserve(taken.size());
    for (const tiled_memory::tile& t : taken) {
      held.push_back(detail::held_block::request(m_runtime, *t.record, how, site, of_part));
      bytes.push_back(t.record->bytes);
    }
    noted = m_views.add(all, how);
    before = static_cast<std::uint64_t>((rows.begin - all.begin) * m_extents.row_elements()) * size_of(m_type);
  }
  std::exception_ptr failed;  // of the first one; the others are taken and given back all the same
  for (detail::held_block& tile : held) try {
      tile.wait();  // without the lock: it runs tasks meanwhile
    } catch (...) {
      if (!failed) failed = std::current_exception();
    }
  if (failed) std::rethrow_exception(failed);
  return {std::move(held), std::move(bytes), how, before, std::move(noted)};
}

void finish_ended_arrays(runtime& of) {
  const program_side& side = program_side_of(of);
  if (side.waits.in_program() && side.views.held_here() == 0) side.waits.wait(schedule::wait_request::quietly());
}

reduction_storage::reduction_storage(runtime& of, std::string name, element_type type)
    : m_name(std::move(name)), m_type(type), m_alive(program_side_of(of).alive), m_group(of, m_name, {1}, true) {
  m_blocks.push_back(&m_group.make(m_type, shape{1}, 0, std::source_location::current()));
}

reduction_storage::~reduction_storage() {
  if (const lifetime::visit here = enter(m_alive)) {
    for (block::record* const b : m_blocks) m_group.destroy(*b, std::source_location::current());
    for (const auto& [key, large] : m_large) m_group.destroy(*large, std::source_location::current());
  }
}

block::record& reduction_storage::part(std::size_t k, std::int64_t elements, std::source_location site) {
  if (elements != 1) {
    const auto found = m_large.find({k, elements});
    if (found != m_large.end()) return *found->second;
    block::record& made = m_group.make(m_type, shape{elements}, static_cast<std::uint32_t>(k + 1), site);
    return *m_large.emplace(std::pair(k, elements), &made).first->second;
  }
  while (m_blocks.size() <= k + 1) {
    m_blocks.reserve(m_blocks.size() + 1);
    m_blocks.push_back(&m_group.make(m_type, shape{1}, static_cast<std::uint32_t>(m_blocks.size()), site));
  }
  return *m_blocks[k + 1];
}

}  // namespace tessera::hierarchy

namespace tessera::detail {
namespace {

/// The rows of an array in blocks. Throws usage where no block has whole ones.
std::shared_ptr<hierarchy::array_storage> make_rows_of(array_state& of, std::source_location site) {
  const shape &extents = of.extents(), &blocks = of.block_extents();
  const auto refuse = [&](std::string text) {
    throw error(error_kind::usage, std::move(text), file_and_line(site),
                "rows have one first index: cut the array along its first dimension alone, or make it without blocks");
  };
  if (extents.rank() < 1 || extents.rank() > 3)
    refuse(fmt::format("array '{}' has {} dimensions, and a region goes over one to three", of.name(), extents.rank()));
  for (std::size_t d = 1; d < extents.rank(); ++d)
    if (blocks[d] < extents[d])
      refuse(fmt::format("array '{}' is cut into blocks along dimension {} too", of.name(), d));
  const row_extents all{extents[0], extents.rank() > 1 ? extents[1] : 1,
                        (extents.rank() > 2 ? extents[2] : 1) * of.per_element(), of.per_element()};
  std::vector<tiled_memory::tile> tiles;
  tiles.reserve(of.size());
  for (std::size_t k = 0; k < of.size(); ++k) {
    const auto begin = static_cast<std::int64_t>(k) * blocks[0];
    tiles.push_back({begin, std::min(begin + blocks[0], extents[0]), &of.at(k, site)});
  }
  auto tree = hierarchy::live_tree::of(of.owner());
  const location::node_id root = tree->now()->root();
  return std::make_shared<hierarchy::array_storage>(of.owner(), of.name(), of.type(), std::move(tiles), all,
                                                    std::move(tree), root);
}

}  // namespace

std::shared_ptr<hierarchy::array_storage> array_handle::rows_in_blocks(std::source_location site) const {
  array_state& all = *m_state;
  static auto& making = *new std::mutex;  // NOLINT: handles may be looked at after main
  const std::lock_guard guard(making);
  std::shared_ptr<hierarchy::array_storage>& rows = all.rows();
  if (rows == nullptr) {
    all.require_alive(site);
    rows = make_rows_of(all, site);
  }
  return rows;
}

row_extents array_handle::stored_rows(std::source_location site) const {
  state(site).require_alive(site);
  return rows(site)->extents();
}

std::string array_handle::location(std::source_location site) const {
  state(site).require_alive(site);
  const std::shared_ptr<hierarchy::array_storage> all = rows(site);
  return all->tree().location_of(*all);
}

void array_handle::move(std::string_view to, std::source_location site) const {
  state(site).require_alive(site);
  hierarchy::array_storage& storage = *rows(site);
  try {
    storage.tree().move(storage, to, site);
  } catch (const error& e) {
    if (e.kind() != error_kind::memory) throw;
    hierarchy::finish_ended_arrays(storage.owner());
    storage.tree().move(storage, to, site);
  }
}

held_rows array_handle::hold(intent how, std::int64_t first, std::int64_t last, std::source_location site) const {
  state(site).require_alive(site);
  return rows(site)->hold(how, {first, last}, site);
}

void array_handle::flush(std::source_location site) const {
  const array_state& all = state(site);
  all.require_alive(site);
  for (std::size_t k = 0; k < all.size(); ++k) (void)held_block(all.owner(), all.at(k, site), intent::read, site);
  if (!all.has_blocks() && rows(site)->extents().rows != 0)
    (void)hold(intent::read, 0, rows(site)->extents().rows, site);
}

row_extents extents_of(const region_demand& use) noexcept {
  return use.array != nullptr ? use.array->extents() : row_extents{};
}

void check_copy(const std::shared_ptr<hierarchy::array_storage>& from, std::int64_t first, std::int64_t last,
                const std::shared_ptr<hierarchy::array_storage>& to, std::int64_t to_first, std::int64_t to_last,
                std::source_location site) {
  const auto refuse = [&](std::string text, std::string hint = {}) {
    throw error(error_kind::usage, std::move(text), "copy at " + file_and_line(site), std::move(hint));
  };
  if (from == nullptr || to == nullptr)
    refuse(fmt::format("the array {} was moved from", from == nullptr ? "that is read" : "that is written"),
           "name the array that it was moved to");
  const auto check_part = [&](const hierarchy::array_storage& of, std::int64_t begin, std::int64_t end) {
    if (begin < 0 || end < begin || end > of.extents().rows)
      refuse(fmt::format("rows {} to {} of array '{}', which has {} rows", begin, end, of.name(), of.extents().rows),
             hierarchy::hint_of_rows);
  };
  check_part(*from, first, last);
  check_part(*to, to_first, to_last);
  if (last - first != to_last - to_first)
    refuse(fmt::format("{} rows of '{}' cannot be copied to {} rows of '{}'", last - first, from->name(),
                       to_last - to_first, to->name()),
           "both ranges need the same number of rows");
  if (from->extents().row_elements() != to->extents().row_elements())
    refuse(fmt::format("rows of '{}' have {} elements, and those of '{}' have {}", from->name(),
                       from->extents().row_elements(), to->name(), to->extents().row_elements()),
           "a copy goes by whole rows; a region can copy parts of rows");
  if (from == to && first < to_last && to_first < last)
    refuse(fmt::format("rows {} to {} of array '{}' overlap rows {} to {}, to which they would be copied", first, last,
                       from->name(), to_first, to_last),
           "copy by way of another array");
}

held_rows::held_rows(std::vector<held_block> tiles, std::vector<std::uint64_t> bytes, intent how,
                     std::uint64_t bytes_before, std::shared_ptr<const void> noted)
    : m_noted(std::move(noted)),
      m_tiles(std::move(tiles)),
      m_bytes(std::move(bytes)),
      m_how(how),
      m_before(bytes_before) {
  m_data = static_cast<std::byte*>(m_tiles.front().data());
  std::uint64_t all = 0;
  bool together = true;
  for (std::size_t k = 0; k < m_tiles.size(); all += m_bytes[k++])
    together = together && m_tiles[k].data() == m_data + all;
  if (together) return;
  m_copy = std::make_unique_for_overwrite<std::byte[]>(all);
  m_data = m_copy.get();
  std::byte* to = m_data;
  for (std::size_t k = 0; k < m_tiles.size(); to += m_bytes[k++])
    if (m_how != intent::write) copy_bytes(to, m_tiles[k].data(), m_bytes[k]);
}

held_rows::~held_rows() {
  if (m_copy == nullptr || m_how == intent::read || m_tiles.front().ended()) return;
  const std::byte* from = m_copy.get();
  for (std::size_t k = 0; k < m_tiles.size(); from += m_bytes[k++]) copy_bytes(m_tiles[k].data(), from, m_bytes[k]);
}

region_result_handle::region_result_handle(runtime& of, std::string name, element_type type)
    : m_storage(std::make_shared<hierarchy::reduction_storage>(of, std::move(name), type)) {}

held_block region_result_handle::hold(std::source_location site) const {
  if (m_storage == nullptr)
    throw error(error_kind::usage, "the result was moved from", file_and_line(site),
                "use the result that it was moved to");
  if (m_storage->alive().ended())
    throw error(error_kind::usage, fmt::format("the runtime of result '{}' has ended", m_storage->name()),
                file_and_line(site), "use arrays and results while their runtime lives: it has their elements");
  held_block held = [&] {
    const std::lock_guard guard(*m_storage);
    return held_block::request(m_storage->owner(), m_storage->value(), intent::read, site);
  }();
  held.wait();
  return held;
}

}  // namespace tessera::detail
