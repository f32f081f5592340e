#include "hierarchy/region/storage.hpp"

#include <exception>

#include "core/runtime/inside.hpp"
#include "tessera/region.hpp"

namespace tessera::hierarchy {

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

std::vector<held_block> region_array_handle::hold(intent how, std::source_location site) const {
  tiled_memory& tiles = m_storage->tiles();
  std::vector<block::record*> wanted;
  std::vector<held_block> held;
  {
    const std::lock_guard guard(*m_storage);
    if (tiles.rows() == 0)
      throw error(error_kind::usage, "array '" + m_storage->name() + "' has no elements to look at");
    if (m_storage->keeps_tiles()) {
      if (tiles.owner().validates() && tiles.tiles().size() > 1)
        throw error(error_kind::usage, "array '" + m_storage->name() + "' is used by a recording", {},
                    "while validating, such an array is shown only where one task uses all of it");
    } else {
      tiles.cut(std::array{tiles.rows()}, site);  // so that all of it is one block
    }
    held.reserve(tiles.tiles().size());
    for (const tiled_memory::tile& t : tiles.tiles())
      held.push_back(held_block::request(tiles.owner(), *t.record, how, site));
  }
  std::exception_ptr failed;  // of the first one; the others are taken and given back all the same
  for (held_block& tile : held) try {
      tile.wait();  // without the lock: it runs tasks meanwhile
    } catch (...) {
      if (!failed) failed = std::current_exception();
    }
  if (failed) std::rethrow_exception(failed);
  return held;
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
