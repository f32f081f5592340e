#pragma once
// The blocks that SIAL's arrays are made of, in the runtime's words.
#include "tessera/front_end.hpp"

namespace tessera::sial {

/// Its rank is that of the program's array; the first index is fastest, as in Fortran and in linear algebra.
using element_block = block_of<double, any_rank, column_major>;
/// Makes them.
using element_block_group = block_group<double, any_rank, column_major>;
/// One in the hands of a worker. @tparam T  double, const where it is only read
template <class T>
using element_view = host_view<T, any_rank, column_major>;

}  // namespace tessera::sial
