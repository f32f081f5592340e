#pragma once
// Memory of the program that a memory of the host has taken over.
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "core/block/record.hpp"
#include "core/memory/registration_cache.hpp"
#include "core/memory/slab_table.hpp"

namespace tessera::memory {

/// It takes nothing from the memory's limit, and none of it is a resident. Thread-safe.
class foreign_memory {
 public:
  /// @param slabs  where it has entries  @param registrations  of the memory with devices; may be null
  /// @param name  of the memory, for people
  foreign_memory(slab_table& slabs, registration_cache* registrations, const std::string& name) noexcept
      : m_slabs(slabs), m_registrations(registrations), m_name(name) {}

  /// Takes it over as `parts` chunks (at least 1): the one returned, and others behind it at the offsets where they
  /// begin. It is registered once. `owner` is let go of with the last of its chunks. Throws tessera::error (memory)
  /// when there is no entry left for it, and has taken over nothing then.
  block::chunk adopt(void* pointer, std::uint64_t bytes, std::size_t parts = 1, std::shared_ptr<const void> owner = {});
  /// So many more chunks of memory that was taken over, at any offsets; `memory` is one of its chunks.
  void share(block::chunk memory, std::size_t parts);
  /// Ends so many of those chunks. With the last one the memory is the program's alone again.
  void forget(block::chunk memory, std::size_t parts = 1);
  /// Whether a chunk is memory of the program.
  bool has(block::chunk memory) const noexcept { return m_slabs.at(memory.slab()).foreign; }
  /// Pieces that were taken over and not given back; may be a moment old.
  std::uint64_t pieces() const noexcept { return m_pieces.load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<const void> end(block::chunk memory);

  slab_table& m_slabs;
  registration_cache* const m_registrations;
  const std::string& m_name;
  std::mutex m_mutex;  // of slab::foreign_parts
  std::atomic<std::uint64_t> m_pieces{0};
};

}  // namespace tessera::memory
