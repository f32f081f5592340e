#pragma once
// What copies have failed, how often one is tried again, and what to say when it stays so.
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/block/record.hpp"
#include "core/memory/space.hpp"
#include "core/transfer/statistics.hpp"

namespace tessera::transfer {

/// A failed copy, for the error that names it.
struct failed_copy {
  const block::record* block = nullptr;
  memory::space_number from = 0, to = 0;
  block::version_number version = 0;
  tsr_status status = TSR_OK;
  std::string text;  ///< "the copy of A(1) from numa0 to sim0.mem failed: INTERNAL: ..."
};

/// Remembers failures of copies by block and pair of spaces, until a copy of that block arrives or the block is written
/// anew. Thread-safe; its lock is a leaf and may be taken under blocks' locks. Costs one load while nothing has failed.
class copy_failures {
 public:
  /// @param retries  how often a copy may be tried again from one memory
  explicit copy_failures(std::uint32_t retries) noexcept : m_retries(retries) {}

  /// Whether anything has failed since the start; relaxed.
  bool any() const noexcept { return m_failed.load(std::memory_order_relaxed) != 0; }
  /// Takes a failure down.
  void note(failed_copy what);
  /// Whether a copy of this version has failed so often that it is not tried any more. Wrong contents (DATA_LOSS) are
  /// read once more and then believed.
  bool exhausted(const block::record& block, memory::space_number from, memory::space_number to,
                 block::version_number version) const;
  /// How often it has failed.
  std::uint32_t failures(const block::record& block, memory::space_number from, memory::space_number to,
                         block::version_number version) const;
  /// Counts another attempt at something that failed.
  void note_retry() noexcept { m_retried.fetch_add(1, std::memory_order_relaxed); }
  /// The block has arrived at `to`.
  void arrived(const block::record& block, memory::space_number to);
  /// Nothing about the block is worth remembering: it is freed.
  void forget(const block::record& block);
  /// Texts of what has failed for this block towards `to`, joined; empty: nothing that is remembered.
  std::string about(const block::record& block, memory::space_number to) const;
  /// The last failure of a copy from a space, whichever block; empty: none is remembered.
  std::string last_from(memory::space_number from) const;
  copy_failure_statistics statistics() const noexcept;

 private:
  struct entry {
    failed_copy last;
    std::uint32_t count = 0;
  };
  const entry* find(const block::record& block, memory::space_number from, memory::space_number to,
                    block::version_number version) const;

  const std::uint32_t m_retries;
  std::atomic<std::uint64_t> m_failed{0}, m_retried{0};
  std::atomic<std::size_t> m_known{0};  // blocks in m_entries
  mutable std::mutex m_mutex;
  std::unordered_map<const block::record*, std::vector<entry>> m_entries;
};

}  // namespace tessera::transfer
