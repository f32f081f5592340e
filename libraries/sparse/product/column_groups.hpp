#pragma once
// Columns of block vectors in registers. Everything here is inlined into loops that are compiled for wide vectors.
#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace tessera::sparse {

/// Two or four doubles side by side, at any address. Four are a register of AVX2, or two of SSE2.
template <int Lanes>
struct vector_of {
  typedef double type __attribute__((vector_size(Lanes * sizeof(double)), aligned(sizeof(double)), may_alias));
};
using vector4 = vector_of<4>::type;

/// The numbers at an address as a vector.
template <int Lanes>
[[gnu::always_inline]] inline const typename vector_of<Lanes>::type& vector_at(const double* p) {
  return *reinterpret_cast<const typename vector_of<Lanes>::type*>(p);
}
template <int Lanes>
[[gnu::always_inline]] inline typename vector_of<Lanes>::type& vector_at(double* p) {
  return *reinterpret_cast<typename vector_of<Lanes>::type*>(p);
}

/// Columns that `Count` vectors hold. The last vector ends with the last column, and may overlap the one before it:
/// columns that two vectors hold are computed twice, with the same result.
template <int Lanes, int Count>
struct column_group {
  using vector = typename vector_of<Lanes>::type;
  static constexpr int lanes = Lanes, count = Count;
  std::int64_t first;  ///< where the first vector begins
  std::int64_t last;   ///< where the last vector begins
  [[gnu::always_inline]] std::int64_t begin(int k) const { return k + 1 < Count ? first + k * Lanes : last; }
};

/// Calls loop(group) for a group of `count` vectors, 1 to Most.
template <int Most, class Loop>
[[gnu::always_inline]] inline void with_vectors(std::int64_t first, std::int64_t end, const Loop& loop) {
  if constexpr (Most > 1)
    if (end - first <= (Most - 1) * 4) return with_vectors<Most - 1>(first, end, loop);
  loop(column_group<4, Most>{first, end - 4});
}

/// Calls loop(group) for groups of at most `Most` vectors that cover all columns; there are two of them at least.
template <int Most, class Loop>
[[gnu::always_inline]] inline void in_column_groups(std::int64_t width, const Loop& loop) {
  if (width == 2) return loop(column_group<2, 1>{0, 0});
  if (width == 3) return loop(column_group<2, 2>{0, 1});
  for (std::int64_t first = 0; first < width; first += Most * 4)
    with_vectors<Most>(std::min(first, width - 4), std::min(first + Most * 4, width), loop);
}

}  // namespace tessera::sparse
