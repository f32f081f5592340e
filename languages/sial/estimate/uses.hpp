#pragma once
// What a walk through the body of a loop depends on.
#include <set>
#include <unordered_map>

#include "languages/sial/language/program.hpp"

namespace tessera::sial {

/// Two walks through a body with the same values of these give the same figures.
struct uses {
  std::set<symbol> by_value;       ///< indices whose value decides something, or chooses blocks that are kept
  std::set<symbol> by_length;      ///< indices of which the length of the segment matters alone
  std::set<symbol> ints, scalars;  ///< read or assigned, of those that decide something
  std::set<symbol> assigned_ints, assigned_scalars;
  std::set<symbol> locals;  ///< local arrays that are written
  bool repeatable = true;   ///< allocates, deletes, keeps and restores nothing
  void add(const uses& more);
};

/// Of all loops of a program.
class use_table {
 public:
  explicit use_table(const program& of);
  /// Of one iteration: its conditions are not in it, its own indices are. @param loop a do_loop or pardo_loop
  const uses& of_iteration(const void* loop) const { return m_iterations.at(loop); }
  /// Of the whole loop, conditions and all.
  const uses& of_loop(const void* loop) const { return m_loops.at(loop); }
  /// A block of it is written or restored somewhere.
  bool is_written(symbol array) const { return m_written.contains(array); }
  bool decides_int(symbol s) const { return m_deciding_ints.contains(s); }
  bool decides_scalar(symbol s) const { return m_deciding_scalars.contains(s); }

 private:
  friend class use_collector;
  std::unordered_map<const void*, uses> m_iterations, m_loops;
  std::set<symbol> m_deciding_ints, m_deciding_scalars, m_written;
};

}  // namespace tessera::sial
