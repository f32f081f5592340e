#include "hierarchy/deepcopy/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/base/error.hpp"
#include "hierarchy/deepcopy/type_name.hpp"

namespace tessera::hierarchy {

/// Follows descriptions, without recursion: lists may be long.
class graph_walk {
 public:
  explicit graph_walk(object_graph& result) : m_result(result) {}

  void run(void* root, const detail::described_type& type, selected_member& selected) {
    m_ranges.push_back({static_cast<std::byte*>(root), type.bytes, type.alignment, true, false, "the root", nullptr});
    visit(root, type, {&selected});
    while (!m_open.empty()) {
      const object now = std::move(m_open.back());
      m_open.pop_back();
      look_at(now);
    }
    selected.require_found();
    make_pieces();
    find_numbers_among_objects();
    check_numbers_apart();
    place_members();
    m_result.m_root = *m_result.find(root);
  }

 private:
  using selections = std::vector<selected_member*>;
  struct range {
    std::byte* at;
    std::uint64_t bytes, alignment;
    bool objects, constant;
    std::string_view member;  // that leads there
    const detail::described_type* owner;
    std::string name() const {
      return owner == nullptr ? std::string(member) : fmt::format("'{}' of {}", member, type_name(*owner->type));
    }
    std::byte* end() const noexcept { return at + bytes; }
  };
  struct object {
    std::byte* at;
    const detail::described_type* type;
    selections selected;
  };
  /// A pointer as it was found; the target is null where no path follows it.
  struct found_pointer {
    void* target = nullptr;
    std::string_view member{};
    const detail::described_type* owner = nullptr;
  };
  struct key {
    const void* at;
    const detail::described_type* type;
    bool operator==(const key&) const = default;
  };
  struct key_hash {
    std::size_t operator()(const key& k) const noexcept {
      return std::hash<const void*>()(k.at) * 31 + std::hash<const void*>()(k.type);
    }
  };
  /// What is known of an object: with which selections it was seen.
  struct seen_object {
    selections selected;
    bool counted = false;
  };

  /// Queues an object, unless it was seen with these selections.
  void visit(void* at, const detail::described_type& type, const selections& selected) {
    selections& known = m_seen[{at, &type}].selected;
    selections fresh;
    for (selected_member* s : selected)
      if (std::ranges::find(known, s) == known.end()) fresh.push_back(s), known.push_back(s);
    if (!fresh.empty()) m_open.push_back({static_cast<std::byte*>(at), &type, std::move(fresh)});
  }

  void look_at(const object& now) {
    description said(now.at, *now.type);
    now.type->describe(now.at, said);
    for (selected_member* s : now.selected) s->note_object(*now.type, said.members());
    const bool first = !std::exchange(m_seen[{now.at, now.type}].counted, true);
    m_result.m_objects += first ? 1 : 0;
    if (first) check_members_apart(*now.type, said.members());
    for (const detail::described_member& m : said.members()) {
      if (first) m_result.m_nominal_bytes += m.bytes;
      if (m.type == nullptr) {
        if (first && !m.constant) m_numbers.push_back({now.at + m.offset, m.bytes, m.name, now.type});
        selections named;
        for (selected_member* s : now.selected) s->next_for(m.name, named);
        for (selected_member* s : named) s->note_elements(0, false);
      } else {
        follow(now, m);
      }
    }
  }

  void follow(const object& now, const detail::described_member& m) {
    selections next;
    for (selected_member* s : now.selected) {
      if (s->whole()) next.push_back(s);  // goes on below itself
      s->next_for(m.name, next);
    }
    found_pointer& pointer = m_targets[now.at + m.offset];  // null at first
    pointer.member = m.name, pointer.owner = now.type;
    if (next.empty() || m.target == nullptr || m.count == 0) return;
    pointer.target = m.target;
    const bool has_members = m.type->describe != nullptr;
    for (selected_member* s : next) s->note_elements(m.count, has_members);
    m_ranges.push_back({static_cast<std::byte*>(m.target), static_cast<std::uint64_t>(m.count) * m.type->bytes,
                        m.type->alignment, has_members, m.constant, m.name, now.type});
    if (!has_members) return;
    const auto element = [&](std::int64_t k, const selections& with) {
      visit(static_cast<std::byte*>(m.target) + static_cast<std::uint64_t>(k) * m.type->bytes, *m.type, with);
    };
    selections of_all;
    for (selected_member* s : next)
      if (s->index() == selected_member::all_elements || (s->whole() && is_from(now, s)))
        of_all.push_back(s);
      else if (s->index() < m.count)
        element(s->index(), {s});
    for (std::int64_t k = 0; k < m.count; ++k) of_all.empty() ? describe_only(m, k) : element(k, of_all);
  }
  /// Whether a selection goes on below itself: its index was for an earlier array.
  static bool is_from(const object& now, const selected_member* s) {
    return std::ranges::find(now.selected, s) != now.selected.end();
  }
  /// An element that no path goes through: it is copied with its array, and its pointers are null.
  void describe_only(const detail::described_member& m, std::int64_t k) {
    std::byte* const at = static_cast<std::byte*>(m.target) + static_cast<std::uint64_t>(k) * m.type->bytes;
    if (std::exchange(m_seen[{at, m.type}].counted, true)) return;
    ++m_result.m_objects;
    description said(at, *m.type);
    m.type->describe(at, said);
    for (const detail::described_member& member : said.members()) {
      m_result.m_nominal_bytes += member.bytes;
      if (member.type != nullptr)
        m_targets.try_emplace(at + member.offset, found_pointer{nullptr, member.name, m.type});
      else if (!member.constant)
        m_numbers.push_back({at + member.offset, member.bytes, member.name, m.type});
    }
  }

  /// Ranges inside others are parts of those.
  void make_pieces() {
    std::ranges::sort(m_ranges,
                      [](const range& a, const range& b) { return a.at != b.at ? a.at < b.at : a.bytes > b.bytes; });
    std::size_t last = 0;  // the range that the last piece was made of
    for (std::size_t k = 0; k < m_ranges.size(); ++k) {
      const range& r = m_ranges[k];
      if (!m_result.m_pieces.empty() && r.at < m_ranges[last].end()) {
        if (r.end() > m_ranges[last].end())
          throw error(error_kind::usage,
                      fmt::format("the memory of {} ({} bytes) overlaps that of {} ({} bytes) in part", r.name(),
                                  r.bytes, m_ranges[last].name(), m_ranges[last].bytes),
                      {}, "describe the memory once as a whole; pointers into it may then lead anywhere in it");
        graph_piece& piece = m_result.m_pieces.back();
        m_nested = true;
        piece.alignment = std::max(piece.alignment, r.alignment);
        piece.objects = piece.objects || r.objects;
        piece.constant = piece.constant && r.constant;
        continue;
      }
      last = k;
      m_result.m_pieces.push_back({r.at, r.bytes, r.alignment, r.objects, r.constant});
      if (!r.objects) m_result.m_nominal_bytes += r.bytes;
    }
  }

  /// The elements of arrays that lie in the same piece as objects: those that an object has inside of it, and those of
  /// a pool beside its objects, which are brought back by their own members.
  void find_numbers_among_objects() {
    for (const range& r : m_ranges) {
      if (r.objects || r.constant || !m_result.m_pieces[m_result.find(r.at)->piece].objects) continue;
      std::byte* from = r.at;
      const auto add_up_to = [&](std::byte* to) {
        if (from < to) m_numbers.push_back({from, static_cast<std::uint64_t>(to - from), r.member, r.owner});
      };
      for (auto o = std::ranges::lower_bound(m_ranges, r.at, {}, &range::at); o != m_ranges.end() && o->at < r.end();
           ++o) {
        if (!o->objects || o->end() > r.end()) continue;
        add_up_to(o->at);
        from = std::max(from, o->end());
      }
      add_up_to(r.end());
    }
  }

  void place_members() {
    for (const auto& [at, pointer] : m_targets) {
      const auto where = m_result.find(at);
      m_result.m_pointers.push_back({*where, pointer.target == nullptr ? std::nullopt : m_result.find(pointer.target)});
    }
    for (const number& n : m_numbers) m_result.m_scalars.push_back({*m_result.find(n.at), n.bytes});
  }

  /// What is brought back, and by which member.
  struct number {
    std::byte* at;
    std::uint64_t bytes;
    std::string_view member;
    const detail::described_type* owner;
  };

  /// Numbers are brought back, and pointers of originals stay: so none lies in a number.
  [[noreturn]] static void refuse_covered(const number& by, const std::byte* at, std::string_view pointer,
                                          const detail::described_type* owner) {
    const auto whose = [](std::string_view member, const detail::described_type* of) {
      return of == nullptr ? fmt::format("'{}'", member) : fmt::format("'{}' of {}", member, type_name(*of->type));
    };
    throw error(
        error_kind::usage,
        fmt::format("the memory of {} ({} bytes) covers the pointer {}, {} bytes behind its begin",
                    whose(by.member, by.owner), by.bytes, whose(pointer, owner), at - by.at),
        {},
        "numbers are written back, and the original's pointer with them: a count ends where its array does, and "
        "a scalar has no pointers in it");
  }
  static bool covers(const number& n, const std::byte* pointer) noexcept {
    return pointer < n.at + n.bytes && n.at < pointer + sizeof(void*);
  }
  /// The members of one object.
  static void check_members_apart(const detail::described_type& type,
                                  std::span<const detail::described_member> members) {
    for (const detail::described_member& m : members) {
      if (m.type != nullptr || m.constant) continue;
      const auto place = [](const detail::described_member& of) {
        return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(of.offset));  // to compare alone
      };
      const number as{place(m), m.bytes, m.name, &type};
      for (const detail::described_member& other : members)
        if (other.type != nullptr && covers(as, place(other))) refuse_covered(as, place(other), other.name, &type);
    }
  }
  /// Those of different members, where memory of one lies in that of another.
  void check_numbers_apart() const {
    if (!m_nested) return;
    std::vector<std::byte*> pointers;
    pointers.reserve(m_targets.size());
    for (const auto& [at, pointer] : m_targets) pointers.push_back(at);
    std::ranges::sort(pointers);
    for (const number& n : m_numbers) {
      const auto next = std::ranges::lower_bound(pointers, n.at);
      for (auto near = next == pointers.begin() ? next : std::prev(next);
           near != pointers.end() && *near < n.at + n.bytes; ++near)
        if (covers(n, *near)) refuse_covered(n, *near, m_targets.at(*near).member, m_targets.at(*near).owner);
    }
  }
  object_graph& m_result;
  std::vector<object> m_open;
  std::vector<range> m_ranges;
  std::vector<number> m_numbers;
  std::unordered_map<std::byte*, found_pointer> m_targets;  // of each pointer, by where it lies
  bool m_nested = false;                                    // memory of one lies in that of another
  std::unordered_map<key, seen_object, key_hash> m_seen;
};

object_graph::object_graph(void* root, const detail::described_type& type, const paths& parts) {
  const auto selected = selected_member::tree_of(parts);
  graph_walk(*this).run(root, type, *selected);
}

std::optional<graph_place> object_graph::find(const void* address) const {
  const auto* const at = static_cast<const std::byte*>(address);
  const auto behind = std::ranges::upper_bound(m_pieces, at, {}, &graph_piece::at);
  if (behind == m_pieces.begin()) return std::nullopt;
  const graph_piece& piece = *std::prev(behind);
  if (at >= piece.at + piece.bytes) return std::nullopt;
  return graph_place{static_cast<std::size_t>(&piece - m_pieces.data()), static_cast<std::uint64_t>(at - piece.at)};
}

}  // namespace tessera::hierarchy

namespace tessera {

void description::add(detail::described_member member, const void* at) {
  const auto* const place = static_cast<const std::byte*>(at);
  const auto refuse = [&](const std::string& why, const char* hint) {
    throw error(error_kind::usage,
                fmt::format("the description of {}: '{}' {}", hierarchy::type_name(*m_type->type), member.name, why),
                {}, hint);
  };
  if (place < m_object || place + member.bytes > m_object + m_type->bytes)
    refuse("is no member of the object", "describe members of the parameter itself, by reference");
  if (member.count < 0) refuse(fmt::format("has {} elements", member.count), "a count is 0 or more");
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 46;
  if (member.type != nullptr && static_cast<std::uint64_t>(member.count) > max_bytes / member.type->bytes)
    refuse(fmt::format("has {} elements of {} bytes", member.count, member.type->bytes),
           "arrays have 2^46 bytes at most; has the count been set?");
  member.offset = static_cast<std::uint64_t>(place - m_object);
  m_members.push_back(member);
}

}  // namespace tessera
