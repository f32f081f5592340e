#pragma once
// Which operations go over the rows together.
#include <cstddef>
#include <span>
#include <vector>

#include "libraries/sparse/program/operation.hpp"

namespace tessera::sparse {

/// Operations by their ordinals, each list in the order of the program.
struct pass {
  std::vector<std::size_t> small;   ///< on small matrices or by tasks of their own, in order, before the rows
  std::vector<std::size_t> panels;  ///< a panel goes through all of these in one task
};

/// Puts each operation into the earliest pass that data flow allows. Within a pass an operation sees, of its own panel,
/// what those before it made. It is in a later pass than
///   - the operation that made a block vector which it multiplies by a matrix (other panels are needed too), and a
///     multiplication by the matrix of a block vector which it overwrites,
///   - the reduction that made a small matrix which it uses or replaces,
/// and a small operation is in a later pass than those that used what it replaces. An operation by tasks is in front of
/// a pass behind those that made its source, or used its destination. Pure: the operands are only compared.
std::vector<pass> fuse(std::span<const operation> operations);

}  // namespace tessera::sparse
