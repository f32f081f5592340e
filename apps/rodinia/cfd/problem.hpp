#pragma once
// The flow of a gas through a mesh of tetrahedra: meshes, the residual of one element, reference.
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "apps/common/workload.hpp"

namespace tessera::apps::rodinia {

inline constexpr std::int32_t cfd_wall = -1, cfd_far = -2;  ///< instead of a neighbour

/// Four faces per element: the element behind each, or cfd_wall, cfd_far; its normal, outward, as long as the face is
/// large.
struct cfd_mesh {
  std::vector<double> sizes;             ///< per element
  std::vector<std::int32_t> neighbours;  ///< four per element
  std::vector<double> normals;           ///< twelve per element
  std::int64_t elements() const { return static_cast<std::int64_t>(sizes.size()); }
};
/// Reads a mesh. Throws tessera::error (input).
cfd_mesh read_cfd_mesh(const std::filesystem::path& file);
/// A cube of `cubes`^3 cubes with sides of 0.05, each cut into six. @param hole  whether a box in the middle is
/// missing, with walls around it; all else is far field
cfd_mesh make_cfd_mesh(std::int64_t cubes, bool hole);

/// Density, momentum, energy.
template <class T>
using cfd_state = std::array<T, 5>;
/// The far field: Mach 1.2 along x.
template <class T>
constexpr cfd_state<T> cfd_far_field() {
  return {T(1.4), T(1.4 * 1.2), T(0), T(0), T(0.5 * 1.4 * 1.2 * 1.2 + 1 / 0.4)};
}

/// What a state means.
template <class T>
struct cfd_flow {
  T r, mx, my, mz, e, vx, vy, vz, speed, pressure, sound;
  explicit cfd_flow(const T* s) : r(s[0]), mx(s[1]), my(s[2]), mz(s[3]), e(s[4]), vx(mx / r), vy(my / r), vz(mz / r) {
    const T squares = vx * vx + vy * vy + vz * vz;
    speed = std::sqrt(squares);
    pressure = T(0.4) * (e - T(0.5) * r * squares);
    sound = std::sqrt(T(1.4) * pressure / r);
  }
};

/// 0.5 / (sqrt(size) (|v| + c)): contains the division by the size.
template <class T>
T cfd_step_factor(const T* state, T size) {
  const cfd_flow<T> f(state);
  return T(0.5) / (std::sqrt(size) * (f.speed + f.sound));
}

/// Adds half the flux of a state along n to a residual.
template <class T>
void cfd_add_flux(const cfd_flow<T>& f, T nx, T ny, T nz, cfd_state<T>& to) {
  const T along = nx * f.vx + ny * f.vy + nz * f.vz;
  to[0] += T(0.5) * f.r * along;
  to[1] += T(0.5) * (f.mx * along + f.pressure * nx);
  to[2] += T(0.5) * (f.my * along + f.pressure * ny);
  to[3] += T(0.5) * (f.mz * along + f.pressure * nz);
  to[4] += T(0.5) * (f.e + f.pressure) * along;
}

/// The residual of element i. @param states  of all elements, five each  @param neighbours, normals  of the element
template <class T>
cfd_state<T> cfd_residual(std::int64_t i, const T* states, const std::int32_t* neighbours, const T* normals) {
  constexpr cfd_state<T> outside = cfd_far_field<T>();
  const T* const mine = states + 5 * i;
  const cfd_flow<T> here(mine);
  cfd_state<T> r{};
  for (std::int64_t face = 0; face < 4; ++face) {
    const T nx = -normals[3 * face], ny = -normals[3 * face + 1], nz = -normals[3 * face + 2];
    const std::int32_t other = neighbours[face];
    if (other >= 0) {
      const T* const theirs = states + 5 * static_cast<std::int64_t>(other);
      const cfd_flow<T> there(theirs);
      const T factor = T(-0.5) * T(0.2) * std::sqrt(nx * nx + ny * ny + nz * nz) *
                       (here.speed + there.speed + here.sound + there.sound);
      for (std::size_t k = 0; k < 5; ++k) r[k] += factor * (mine[k] - theirs[k]);
      cfd_add_flux(here, nx, ny, nz, r);
      cfd_add_flux(there, nx, ny, nz, r);
    } else if (other == cfd_wall) {
      r[1] += nx * here.pressure, r[2] += ny * here.pressure, r[3] += nz * here.pressure;
    } else {
      cfd_add_flux(here, nx, ny, nz, r);
      cfd_add_flux(cfd_flow<T>(outside.data()), nx, ny, nz, r);
    }
  }
  return r;
}

/// States after so many iterations from the far field, one element after the other.
std::vector<double> cfd_serial(const cfd_mesh& mesh, std::int64_t iterations);

/// The largest difference between the sum of all residuals and what comes through the boundary, over the sum of the
/// terms' sizes: fluxes between elements cancel.
double cfd_imbalance(const cfd_mesh& mesh, const std::vector<double>& states);

/// A stage reads an element's state, four neighbours, their normals, and what it began from, and writes a state; the
/// first one reads the size and writes the step factor. The states of neighbours are read once per stage in all. A face
/// to another element takes 96 operations, to the far field 54, a wall 6; an element 27, and 20 for its step factor.
/// @param element  bytes of a number
workload cfd_workload(const cfd_mesh& mesh, std::int64_t iterations, std::size_t element);

}  // namespace tessera::apps::rodinia
