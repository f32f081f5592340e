#pragma once
// What one worker has fetched of distributed and served arrays.
#include <boost/container/deque.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "languages/sial/exchange/array_generation.hpp"
#include "languages/sial/exchange/ordinal_map.hpp"
#include "languages/sial/interpreter/private_blocks.hpp"
#include "languages/sial/interpreter/tile.hpp"
#include "languages/sial/interpreter/worker_state.hpp"

namespace tessera::sial {

/// A block that was fetched: readable until the next barrier.
struct alignas(64) fetched_block {  // what a statement looks at comes first, in one line
  std::int64_t ordinal = -1;
  std::uint64_t bytes = 0;
  const double* data = nullptr;    ///< of the view or the copy
  const shape* extents = nullptr;  ///< likewise
  std::int64_t count = 0;          ///< likewise
  private_block* copy = nullptr;   ///< as it was when this worker wrote to it afterwards
  std::uint64_t used = 0;          ///< the last statement that read it; only where views are let go of
  shared_block* from = nullptr;
  std::optional<element_view<const double>> view;
};

/// Fetched blocks by array and ordinal, from one barrier to the next. Where there are other memories than the host's it
/// holds views of few of them, and lets go of the oldest ones that the statement under way has not read. Refers to all
/// that it is made from. One thread.
class shared_cache {
 public:
  /// @param arrays the generation that the worker is in, by array  @param pool for copies
  shared_cache(worker_state& state, const array_generations& arrays, block_pool& pool);

  /// Null: it was not fetched.
  fetched_block* find(std::uint32_t array, std::int64_t ordinal) noexcept { return m_arrays[array].find(ordinal); }
  /// One that was not fetched yet.
  fetched_block& add(std::uint32_t array, std::int64_t ordinal, shared_block& from);
  /// Its elements; waits until they are in the host's memory.
  tile read(std::uint32_t array, fetched_block& f);

  /// Where a block's elements were, and where they are now.
  struct moved {
    const double* from;
    double* to;
  };
  /// Before the worker writes to a block: if it was fetched, it stays readable as it was. Nothing: it was not fetched,
  /// or a copy is there already.
  std::optional<moved> keep_copy(std::uint32_t array, std::int64_t ordinal);

  void clear();                     ///< of all arrays
  void clear(std::uint32_t array);  ///< of one

  /// Calls function(ordinal) for each block of an array, in no order.
  template <class Function>
  void for_each(std::uint32_t array, Function&& function) const {
    m_arrays[array].here.for_each([&](std::int64_t ordinal, const fetched_block&) { function(ordinal); });
  }

 private:
  struct of_array {
    ordinal_map<fetched_block> here;
    fetched_block* last = nullptr;  ///< found last: who gets a block mostly reads it next
    boost::container::deque<fetched_block, std::allocator<fetched_block>,
                            boost::container::deque_options_t<boost::container::block_size<64>>>
        all;  ///< those in `here`
    fetched_block* find(std::int64_t ordinal) noexcept {
      if (last != nullptr && last->ordinal == ordinal) return last;
      fetched_block* const found = here.find(ordinal);
      if (found != nullptr) last = found;
      return found;
    }
  };

  void view_first(std::uint32_t array, fetched_block& f);
  void view_among_others(std::uint32_t array, fetched_block& f);
  void make_room(const fetched_block& f);
  void let_go_of(fetched_block& f);
  void empty(of_array& mine);

  worker_state& m_state;
  const array_generations& m_generations;
  block_pool& m_pool;
  std::vector<of_array> m_arrays;
  std::deque<std::pair<std::uint32_t, fetched_block*>>
      m_views;                     // by array; those that got a view, oldest first, where there are other memories
  std::uint64_t m_view_bytes = 0;  // of those that still have it
};

}  // namespace tessera::sial
