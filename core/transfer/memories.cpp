#include "core/transfer/memories.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace tessera::transfer {

memories::memories(std::span<const std::unique_ptr<memory::space>> spaces, std::vector<memory::space_number> parents,
                   stream_table& streams)
    : m_parents(std::move(parents)), m_streams(streams), m_links(spaces) {
  if (spaces.size() > block::space_set::max_spaces)
    throw error(error_kind::configuration, fmt::format("more than {} memory spaces", block::space_set::max_spaces));
  for (const auto& s : spaces) m_spaces.push_back(s.get());
}

void memories::note_lost(memory::space_number space) noexcept {
  m_lost.add(space);
  m_links.close(space);
}

void memories::wake(const block::space_set& spaces) const {
  spaces.for_each([&](memory::space_number k) { m_spaces[k]->waiters().notify(); });
}

}  // namespace tessera::transfer
