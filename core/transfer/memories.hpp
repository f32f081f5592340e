#pragma once
// The memories of a runtime, what joins them, and which of them are lost.
#include <memory>
#include <span>
#include <vector>

#include "core/block/record.hpp"
#include "core/memory/space.hpp"
#include "core/transfer/link_map.hpp"
#include "core/transfer/stream.hpp"

namespace tessera::transfer {

/// One per runtime, below everything in this room that moves or drops replicas. Thread-safe.
class memories {
 public:
  /// @param parents  per space: where its evicted data go, or no_space
  /// Throws tessera::error (configuration) for more spaces than a block can be in.
  memories(std::span<const std::unique_ptr<memory::space>> spaces, std::vector<memory::space_number> parents,
           stream_table& streams);
  memories(const memories&) = delete;
  memories& operator=(const memories&) = delete;

  std::span<memory::space* const> all() const noexcept { return m_spaces; }
  memory::space& at(memory::space_number number) const noexcept { return *m_spaces[number]; }
  memory::space_number parent_of(memory::space_number space) const noexcept { return m_parents[space]; }
  stream_table& streams() const noexcept { return m_streams; }
  link_map& links() noexcept { return m_links; }
  const link_map& links() const noexcept { return m_links; }

  /// Whether the device of a space is lost: replicas there count for nothing.
  bool lost(memory::space_number space) const noexcept { return m_lost.has(space); }
  bool any_lost() const noexcept { return !m_lost.empty(); }
  const block::atomic_space_set& lost_spaces() const noexcept { return m_lost; }
  void note_lost(memory::space_number space) noexcept;

  /// Tasks that wait for memory in these spaces look again.
  void wake(const block::space_set& spaces) const;

 private:
  std::vector<memory::space*> m_spaces;
  std::vector<memory::space_number> m_parents;
  stream_table& m_streams;
  link_map m_links;
  block::atomic_space_set m_lost;
};

}  // namespace tessera::transfer
