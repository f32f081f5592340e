#pragma once
// Blocks of distributed and served arrays, and regions of contiguous local ones, as a program makes them.
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "languages/sial/estimate/estimate.hpp"

namespace tessera::sial {

/// Which blocks were ever written, and which arrays are there at the same time.
class shared_account {
 public:
  explicit shared_account(const geometry& sizes);
  /// A block is written; nothing: which one is not known, so that all of the array count. @param sure  it is certain to
  /// be written
  void write(std::uint32_t array, std::optional<std::int64_t> ordinal, double elements, bool sure);
  void remove(std::uint32_t array);
  /// Of the array: all of its blocks that were ever written.
  amount of(std::uint32_t array) const { return m_arrays[array].size; }
  bool is_most(std::uint32_t array) const { return m_arrays[array].most; }
  amount most(array_kind kind) const;  ///< of all arrays of a kind that are there at the same time
  amount most() const;                 ///< of both kinds
  bool is_most(array_kind kind) const;

 private:
  struct entry {
    amount size;
    bool there = false, most = false, whole = false, removed = false;
    std::vector<bool> written;
  };
  template <class Counts>
  amount most_of(Counts&& counts) const;
  void note();

  const geometry& m_sizes;
  std::vector<entry> m_arrays;
  std::vector<bool> m_there;
  std::set<std::vector<bool>> m_seen;  ///< sets of arrays that were there together
};

}  // namespace tessera::sial
