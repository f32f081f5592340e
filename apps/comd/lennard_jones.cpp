#include "apps/comd/lennard_jones.hpp"

#include "core/base/wide_vectors.hpp"

namespace tessera::apps::comd {

double lennard_jones::shift() const {
  const double s = sigma / cutoff, s6 = s * s * s * s * s * s;
  return s6 * (s6 - 1);
}

double lennard_jones::energy(double square) const {
  const double s = sigma * sigma / square, s6 = s * s * s;
  return 4 * epsilon * (s6 * (s6 - 1) - shift());
}

double lennard_jones::force(double square) const {
  const double s = sigma * sigma / square, s6 = s * s * s;
  return 24 * epsilon * s6 * (2 * s6 - 1) / square;
}

namespace {

/// What all others do to one atom: force and energy, both without the factors of epsilon.
template <class T>
struct action {
  T x = 0, y = 0, z = 0, energy = 0;
};

template <class T>
action<T> act_on(T x, T y, T z, const neighbourhood<T>& near, T sigma2, T cutoff2, T shift) {
  const T *const ox = near.x(), *const oy = near.y(), *const oz = near.z();
  const std::int32_t n = near.size() / 8 * 8;
  T fx = 0, fy = 0, fz = 0, energy = 0;
#pragma omp simd reduction(+ : fx, fy, fz, energy)
  for (std::int32_t k = 0; k < n; ++k) {
    const T dx = x - ox[k], dy = y - oy[k], dz = z - oz[k], square = dx * dx + dy * dy + dz * dz;
    const T inverse = T(1) / square, s = sigma2 * inverse, s6 = s * s * s;
    const bool acts = (square < cutoff2) & (square > T(0));  // the atom itself is in its neighbourhood
    const T force = acts ? s6 * (2 * s6 - 1) * inverse : T(0);
    energy += acts ? s6 * (s6 - 1) - shift : T(0);
    fx += force * dx, fy += force * dy, fz += force * dz;
  }
  return {fx, fy, fz, energy};
}

}  // namespace

template <class T>
double act(const lennard_jones& by, const neighbourhood<T>& near, const cell_atoms<T>& on, T* forces, T* energies) {
  const T sigma2 = static_cast<T>(by.sigma * by.sigma), cutoff2 = static_cast<T>(by.cutoff * by.cutoff),
          shift = static_cast<T>(by.shift()), strength = static_cast<T>(24 * by.epsilon),
          depth = static_cast<T>(2 * by.epsilon);
  double sum = 0;
  with_wide_vectors([&] {
    for (std::int32_t k = 0; k < on.count; ++k) {
      const action<T> a = act_on(on.x(k), on.y(k), on.z(k), near, sigma2, cutoff2, shift);
      forces[k] = strength * a.x, forces[on.capacity + k] = strength * a.y,
      forces[2 * on.capacity + k] = strength * a.z;
      energies[k] = depth * a.energy;
      sum += static_cast<double>(energies[k]);
    }
  });
  return sum;
}

template double act(const lennard_jones&, const neighbourhood<double>&, const cell_atoms<double>&, double*, double*);
template double act(const lennard_jones&, const neighbourhood<float>&, const cell_atoms<float>&, float*, float*);

}  // namespace tessera::apps::comd
