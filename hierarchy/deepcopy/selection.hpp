#pragma once
// Paths of a deep copy, as a tree of the members that they name. Pure.
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/deep_copy.hpp"

namespace tessera::hierarchy {

/// One member that paths name, under the members before it. The root's name is empty.
class selected_member {
 public:
  static constexpr std::int64_t all_elements = -1;

  /// The tree of all paths. Throws tessera::error (usage) for a path that is none: the position, what was expected.
  static std::unique_ptr<selected_member> tree_of(const paths& parts);

  /// A path ends here: everything below is copied.
  bool whole() const noexcept { return m_whole; }
  /// Appends to `out` the members that paths name next at an object of this type, where it has `member` in element
  /// `index` of `count`; notes that they exist.
  void next_for(std::string_view member, std::vector<selected_member*>& out);
  /// Elements that are followed: one index, or all_elements.
  std::int64_t index() const noexcept { return m_index; }

  /// An object was found whose members are these: for the message when one that a path names is not among them.
  void note_object(const detail::described_type& type, std::span<const detail::described_member> members);
  /// The member's pointer leads to so many elements.
  void note_elements(std::int64_t count, bool has_members);
  /// Throws tessera::error (usage) for the first member that does not exist, with the nearest name, for an index that
  /// no array has, and for a path that goes on where there is nothing.
  void require_found() const;

 private:
  friend class path_reader;
  std::string m_name;
  std::int64_t m_index = all_elements;
  std::string m_path;  // up to here, as written
  bool m_whole = false, m_found = false, m_visited = false, m_plain = false;
  std::int64_t m_most = -1;  // elements of the largest array found; -1: none was
  std::string m_type;        // of the first object found here, with its members
  std::vector<std::string> m_members;
  std::vector<std::unique_ptr<selected_member>> m_below;
};

}  // namespace tessera::hierarchy
