#pragma once
// What a program needs, known before it runs.
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "languages/sial/interpreter/geometry.hpp"
#include "languages/sial/language/program.hpp"

namespace tessera::sial {

/// Memory. `room` is what blocks take of the limit: whole pages, and small ones powers of two from 256 bytes on.
struct amount {
  double bytes = 0, room = 0;
  double blocks = 0;  ///< that these are
  amount& operator+=(const amount& more) noexcept;
};

/// The memory of one block.
amount amount_of(double elements);
/// Of all blocks of an array; `room` from above.
amount amount_of(const array_geometry& a);

/// Arrays of one kind. `most`: a bound from above, since something is not known before the run; else exact.
struct kind_estimate {
  amount per_worker;  ///< static, temp, local and contiguous local arrays; 0 for shared ones
  amount in_all;      ///< over all workers
  bool most = false;
};

/// A statement whose executions count.
struct statement_estimate {
  place where;
  double times = 0;  ///< executions over all workers: outside of pardos each executes it
  double flops = 0;  ///< of contractions: 2 x the product of all extents, as run_counters::flops
  bool most = false;
  double parallel = 1;    ///< iterations of the pardo that it is in, each time that it is entered; 1 outside
  double elements = 0;    ///< of super instructions: of their first blocks, over all executions
  std::string name = {};  ///< of super instructions
};

/// The largest block of an array.
struct block_estimate {
  std::uint32_t array = 0;
  std::string name;  ///< "t[1,2]"
  std::vector<std::int64_t> extents;
  double bytes = 0;
};

/// What an array keeps for later programs.
struct kept_estimate {
  amount size;
  bool most = false;
};
using kept_estimates = std::map<std::string, kept_estimate>;  ///< by label

/// A program's needs.
struct program_estimate {
  std::string program, path;
  unsigned workers = 1;
  std::array<kind_estimate, 6> kinds;            ///< by array_kind
  amount kept_before;                            ///< by programs before, and still there
  amount shared_at_once;                         ///< distributed and served arrays that are there at the same time
  double private_at_once = 0;                    ///< temp and local blocks of one worker that are alive at once
  double hand_room = 0;                          ///< shared blocks that one statement reads or writes at once, at most
  std::vector<statement_estimate> contractions;  ///< those that are executed, by place
  std::vector<statement_estimate> executions;    ///< super instructions: how often; what they compute is not known
  double fetches = 0, fetched_bytes = 0;         ///< get and request, each time that one is executed
  double iterations = 0;                         ///< of pardos
  double data_statements = 0;                    ///< executions of statements on blocks, over all workers
  bool iterations_most = false;
  std::vector<block_estimate> largest;    ///< largest first, five at most
  std::int64_t largest_private_rank = 1;  ///< dimensions of the largest temp or local block, or of what is in the hand
  std::int64_t longest_segment = 1;       ///< of its dimensions
  std::vector<std::pair<place, std::string>> notes;  ///< why figures are bounds, and what will fail

  double flops() const noexcept;  ///< of all contractions
  bool flops_are_most() const noexcept;
  /// Blocks of one worker that cannot leave the host's memory: temp and local ones.
  double private_room() const noexcept;
};

/// How far the walk goes.
struct estimate_settings {
  unsigned workers = 1;
  std::uint64_t steps =
      5'000'000;  ///< statements walked through; behind them loops are multiplied, and figures are bounds
  const init_data* data = nullptr;  ///< where vectors are that conditions read; null: they are not known
};

/// Walks through a program. Pure but for `kept`: what programs before have left under labels; what this one leaves is
/// entered.
program_estimate estimate_of(const program& what, const code& lowered, const geometry& sizes,
                             const estimate_settings& how, kept_estimates& kept);

}  // namespace tessera::sial
