#pragma once
// A subscript -> the rows that an iteration reaches with it. Pure.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "languages/directives/text/polynomial.hpp"

namespace tessera::directive {

/// A loop inside of the body: its index goes from `first` to `last`, both reached.
struct inner_loop {
  polynomial first, last;
};

/// What is known of the names in a subscript.
struct subscript_names {
  std::string index;                        ///< of the region's loop
  std::map<std::string, inner_loop> inner;  ///< loops around the subscript, by their indices
  std::set<std::string> varying;            ///< texts whose value changes from iteration to iteration in another way
};

/// The rows of an array that one iteration reaches with one subscript.
struct row_reach {
  bool whole = true;         ///< any row; then `why` says what is not understood
  std::int64_t lowest = 0;   ///< the first row, counted from the index
  std::int64_t highest = 0;  ///< the last one
  polynomial row_elements;   ///< of each row; of a subscript with several indices: of no meaning
  bool covers_row = false;   ///< the loops around the subscript go over all elements of the row
  std::string why;
};

/// x[subscript], where rows follow each other: i*m + j is in row i when j goes from 0 to less than m.
row_reach reach_of(const polynomial& subscript, const subscript_names& names);

/// x[row][inner]..., of an array with those many elements in each dimension behind the first. What C says holds: every
/// index is within its dimension.
row_reach reach_of(const std::vector<polynomial>& subscripts, const std::vector<std::int64_t>& extents,
                   const subscript_names& names);

/// Whether an index behind the first is surely outside of its dimension at one time, when the loops inside run to their
/// ends.
bool leaves_dimension(const std::vector<polynomial>& subscripts, const std::vector<std::int64_t>& extents,
                      const subscript_names& names);

/// Where x[subscript] is, counted from the iteration's own element, when the loops of `collapsed` are iterations
/// together, outermost first: two accesses with the same place never meet in different iterations. Nothing: they may.
/// @param names  `inner` has the collapsed loops behind the first, and those of the body
std::optional<std::string> place_of(const polynomial& subscript, const std::vector<std::string>& collapsed,
                                    const subscript_names& names);
/// The same of x[row][inner]...
std::optional<std::string> place_of(const std::vector<polynomial>& subscripts,
                                    const std::vector<std::string>& collapsed, const subscript_names& names);

}  // namespace tessera::directive
