#include "apps/comd/neighbourhood.hpp"

#include <algorithm>
#include <limits>

#include "core/base/wide_vectors.hpp"

namespace tessera::apps::comd {

template <class T>
void neighbourhood<T>::append(const all_cells<T>& all, std::int64_t other, std::int32_t capacity, const vector3& shift,
                              T cutoff) {
  const std::int32_t n = all.counts[other];
  const T *const px = all.positions + 3 * other * capacity, *const py = px + capacity, *const pz = py + capacity;
  const T sx = static_cast<T>(shift[0]), sy = static_cast<T>(shift[1]), sz = static_cast<T>(shift[2]);
  T* const distances = m_distances.data();
  const auto outside = [](T v, T low, T high) { return std::max(std::max(low - v, v - high), T(0)); };
#pragma omp simd
  for (std::int32_t k = 0; k < n; ++k) {
    const T dx = outside(px[k] + sx, m_low[0], m_high[0]), dy = outside(py[k] + sy, m_low[1], m_high[1]),
            dz = outside(pz[k] + sz, m_low[2], m_high[2]);
    distances[k] = dx * dx + dy * dy + dz * dz;
  }
  T *const x = m_x.data(), *const y = m_y.data(), *const z = m_z.data();
  const T square = cutoff * cutoff;
  if (all.attached != nullptr) {
    const T* const numbers = all.attached + other * capacity;
    std::int32_t size = m_size;
    for (std::int32_t k = 0; k < n; ++k) {
      m_attached[static_cast<std::size_t>(size)] = numbers[k];
      size += distances[k] < square ? 1 : 0;
    }
  }
  std::int32_t size = m_size;
  for (std::int32_t k = 0; k < n; ++k) {  // each is written, and the next one over it where it is too far
    x[size] = px[k] + sx, y[size] = py[k] + sy, z[size] = pz[k] + sz;
    size += distances[k] < square ? 1 : 0;
  }
  m_size = size;
}

template <class T>
void neighbourhood<T>::collect(const cell_grid& grid, std::int64_t cell, const all_cells<T>& all, T cutoff) {
  const std::size_t most = static_cast<std::size_t>(27 * grid.capacity) + 8;
  if (m_x.size() < most) {
    for (std::vector<T>* v : {&m_x, &m_y, &m_z, &m_attached}) v->resize(most);
    m_distances.resize(static_cast<std::size_t>(grid.capacity));
  }
  m_size = 0;
  const std::int32_t own = all.counts[cell];
  for (std::int64_t a = 0; a < 3; ++a) {
    m_low[a] = std::numeric_limits<T>::max(), m_high[a] = std::numeric_limits<T>::lowest();
    const T* const p = all.positions + (3 * cell + a) * grid.capacity;
    for (std::int32_t k = 0; k < own; ++k) m_low[a] = std::min(m_low[a], p[k]), m_high[a] = std::max(m_high[a], p[k]);
  }
  if (own == 0) return;
  with_wide_vectors([&] {
    grid.for_each_neighbour(
        cell, [&](std::int64_t other, const vector3& shift) { append(all, other, grid.capacity, shift, cutoff); });
  });
  for (; m_size % 8 != 0; ++m_size) {
    const auto k = static_cast<std::size_t>(m_size);
    m_x[k] = m_y[k] = m_z[k] = T(1e15);
    m_attached[k] = 0;
  }
}

template class neighbourhood<double>;
template class neighbourhood<float>;

}  // namespace tessera::apps::comd
