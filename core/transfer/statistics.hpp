#pragma once
// What coherence has done so far.
#include <cstdint>

namespace tessera::transfer {

/// Totals since the start; a snapshot.
struct coherence_statistics {
  std::uint64_t versions = 0;       ///< committed by coherence (the fast path of a single space counts its own)
  std::uint64_t saved_fetches = 0;  ///< write intents that found a valid copy elsewhere and did not fetch it
  std::uint64_t saved_bytes = 0;
  std::uint64_t joined = 0;         ///< reads that joined a transfer already under way
  std::uint64_t dropped = 0;        ///< replicas evicted without a copy
  std::uint64_t written_back = 0;   ///< replicas evicted with a copy to the parent memory
  std::uint64_t written_ahead = 0;  ///< copies to the parent memory made before anything had to leave
};

/// Counts of copies that failed; a snapshot.
struct copy_failure_statistics {
  std::uint64_t failed_copies = 0;   ///< refused, or failed under way; write-backs included
  std::uint64_t retried_copies = 0;  ///< of them tried again, from the same memory or another
};

/// Counts; a snapshot.
struct loss_statistics {
  std::uint64_t devices = 0;  ///< lost
  std::uint64_t blocks = 0;   ///< of which they had the only copy, or which they were about to make
};

}  // namespace tessera::transfer
