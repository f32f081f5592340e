#pragma once
// Matrix-free operators: which panels they read, and their calls.
#include <vector>

#include "libraries/sparse/matrix/row_panels.hpp"
#include "libraries/sparse/program/strip_steps.hpp"

namespace tessera::sparse {

/// For each panel of rows the panels whose rows it is made of, ascending. Throws tessera::error (usage) for rows that
/// do not exist.
std::vector<std::vector<std::int32_t>> read_panels(const row_function& a, const row_panels& panels);

/// Makes `rows` of Y. Rows of X that lie in pieces are put together. Throws tessera::error (usage) for rows of X that
/// the panel did not ask for.
void call_operator(const row_function& a, const multiplied& x, const row_range& rows, std::int64_t columns, double* y);

}  // namespace tessera::sparse
