#pragma once
// Matrices in kernels.
#include "plugins/gpu_common/kernels/kernels.hpp"
#include "plugins/gpu_common/kernels/numbers.hpp"

namespace tessera::gpu {

/// A matrix of known type. Steps count elements and may be negative.
template <class T>
struct view {
  T* data;
  std::int64_t row_step, column_step;
  bool conjugated;

  __device__ T* at(std::int64_t row, std::int64_t column) const { return data + row * row_step + column * column_step; }
  __device__ T read(std::int64_t row, std::int64_t column) const {
    const T value = *at(row, column);
    return conjugated ? conjugate(value) : value;
  }
};

template <class T>
view<T> view_of(const matrix& from) {
  return {static_cast<T*>(from.data), from.row_step, from.column_step, from.conjugated};
}

}  // namespace tessera::gpu
