#include "apps/rodinia/cfd/problem.hpp"

#include <algorithm>
#include <numeric>

#include "apps/common/text_input.hpp"
#include "apps/common/worse.hpp"

namespace tessera::apps::rodinia {

cfd_mesh read_cfd_mesh(const std::filesystem::path& file) {
  text_input in(file);
  cfd_mesh read;
  const std::int64_t n = in.integer("the number of elements", 1, 100'000'000);
  for (std::int64_t i = 0; i < n; ++i) {
    read.sizes.push_back(in.number("the size of an element"));
    if (!(read.sizes.back() > 0)) in.refuse("the size of an element should be above 0");
    for (int face = 0; face < 4; ++face) {
      const std::int64_t other = in.integer("the neighbour of an element", -1000, n);
      read.neighbours.push_back(other > 0 ? static_cast<std::int32_t>(other - 1) : other == 0 ? cfd_wall : cfd_far);
      for (int k = 0; k < 3; ++k) read.normals.push_back(in.number("a normal of an element"));
    }
  }
  in.expect_end();
  return read;
}

namespace {

using cfd_corner = std::array<std::int64_t, 3>;

/// A face, by the numbers of its corners, and where it is.
struct cfd_face {
  cfd_corner corners;
  std::int64_t place;  // 4 element + face
};

constexpr double cfd_spacing = 0.05;

/// The normal of the face of a, b, c that points away from d, in units of half a cube's side.
void push_cfd_normal(const cfd_corner& a, const cfd_corner& b, const cfd_corner& c, const cfd_corner& d,
                     std::vector<double>& to) {
  cfd_corner u, v, w;
  for (std::size_t k = 0; k < 3; ++k) u[k] = b[k] - a[k], v[k] = c[k] - a[k], w[k] = d[k] - a[k];
  const cfd_corner n = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
  const double sign = n[0] * w[0] + n[1] * w[1] + n[2] * w[2] > 0 ? -1 : 1;
  for (std::size_t k = 0; k < 3; ++k) to.push_back(sign * static_cast<double>(n[k]) * cfd_spacing * cfd_spacing / 2);
}

/// The six tetrahedra along the diagonal of a cube.
void push_cfd_cube(const cfd_corner& origin, std::int64_t cubes, cfd_mesh& mesh, std::vector<cfd_face>& faces) {
  std::array<std::size_t, 3> order = {0, 1, 2};
  do {
    std::array<cfd_corner, 4> corners{origin, origin, origin, origin};
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t later = k + 1; later < 4; ++later) ++corners[later][order[k]];
    const std::int64_t element = mesh.elements();
    mesh.sizes.push_back(cfd_spacing * cfd_spacing * cfd_spacing / 6);
    for (std::size_t face = 0; face < 4; ++face) {
      const cfd_corner &a = corners[(face + 1) % 4], &b = corners[(face + 2) % 4], &c = corners[(face + 3) % 4];
      push_cfd_normal(a, b, c, corners[face], mesh.normals);
      const auto number = [&](const cfd_corner& p) { return (p[2] * (cubes + 1) + p[1]) * (cubes + 1) + p[0]; };
      cfd_corner key = {number(a), number(b), number(c)};
      std::ranges::sort(key);
      faces.push_back({key, 4 * element + static_cast<std::int64_t>(face)});
      const auto outer = [&](std::size_t axis, std::int64_t at) {
        return a[axis] == at && b[axis] == at && c[axis] == at;
      };
      bool far = false;
      for (std::size_t axis = 0; axis < 3; ++axis) far = far || outer(axis, 0) || outer(axis, cubes);
      mesh.neighbours.push_back(far ? cfd_far : cfd_wall);  // until a neighbour is found
    }
  } while (std::ranges::next_permutation(order).found);
}

}  // namespace

cfd_mesh make_cfd_mesh(std::int64_t cubes, bool hole) {
  cfd_mesh mesh;
  std::vector<cfd_face> faces;
  const auto middle = [&](std::int64_t k) { return k >= (cubes + 2) / 3 && k < (2 * cubes) / 3; };
  for (std::int64_t z = 0; z < cubes; ++z)
    for (std::int64_t y = 0; y < cubes; ++y)
      for (std::int64_t x = 0; x < cubes; ++x)
        if (!hole || !middle(x) || !middle(y) || !middle(z)) push_cfd_cube({x, y, z}, cubes, mesh, faces);
  std::ranges::sort(faces, {}, [](const cfd_face& f) { return std::pair(f.corners, f.place); });
  for (std::size_t k = 1; k < faces.size(); ++k)
    if (faces[k].corners == faces[k - 1].corners) {
      mesh.neighbours[static_cast<std::size_t>(faces[k].place)] = static_cast<std::int32_t>(faces[k - 1].place / 4);
      mesh.neighbours[static_cast<std::size_t>(faces[k - 1].place)] = static_cast<std::int32_t>(faces[k].place / 4);
    }
  return mesh;
}

std::vector<double> cfd_serial(const cfd_mesh& mesh, std::int64_t iterations) {
  const std::int64_t n = mesh.elements();
  constexpr cfd_state<double> outside = cfd_far_field<double>();
  std::vector<double> now, next(static_cast<std::size_t>(5 * n)), factors(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) now.insert(now.end(), outside.begin(), outside.end());
  for (; iterations > 0; --iterations) {
    const std::vector<double> old = now;
    for (std::int64_t i = 0; i < n; ++i)
      factors[static_cast<std::size_t>(i)] =
          cfd_step_factor(&old[static_cast<std::size_t>(5 * i)], mesh.sizes[static_cast<std::size_t>(i)]);
    for (int stage = 0; stage < 3; ++stage) {
      for (std::int64_t i = 0; i < n; ++i) {
        const auto r = cfd_residual(i, now.data(), &mesh.neighbours[static_cast<std::size_t>(4 * i)],
                                    &mesh.normals[static_cast<std::size_t>(12 * i)]);
        for (std::size_t k = 0; k < 5; ++k) {
          const std::size_t at = static_cast<std::size_t>(5 * i) + k;
          next[at] = old[at] + factors[static_cast<std::size_t>(i)] / (4 - stage) * r[k];
        }
      }
      now.swap(next);
    }
  }
  return now;
}

double cfd_imbalance(const cfd_mesh& mesh, const std::vector<double>& states) {
  cfd_state<double> sum{}, boundary{};
  double size = 0;
  for (std::int64_t i = 0; i < mesh.elements(); ++i) {
    const std::int32_t* const neighbours = &mesh.neighbours[static_cast<std::size_t>(4 * i)];
    const double* const normals = &mesh.normals[static_cast<std::size_t>(12 * i)];
    const auto all = cfd_residual(i, states.data(), neighbours, normals);
    std::array<double, 12> outer{};  // inner faces without area
    std::array<std::int32_t, 4> none{};
    for (std::size_t face = 0; face < 4; ++face) {
      none[face] = neighbours[face] >= 0 ? cfd_wall : neighbours[face];
      for (std::size_t k = 3 * face; k < 3 * face + 3; ++k) outer[k] = neighbours[face] >= 0 ? 0 : normals[k];
    }
    const auto through = cfd_residual(i, states.data(), none.data(), outer.data());
    for (std::size_t k = 0; k < 5; ++k) {
      sum[k] += all[k], boundary[k] += through[k];
      size += std::abs(all[k]) + std::abs(through[k]);
    }
  }
  double worst = 0;
  for (std::size_t k = 0; k < 5; ++k) worst = worse(worst, std::abs(sum[k] - boundary[k]));
  return size > 0 ? worst / std::max(size, 1.0) : worst;
}

workload cfd_workload(const cfd_mesh& mesh, std::int64_t iterations, std::size_t element) {
  const auto n = static_cast<double>(mesh.elements()), times = static_cast<double>(iterations),
             size = static_cast<double>(element);
  constexpr double places = 4 * sizeof(std::int32_t);
  double faces = 0;
  for (const std::int32_t other : mesh.neighbours) faces += other >= 0 ? 96 : other == cfd_wall ? 6 : 54;
  const double first = n * (24 * size + places), later = n * (28 * size + places), flops = 27 * n + faces;
  return {n * (29 * size + places),
          {{"stage 1", times * first, times * (flops + 20 * n), 0},
           {"stage 2", times * later, times * flops, 0},
           {"stage 3", times * later, times * flops, 0}}};
}

}  // namespace tessera::apps::rodinia
