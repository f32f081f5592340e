#pragma once
// Where a block's contents can be had from, and what that costs.
#include <memory>
#include <span>

#include "core/transfer/copy_failures.hpp"
#include "core/transfer/replicas.hpp"

namespace tessera::transfer {

/// Time and bytes until blocks that are read are in a space.
struct transfer_estimate {
  double seconds = 0;
  std::uint64_t resident_bytes = 0, missing_bytes = 0;
};

/// Why a block cannot be copied to a space in one step.
enum class no_source : std::uint8_t {
  far,        ///< it can in two: no pair of links joins the spaces, but some space lies between
  doubtful,   ///< what makes it has failed; the completion will say in a moment whether there is another way
  exhausted,  ///< every copy that can be tried has failed too often
  lost        ///< no usable replica is left
};

/// Chooses sources of copies. Thread-safe; keeps nothing itself.
class sources {
 public:
  sources(const memories& all, const replicas& rules, const copy_failures& failures) noexcept
      : m_memories(all), m_replicas(rules), m_failures(failures) {}

  /// The replica from which a copy to `to` arrives first, or null; one that is itself on its way counts double. With
  /// the block's lock.
  const block::replica* cheapest(block::record& block, memory::space_number to) const;
  /// Why cheapest gave null. With the block's lock.
  no_source why_none(block::record& block, memory::space_number to) const;
  /// A space through which the block comes to `to` in two steps, or no_space. Takes the block's lock.
  memory::space_number stop_towards(block::record& block, memory::space_number to) const;
  /// The failure of a task that needs a block of which all copies have failed.
  std::shared_ptr<const block::failure> gave_up(const block::record& block, memory::space_number to) const;

  /// What it would cost to bring the blocks that are read to each of several spaces; `out` has the length of `spaces`.
  /// Locks one block after the other: the answer may be stale.
  void costs_of(std::span<const block::access> accesses, std::span<const memory::space_number> spaces,
                std::span<transfer_estimate> out) const;

 private:
  double seconds_between(const block::replica& from, memory::space_number to,
                         std::uint64_t bytes) const;  // negative: there is no way

  const memories& m_memories;
  const replicas& m_replicas;
  const copy_failures& m_failures;
};

}  // namespace tessera::transfer
