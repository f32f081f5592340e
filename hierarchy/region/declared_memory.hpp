#pragma once
// How much memory arrays take at locations whose types declare how much there is.
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "core/location/tree.hpp"

namespace tessera::hierarchy {

/// Bytes that count at a location. The array keeps it, and so does its memory, which may stay longer: until the last
/// task that uses it is done. `at` and `wanted` with the tree's lock held.
struct memory_claim {
  std::uint64_t bytes = 0;
  location::node_id at = location::no_node;
  bool of_file = false;  ///< a file in the folder of a storage location: it stays there, and takes nothing above
  std::vector<location::node_id> wanted = {};  ///< where regions that are being submitted will place it
};

/// A claim is at another location as long as this is there: to ask whether it could be.
class placed_on_trial {
 public:
  placed_on_trial(memory_claim& of, location::node_id there) : m_of(of), m_before(std::exchange(of.at, there)) {}
  ~placed_on_trial() { m_of.at = m_before; }
  placed_on_trial(const placed_on_trial&) = delete;
  placed_on_trial& operator=(const placed_on_trial&) = delete;

 private:
  memory_claim& m_of;
  const location::node_id m_before;
};

/// The claims on a tree's memory. Not thread-safe: the lock of the tree is held.
class declared_memory {
 public:
  /// It counts until the last owner lets go of it.
  void add(const std::shared_ptr<memory_claim>& claimed);
  /// Those that count.
  std::vector<std::shared_ptr<memory_claim>> claims() const;
  /// Bytes at a location and below it. Files count at their storage location, what is in memory at all others.
  /// @param now_at  of a claim's location, where it is in this tree  @param without  not counted
  std::uint64_t bytes_at(const location::tree& in, location::node_id at,
                         const std::function<location::node_id(location::node_id)>& now_at = {},
                         const memory_claim* without = nullptr) const;
  /// Throws tessera::error (memory) where the location of a claim, or one above it, declares less memory than there
  /// would be with it. @param array  whose claim it is, for messages
  void require_room(const location::tree& in, const std::string& array, const memory_claim& wanted,
                    std::source_location site) const;

 private:
  std::vector<std::weak_ptr<memory_claim>> m_claims;
  std::size_t m_count_again = 64;  // claims, at which those that are given back are left out
};

}  // namespace tessera::hierarchy
