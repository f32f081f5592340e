#include "hierarchy/region/storage.hpp"

#include <cstring>
#include <exception>

#include "core/runtime/inside.hpp"
#include "tessera/region.hpp"

namespace tessera::hierarchy {

std::shared_ptr<const void> array_storage::keep_tiles() {
  std::shared_ptr<const void> kept = m_kept.lock();
  if (kept == nullptr) m_kept = kept = std::make_shared<const char>();
  return kept;
}

reduction_storage::reduction_storage(runtime& of, std::string name, element_type type)
    : m_name(std::move(name)), m_type(type), m_alive(of.inside().scheduler->alive()), m_group(of, m_name, {1}) {
  m_blocks.push_back(&m_group.make(m_type, shape{1}, 0, std::source_location::current()));
}

reduction_storage::~reduction_storage() {
  if (const lifetime::visit here = enter(m_alive))
    for (block::record* const b : m_blocks) m_group.destroy(*b);
}

block::record& reduction_storage::part(std::size_t k, std::source_location site) {
  while (m_blocks.size() <= k + 1) {
    m_blocks.reserve(m_blocks.size() + 1);
    m_blocks.push_back(&m_group.make(m_type, shape{1}, static_cast<std::uint32_t>(m_blocks.size()), site));
  }
  return *m_blocks[k + 1];
}

}  // namespace tessera::hierarchy

namespace tessera::detail {

const std::string& region_array_handle::name() const noexcept { return m_storage->name(); }
const row_extents& region_array_handle::extents() const noexcept { return m_storage->extents(); }
const row_extents& extents_of(const hierarchy::array_storage& array) noexcept { return array.extents(); }

std::string region_array_handle::location() const {
  return m_storage->tiles().owner().tree().at(m_storage->at()).properties.name;
}

void region_array_handle::move(std::string_view to) { m_storage->move(m_storage->tiles().owner().at(to)); }

held_rows region_array_handle::hold(intent how, std::source_location site) const {
  tiled_memory& tiles = m_storage->tiles();
  std::vector<held_block> held;
  std::vector<std::uint64_t> bytes;
  {
    const std::lock_guard guard(*m_storage);
    if (tiles.rows() == 0)
      throw error(error_kind::usage, "array '" + m_storage->name() + "' has no elements to look at");
    if (!m_storage->keeps_tiles()) tiles.cut(std::array{tiles.rows()}, site);  // so that all of it is one block
    held.reserve(tiles.tiles().size()), bytes.reserve(tiles.tiles().size());
    for (const tiled_memory::tile& t : tiles.tiles()) {
      held.push_back(held_block::request(tiles.owner(), *t.record, how, site));
      bytes.push_back(t.record->bytes);
    }
  }
  std::exception_ptr failed;  // of the first one; the others are taken and given back all the same
  for (held_block& tile : held) try {
      tile.wait();  // without the lock: it runs tasks meanwhile
    } catch (...) {
      if (!failed) failed = std::current_exception();
    }
  if (failed) std::rethrow_exception(failed);
  return {std::move(held), std::move(bytes), how};
}

held_rows::held_rows(std::vector<held_block> tiles, std::vector<std::uint64_t> bytes, intent how)
    : m_tiles(std::move(tiles)), m_bytes(std::move(bytes)), m_how(how) {
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
    if (m_how != intent::write) std::memcpy(to, m_tiles[k].data(), m_bytes[k]);
}

held_rows::~held_rows() {
  if (m_copy == nullptr || m_how == intent::read || m_tiles.front().ended()) return;
  const std::byte* from = m_copy.get();
  for (std::size_t k = 0; k < m_tiles.size(); from += m_bytes[k++]) std::memcpy(m_tiles[k].data(), from, m_bytes[k]);
}

region_result_handle::region_result_handle(runtime& of, std::string name, element_type type)
    : m_storage(std::make_shared<hierarchy::reduction_storage>(of, std::move(name), type)) {}

held_block region_result_handle::hold(std::source_location site) const {
  held_block held = [&] {
    const std::lock_guard guard(*m_storage);
    return held_block::request(m_storage->owner(), m_storage->value(), intent::read, site);
  }();
  held.wait();
  return held;
}

}  // namespace tessera::detail
