#pragma once
// From block references to memory.
#include <array>
#include <cstdint>
#include <vector>

#include "languages/sial/interpreter/private_store.hpp"
#include "languages/sial/interpreter/shared_cache.hpp"
#include "languages/sial/interpreter/static_arrays.hpp"
#include "languages/sial/interpreter/tile.hpp"
#include "languages/sial/interpreter/worker_state.hpp"

namespace tessera::sial {

/// The operands of a statement in place, wherever their blocks are. Tiles are valid until the statement ends. An
/// operand's copy, where it needs one, lies in the `slot` that the statement gives it. Refers to all that it is made
/// from. One thread.
class block_operands {
 public:
  static constexpr std::size_t target_slot = 3;    ///< of block arithmetic, whose operands have the slots before
  static constexpr std::size_t argument_slot = 4;  ///< of a super instruction's first argument; the others follow

  block_operands(worker_state& state, block_pool& pool, private_store& blocks, static_arrays& statics,
                 shared_cache& cache);

  /// Throws run_error when the block is not there.
  tile read(std::uint32_t reference_number, std::size_t slot);
  /// Makes a temp or local block that is not there yet. Of a distributed or served array the worker's own copy is
  /// written, if it has one (shared_cache::keep_copy), else memory that nobody reads; the array does not change.
  /// @param update its elements are changed rather than set
  target_tile write(std::uint32_t reference_number, bool update, std::size_t slot);
  /// What was written goes where it belongs.
  void write_back(const target_tile& t) {
    if (t.whole != nullptr) scatter(t.whole, t.data, t.part);
  }
  /// A slot's memory; its contents are anything.
  double* scratch(std::size_t slot, std::int64_t count);

 private:
  tile read_private(const reference& r, std::int64_t ordinal);
  tile read_static(const reference& r, const segment_numbers& at, std::size_t slot);
  tile read_fetched(const reference& r, std::int64_t ordinal);
  target_tile write_own_copy(const reference& r, const segment_numbers& at, std::int64_t ordinal, bool update,
                             std::size_t slot);

  worker_state& m_state;
  const code& m_code;
  block_pool& m_pool;
  private_store& m_private;
  static_arrays& m_statics;
  shared_cache& m_cache;
  std::array<std::vector<double>, 10> m_scratch;  // by slot
  std::array<shape, 10> m_scratch_extents;
};

}  // namespace tessera::sial
