#include "apps/comd/embedded_atom.hpp"

#include <cmath>

#include "core/base/wide_vectors.hpp"

namespace tessera::apps::comd {
namespace {

/// The atoms of a neighbourhood that are within the cutoff of one atom, and not it itself.
template <class T>
class partners {
 public:
  void find(const neighbourhood<T>& near, T x, T y, T z, T cutoff) {
    const auto n = static_cast<std::size_t>(near.size());
    if (m_square.size() < n) m_square.resize(n), m_found.resize(n);
    const T *const ox = near.x(), *const oy = near.y(), *const oz = near.z();
    T* const square = m_square.data();
#pragma omp simd
    for (std::size_t k = 0; k < n; ++k) {
      const T dx = x - ox[k], dy = y - oy[k], dz = z - oz[k];
      square[k] = dx * dx + dy * dy + dz * dz;
    }
    const T cutoff2 = cutoff * cutoff;
    std::int32_t* const found = m_found.data();
    m_size = 0;
    for (std::size_t k = 0; k < n; ++k) {
      found[m_size] = static_cast<std::int32_t>(k);
      m_size += static_cast<int>(square[k] < cutoff2) & static_cast<int>(square[k] > T(0));
    }
  }
  std::int32_t size() const { return m_size; }
  const std::int32_t* begin() const { return m_found.data(); }  ///< places in the neighbourhood
  const T* squares() const { return m_square.data(); }          ///< of the distances, by places in the neighbourhood

 private:
  std::vector<T> m_square;
  std::vector<std::int32_t> m_found;
  std::int32_t m_size = 0;
};

template <class T>
partners<T>& of_this_thread() {
  thread_local partners<T> mine;
  return mine;
}

}  // namespace

template <class T>
void gather_density(const embedded_atom_tables<T>& by, const neighbourhood<T>& near, const cell_atoms<T>& on,
                    T* densities) {
  partners<T>& of = of_this_thread<T>();
  with_wide_vectors([&] {
    for (std::int32_t i = 0; i < on.count; ++i) {
      of.find(near, on.x(i), on.y(i), on.z(i), by.cutoff);
      const std::int32_t* const found = of.begin();
      const T* const squares = of.squares();
      T sum = 0;
#pragma omp simd reduction(+ : sum)
      for (std::int32_t k = 0; k < of.size(); ++k) sum += by.density.value(std::sqrt(squares[found[k]]));
      densities[i] = sum;
    }
  });
}

template <class T>
void embed(const embedded_atom_tables<T>& by, std::int32_t count, const T* densities, T* energies, T* slopes) {
  for (std::int32_t i = 0; i < count; ++i) {
    energies[i] = by.embedding.value(densities[i]);
    slopes[i] = by.embedding.slope(densities[i]);
  }
}

template <class T>
double act(const embedded_atom_tables<T>& by, const neighbourhood<T>& near, const cell_atoms<T>& on, const T* slopes,
           T* forces, T* energies) {
  partners<T>& of = of_this_thread<T>();
  double sum = 0;
  with_wide_vectors([&] {
    const T *const ox = near.x(), *const oy = near.y(), *const oz = near.z(), *const theirs = near.attached();
    for (std::int32_t i = 0; i < on.count; ++i) {
      const T x = on.x(i), y = on.y(i), z = on.z(i), mine = slopes[i];
      of.find(near, x, y, z, by.cutoff);
      const std::int32_t* const found = of.begin();
      const T* const squares = of.squares();
      T fx = 0, fy = 0, fz = 0, energy = 0;
#pragma omp simd reduction(+ : fx, fy, fz, energy)
      for (std::int32_t k = 0; k < of.size(); ++k) {
        const std::int32_t j = found[k];
        const T r = std::sqrt(squares[j]);
        const T force = -(by.pair.slope(r) + (mine + theirs[j]) * by.density.slope(r)) / r;
        energy += by.pair.value(r);
        fx += force * (x - ox[j]), fy += force * (y - oy[j]), fz += force * (z - oz[j]);
      }
      forces[i] = fx, forces[on.capacity + i] = fy, forces[2 * on.capacity + i] = fz;
      energies[i] += T(0.5) * energy;
      sum += static_cast<double>(energies[i]);
    }
  });
  return sum;
}

template void gather_density(const embedded_atom_tables<double>&, const neighbourhood<double>&,
                             const cell_atoms<double>&, double*);
template void gather_density(const embedded_atom_tables<float>&, const neighbourhood<float>&, const cell_atoms<float>&,
                             float*);
template void embed(const embedded_atom_tables<double>&, std::int32_t, const double*, double*, double*);
template void embed(const embedded_atom_tables<float>&, std::int32_t, const float*, float*, float*);
template double act(const embedded_atom_tables<double>&, const neighbourhood<double>&, const cell_atoms<double>&,
                    const double*, double*, double*);
template double act(const embedded_atom_tables<float>&, const neighbourhood<float>&, const cell_atoms<float>&,
                    const float*, float*, float*);

}  // namespace tessera::apps::comd
