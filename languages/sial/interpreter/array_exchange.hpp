#pragma once
// How one worker gets and stores blocks of distributed and served arrays.
#include <cstdint>
#include <memory>

#include "languages/sial/interpreter/block_operands.hpp"
#include "languages/sial/interpreter/collectives.hpp"
#include "languages/sial/interpreter/deterministic_sums.hpp"
#include "languages/sial/interpreter/device_offload.hpp"
#include "languages/sial/interpreter/prefetcher.hpp"
#include "languages/sial/interpreter/shared_cache.hpp"
#include "languages/sial/interpreter/worker_state.hpp"

namespace tessera::sial {

/// get, request, put and prepare, and the end of arrays. Conflicting uses of a block that no barrier orders are
/// run_errors, where the settings say so. Refers to all that it is made from. One thread.
class array_exchange {
 public:
  /// The parts of the worker that it uses.
  struct parts {
    array_generations& generations;
    block_pool& pool;
    block_operands& operands;
    shared_cache& cache;
    prefetcher& prefetch;
    collectives& group;
    device_offload* offload;  ///< null: everything runs in place
  };
  array_exchange(worker_state& state, const parts& uses);

  /// The block is readable until the next barrier. Throws run_error when no worker has written it.
  void fetch(const reference& r);
  /// A block or, where the store has none, `value` to a block of a shared array: instead of it, added to it or times
  /// it.
  void store_to(const store& s, double value);
  /// The worker goes on with an empty array.
  void remove(std::uint32_t array);
  /// The worker goes on with another generation of an array.
  void replace(std::uint32_t array, std::shared_ptr<array_generation> by);
  /// Before a barrier: lets go of what was fetched, and hands over what was added. Called by all workers.
  void finish_section();

 private:
  /// A store to one block.
  struct destination {
    const reference& at;
    std::int64_t ordinal;
    shape extents;
    exchange_counters& count;
  };

  void forget(std::uint32_t array);
  tile source_of(const store& s, const destination& to);
  void settle_sum(const store& s, const destination& to);
  void write(const store& s, shared_block& b, const tile& from, double value, const destination& to);
  exchange_counters& counters_of(std::uint32_t array, exchange_kind distributed, exchange_kind served) noexcept;
  void note(shared_block& b, block_use how, const reference& r);

  worker_state& m_state;
  const code& m_code;
  array_generations& m_generations;
  block_operands& m_operands;
  shared_cache& m_cache;
  prefetcher& m_prefetcher;
  collectives& m_collectives;
  device_offload* const m_offload;
  const bool m_deterministic;
  deterministic_sums m_sums;
};

}  // namespace tessera::sial
