#pragma once
// The order of a factorization's tasks when the matrix does not fit into the memory where they run.
#include <cstdint>
#include <vector>

namespace tessera::apps {

inline constexpr std::int64_t side_by_side =
    4;  ///< tiles that are updated in turn, so that streams of a device need not wait
inline constexpr std::int64_t first_columns = 4;  ///< to the left, that come before all of the tiles have come

/// Columns of tiles that are finished together (left-looking): first the rows of the triangle on the diagonal, then
/// those below, some at a time. All updates from the left come to these tiles while they stay in the memory; then they
/// leave for good.
struct factor_panel {
  std::int64_t column = 0;   ///< the first
  std::int64_t width = 0;    ///< columns
  std::int64_t at_once = 0;  ///< rows below the triangle that stay in the memory together
};

/// Cuts the lower triangle of `tiles` x `tiles` tiles into panels, so that as few tiles as possible move. Either single
/// columns, which is the best while what is needed of the columns to the left still fits (up to about twice the
/// memory), or wide ones, by dynamic programming over what each width would cost.
/// @param room  tiles that the memory holds
/// @returns nothing where everything fits, or where the room is too small for a plan: then any order will do
std::vector<factor_panel> plan_factorization(std::int64_t tiles, std::int64_t room);

}  // namespace tessera::apps
