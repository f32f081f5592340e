#include "hierarchy/region/made_arrays.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/call_site.hpp"
#include "core/base/error.hpp"
#include "hierarchy/region/adopted_ranges.hpp"
#include "hierarchy/region/array_memory.hpp"

namespace tessera::hierarchy {

row_extents stored_extents(const std::string& name, std::span<const std::int64_t> extents, std::int64_t per_element,
                           const std::source_location& site) {
  if (extents.empty() || extents.size() > 3)
    throw error(
        error_kind::usage,
        fmt::format("array '{}' would have {} dimensions, and regions go over one to three", name, extents.size()),
        file_and_line(site), "with the extents of its blocks an array may have up to 8");
  return {extents[0], extents.size() > 1 ? extents[1] : 1, (extents.size() > 2 ? extents[2] : 1) * per_element,
          per_element};
}

std::uint64_t bytes_of(const std::string& name, element_type type, const row_extents& e,
                       const std::source_location& site) {
  std::int64_t bytes = 0;
  if (e.rows < 0 || e.second < 1 || e.third < 1 || __builtin_mul_overflow(e.second, e.third, &bytes) ||
      __builtin_mul_overflow(bytes, e.rows, &bytes) ||
      __builtin_mul_overflow(bytes, static_cast<std::int64_t>(size_of(type)), &bytes) ||
      bytes > (std::int64_t{1} << 46))
    throw error(error_kind::usage, fmt::format("array '{}' has extents {} x {} x {}", name, e.rows, e.second, e.third),
                file_and_line(site),
                "rows may be 0, the others at least 1, and all elements together at most 2^46 bytes");
  return static_cast<std::uint64_t>(bytes);
}

location::node_id array_maker::placed_at(const std::string& name, const array_options& options) const {
  return options.at.empty() ? m_tree->now()->root()
                            : m_tree->at(options.at, fmt::format("array '{}' at {}", name, file_and_line(m_site)));
}

std::shared_ptr<memory_claim> array_maker::claim(const std::string& name, std::uint64_t bytes, location::node_id at,
                                                 bool of_file) const {
  try {
    return m_tree->claim(name, bytes, at, of_file, m_site);
  } catch (const error&) {  // arrays that have ended give their memory back with their last tasks
    finish_ended_arrays(m_runtime);
    return m_tree->claim(name, bytes, at, of_file, m_site);
  }
}

std::shared_ptr<array_storage> array_maker::add(std::string name, element_type type, void* data,
                                                std::shared_ptr<const void> memory, const row_extents& extents,
                                                const array_options& options) const {
  const location::node_id at = placed_at(name, options);
  const bool foreign = memory == nullptr;
  const auto ranges = adopted_ranges::of(m_runtime);
  std::shared_ptr<adopted_ranges::claim> claimed;
  if (foreign && extents.rows != 0)
    memory = claimed = ranges->take(data, bytes_of(name, type, extents, m_site), name, file_and_line(m_site));
  const auto storage = [&] {
    try {
      return std::make_shared<array_storage>(m_runtime, name, type, data, std::move(memory), extents, m_tree, at,
                                             m_site);
    } catch (const error& e) {  // the memory takes no more arrays
      if (e.kind() != error_kind::memory || !e.where().empty()) throw;
      throw error(e.kind(), fmt::format("array '{}' cannot be made: {}", name, e.message()), file_and_line(m_site),
                  e.hint());
    }
  }();
  if (claimed != nullptr) ranges->hold(*claimed, storage);
  if (options.distance) storage->set_distance(*options.distance);
  m_tree->enter(*storage, foreign, m_site);
  return storage;
}

std::shared_ptr<array_storage> array_maker::fresh(std::string name, element_type type, const row_extents& extents,
                                                  const std::shared_ptr<memory_claim>& claimed,
                                                  const array_options& options) const {
  auto memory = array_memory::fresh(bytes_of(name, type, extents, m_site), name);
  memory->keep(claimed);
  void* const data = memory->data();
  auto storage = add(std::move(name), type, data, std::move(memory), extents, options);
  m_tree->give(claimed, *storage);
  return storage;
}

}  // namespace tessera::hierarchy

namespace tessera::detail {

array_handle make_rows(runtime& of, std::string name, element_type type, std::int64_t per_element,
                       std::span<const std::int64_t> extents, std::source_location site) {
  const row_extents stored = hierarchy::stored_extents(name, extents, per_element, site);
  const hierarchy::array_maker makes(of, hierarchy::live_tree::of(of), site);
  const auto claimed =
      makes.claim(name, hierarchy::bytes_of(name, type, stored, site), makes.placed_at(name, {}), false);
  auto rows = makes.fresh(name, type, stored, claimed, {});
  return array_handle(
      std::make_shared<array_state>(of, std::move(name), type, per_element, shape(extents), std::move(rows)));
}

}  // namespace tessera::detail
