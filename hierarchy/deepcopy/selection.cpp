#include "hierarchy/deepcopy/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "hierarchy/deepcopy/type_name.hpp"

namespace tessera::hierarchy {

/// Reads "children[3].values" into a tree.
class path_reader {
 public:
  path_reader(std::string_view path, selected_member& root) : m_path(path), m_at(&root) {}

  void read() {
    do {
      const std::string name = read_name();
      const std::int64_t index = read_index();
      step(name, index);
    } while (take('.'));
    if (m_next != m_path.size()) refuse("'.', '[' or the end");
    m_at->m_whole = true;
  }

 private:
  [[noreturn]] void refuse(std::string_view expected) const {
    throw error(error_kind::usage,
                fmt::format("the path '{}' is none: at character {} {} was expected", m_path, m_next + 1, expected), {},
                "paths are names of members from the root on: \"atoms.positions\", \"children[3].values\", "
                "\"children[*].values\"");
  }
  bool take(char c) {
    if (m_next == m_path.size() || m_path[m_next] != c) return false;
    ++m_next;
    return true;
  }
  std::string read_name() {
    const std::size_t end = std::min(m_path.find_first_of(".[]", m_next), m_path.size());
    if (end == m_next) refuse("the name of a member");
    const std::string_view name = m_path.substr(m_next, end - m_next);
    m_next = end;
    return std::string(name);
  }
  std::int64_t read_index() {
    if (!take('[')) return selected_member::all_elements;
    std::int64_t index = selected_member::all_elements;
    if (!take('*')) {
      const auto [end, code] = std::from_chars(m_path.data() + m_next, m_path.data() + m_path.size(), index);
      if (code != std::errc() || index < 0) refuse("an index, or *,");
      m_next = static_cast<std::size_t>(end - m_path.data());
    }
    if (!take(']')) refuse("']'");
    return index;
  }
  void step(const std::string& name, std::int64_t index) {
    auto& below = m_at->m_below;
    const auto found =
        std::ranges::find_if(below, [&](const auto& one) { return one->m_name == name && one->m_index == index; });
    if (found != below.end()) {
      m_at = found->get();
      return;
    }
    auto made = std::make_unique<selected_member>();
    made->m_name = name;
    made->m_index = index;
    made->m_path = m_path.substr(0, m_next);
    below.push_back(std::move(made));
    m_at = below.back().get();
  }

  std::string_view m_path;
  std::size_t m_next = 0;
  selected_member* m_at;
};

std::unique_ptr<selected_member> selected_member::tree_of(const paths& parts) {
  auto root = std::make_unique<selected_member>();
  if (parts.all) {
    root->m_whole = true;
    return root;
  }
  if (parts.names.empty())
    throw error(error_kind::usage, "a deep copy of no paths copies nothing", {},
                "name at least one path, or leave paths out to copy all");
  for (const std::string& path : parts.names) path_reader(path, *root).read();
  return root;
}

void selected_member::next_for(std::string_view member, std::vector<selected_member*>& out) {
  for (const auto& below : m_below)
    if (below->m_name == member) {
      below->m_found = true;
      out.push_back(below.get());
    }
}

void selected_member::note_object(const detail::described_type& type,
                                  std::span<const detail::described_member> members) {
  if (m_visited) return;
  m_visited = true;
  m_type = type_name(*type.type);
  for (const auto& m : members) m_members.emplace_back(m.name);
}

void selected_member::note_elements(std::int64_t count, bool has_members) {
  m_most = std::max(m_most, count);
  m_plain = m_plain || !has_members;
}

void selected_member::require_found() const {
  for (const auto& below : m_below) {
    if (!below->m_found) {
      if (m_visited) {
        const std::string near = suggest(below->m_name, m_members);
        throw error(error_kind::usage,
                    fmt::format("path '{}': {} describes no member '{}'", below->m_path, m_type, below->m_name), {},
                    near.empty() ? fmt::format("its members: {}", fmt::join(m_members, ", "))
                                 : fmt::format("did you mean '{}'?", near));
      }
      if (m_plain)
        throw error(error_kind::usage,
                    fmt::format("path '{}' goes on behind '{}', which has no members", below->m_path, m_path), {},
                    "end the path there");
      throw error(error_kind::usage, fmt::format("path '{}' goes on behind '{}', where nothing is: the pointer is null",
                                                 below->m_path, m_path));
    }
    if (below->m_index != all_elements && below->m_index >= below->m_most)
      throw error(error_kind::usage, fmt::format("path '{}': there is no element {}", below->m_path, below->m_index),
                  {},
                  below->m_most > 0 ? fmt::format("the array has {} elements", below->m_most) : "there is no array");
    below->require_found();
  }
}

}  // namespace tessera::hierarchy
