#pragma once
// Arrays without blocks: from a call that makes one to its tiles.
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string>

#include "hierarchy/region/live_tree.hpp"
#include "hierarchy/region/storage.hpp"
#include "tessera/detail/array.hpp"

namespace tessera::hierarchy {

/// Extents in elements as the runtime has them. Throws usage for another number of dimensions than regions have.
row_extents stored_extents(const std::string& name, std::span<const std::int64_t> extents, std::int64_t per_element,
                           const std::source_location& site);
/// Bytes of the elements. Throws usage for extents that are negative or too large.
std::uint64_t bytes_of(const std::string& name, element_type type, const row_extents& e,
                       const std::source_location& site);

/// A call that makes an array, on the stack of the caller.
class array_maker {
 public:
  /// @param tree  in which arrays are placed  @param site  of the call, for messages
  array_maker(runtime& of, std::shared_ptr<live_tree> tree, std::source_location site) noexcept
      : m_runtime(of), m_tree(std::move(tree)), m_site(site) {}
  const live_tree& tree() const noexcept { return *m_tree; }
  /// Throws usage for a location that there is not.
  location::node_id placed_at(const std::string& name, const array_options& options) const;
  /// Counts the bytes at a location, and waits for arrays that have ended where there is no room. Throws memory.
  std::shared_ptr<memory_claim> claim(const std::string& name, std::uint64_t bytes, location::node_id at,
                                      bool of_file) const;
  /// An array over memory, with its place in the tree. @param memory  owns `data`; null: the program does. Throws usage
  /// for memory that another array has, and memory where there are too many.
  std::shared_ptr<array_storage> add(std::string name, element_type type, void* data,
                                     std::shared_ptr<const void> memory, const row_extents& extents,
                                     const array_options& options) const;
  /// The same over fresh pages. Throws memory.
  std::shared_ptr<array_storage> fresh(std::string name, element_type type, const row_extents& extents,
                                       const std::shared_ptr<memory_claim>& claimed,
                                       const array_options& options) const;

 private:
  runtime& m_runtime;
  const std::shared_ptr<live_tree> m_tree;
  const std::source_location m_site;
};

}  // namespace tessera::hierarchy
