#include "hierarchy/region/declared_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/call_site.hpp"
#include "core/base/error.hpp"
#include "core/base/units.hpp"

namespace tessera::hierarchy {

void declared_memory::add(const std::shared_ptr<memory_claim>& claimed) {
  if (m_claims.size() >= m_count_again) {
    std::erase_if(m_claims, [](const std::weak_ptr<memory_claim>& c) { return c.expired(); });
    m_count_again = std::max<std::size_t>(64, 2 * m_claims.size());
  }
  m_claims.push_back(claimed);
}

std::vector<std::shared_ptr<memory_claim>> declared_memory::claims() const {
  std::vector<std::shared_ptr<memory_claim>> all;
  for (const std::weak_ptr<memory_claim>& one : m_claims)
    if (std::shared_ptr<memory_claim> c = one.lock(); c != nullptr) all.push_back(std::move(c));
  return all;
}

std::uint64_t declared_memory::bytes_at(const location::tree& in, location::node_id at,
                                        const std::function<location::node_id(location::node_id)>& now_at,
                                        const memory_claim* without) const {
  const bool is_store = in.at(at).properties.kind == location::kind::storage;
  const auto is_below = [&](location::node_id place) { return in.is_ancestor(at, now_at ? now_at(place) : place); };
  std::uint64_t bytes = 0;
  for (const std::shared_ptr<memory_claim>& c : claims()) {
    if (c.get() == without) continue;
    const bool counts =
        c->of_file ? c->at == at : !is_store && (is_below(c->at) || std::ranges::any_of(c->wanted, is_below));
    if (counts) bytes += c->bytes;
  }
  return bytes;
}

void declared_memory::require_room(const location::tree& in, const std::string& array, const memory_claim& wanted,
                                   std::source_location site) const {
  for (location::node_id id = wanted.at; id != location::no_node; id = in.at(id).parent) {
    const location::properties& is = in.at(id).properties;
    if (is.declared_bytes != 0 && wanted.of_file == (is.kind == location::kind::storage)) {
      const std::uint64_t used = bytes_at(in, id, {}, &wanted);
      const std::uint64_t left = is.declared_bytes - std::min(is.declared_bytes, used);
      const auto text = [&](std::uint64_t bytes) {  // as a number where what is rounded would be no contradiction
        const bool same = format_bytes(static_cast<double>(wanted.bytes)) == format_bytes(static_cast<double>(left));
        return same ? fmt::format("{} B", bytes) : format_bytes(static_cast<double>(bytes));
      };
      if (wanted.bytes > left)
        throw error(error_kind::memory,
                    fmt::format("array '{}' asks for {} at location '{}', but of the {} of memory that are declared "
                                "for '{}' at {}, arrays have {}",
                                array, text(wanted.bytes), in.at(wanted.at).properties.name, text(is.declared_bytes),
                                is.name, is.declared_at, text(used)),
                    file_and_line(site),
                    wanted.of_file
                        ? "let arrays there end, make this one elsewhere, declare a larger size for the type of the "
                          "location, or use map_file, whose files do not count there"
                        : "let arrays there end or move them, place this one elsewhere, declare more memory for the "
                          "type of the location, or use map_file, since files do not count there");
    }
    if (wanted.of_file) break;
  }
}

}  // namespace tessera::hierarchy
