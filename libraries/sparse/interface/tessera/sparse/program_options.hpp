#pragma once
// What a program is made with, and what a loop of it tells.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libraries/sparse/product/matrix_form.hpp"
#include "tessera/sparse/linear_operator.hpp"

namespace tessera::sparse {

/// How a program's operations run.
enum class execution : std::uint8_t {
  fused,   ///< as a task graph of panels
  at_once  ///< each call at once, one after the other on the calling thread: the reference for tests
};

/// What a program may choose.
struct program_options {
  execution how = execution::fused;
  std::int64_t panel_rows = 0;  ///< rows of a task, at least 1; 0: chosen by the matrix and `columns` alone
  /// Columns of most of its block vectors, where that is known, at least 1; 0: unknown. Rows of few columns are quickly
  /// done, so a task has more of them.
  std::int64_t columns = 0;
  /// Rows that all operations of a task go through together, at least 1; 0: what fits the cache.
  std::int64_t strip_rows = 0;
  std::string at = {};  ///< location where operations over the rows run; "": where the runtime places them
  /// How matrices lie in memory for their products; none: the fastest, as measured when a program first multiplies.
  std::optional<matrix_form> form = {};

  /// The same for block vectors of so many columns, unless `columns` says already.
  program_options for_columns(std::int64_t count) const {
    program_options with_columns = *this;
    if (columns == 0) with_columns.columns = count;
    return with_columns;
  }
};

/// What went from one memory to another.
struct link_bytes {
  std::string from, to;     ///< memories, as statistics::links names them
  std::uint64_t bytes = 0;  ///< together
};

/// Adds up what went over the same links.
void add_moved(std::vector<link_bytes>& to, const std::vector<link_bytes>& more);

/// What program::while_not did.
struct loop_outcome {
  bool converged = false;   ///< the condition became true
  int iterations = 0;       ///< that were run, those that had begun when it became true included
  std::int64_t passes = 0;  ///< over the rows, in one iteration
  std::int64_t tasks = 0;   ///< of one iteration
  double seconds = 0;       ///< of all iterations, conditions included
  std::string form = {};    ///< of the matrix in products, and how it was chosen; for messages
  /// Before the first: recording the body twice, comparing, making the graph; and before that, since the program began
  /// or its last loop did, looking at matrices that it multiplies by: which panels depend on each other, which form.
  double build_seconds = 0;
  work_count work = {};                ///< in `seconds`: the iterations, and what else was recorded behind them
  std::vector<link_bytes> moved = {};  ///< by all iterations, between memories; without what goes home at the end
};

}  // namespace tessera::sparse
