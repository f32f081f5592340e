#include "apps/rodinia/cfd/stage_text.hpp"

namespace tessera::apps::rodinia {
namespace {

// A state is density, momentum, energy; a flow is its velocity, speed, pressure and speed of sound.
constexpr const char* residual = R"(
  typedef now_element real;
#define FLOW(state, flow)                                                                     \
  for (int k = 0; k < 3; ++k) flow[k] = state[1 + k] / state[0];                              \
  const real flow##_squares = flow[0] * flow[0] + flow[1] * flow[1] + flow[2] * flow[2];      \
  flow[3] = sqrt(flow##_squares);                                                             \
  flow[4] = (real)0.4 * (state[4] - (real)0.5 * state[0] * flow##_squares);                   \
  flow[5] = sqrt((real)1.4 * flow[4] / state[0]);
#define ADD_FLUX(state, flow)                                                                 \
  {                                                                                           \
    const real along = nx * flow[0] + ny * flow[1] + nz * flow[2];                            \
    r[0] += (real)0.5 * state[0] * along;                                                     \
    r[1] += (real)0.5 * (state[1] * along + flow[4] * nx);                                    \
    r[2] += (real)0.5 * (state[2] * along + flow[4] * ny);                                    \
    r[3] += (real)0.5 * (state[3] * along + flow[4] * nz);                                    \
    r[4] += (real)0.5 * (state[4] + flow[4]) * along;                                         \
  }
  real mine[5], here[6], r[5] = {0, 0, 0, 0, 0};
  for (int k = 0; k < 5; ++k) mine[k] = now(i, k);
  FLOW(mine, here)
  for (int face = 0; face < 4; ++face) {
    const real nx = -normal(i, 3 * face), ny = -normal(i, 3 * face + 1), nz = -normal(i, 3 * face + 2);
    const int neighbour = other(i, face);
    if (neighbour == -1) {
      r[1] += nx * here[4], r[2] += ny * here[4], r[3] += nz * here[4];
    } else {
      real theirs[5] = {(real)1.4, (real)(1.4 * 1.2), 0, 0, (real)(0.5 * 1.4 * 1.2 * 1.2 + 1 / 0.4)}, there[6];
      for (int k = 0; k < 5 && neighbour >= 0; ++k) theirs[k] = now(neighbour, k);
      FLOW(theirs, there)
      if (neighbour >= 0) {
        const real factor_of_face = (real)-0.5 * (real)0.2 * sqrt(nx * nx + ny * ny + nz * nz) *
                                    (here[3] + there[3] + here[5] + there[5]);
        for (int k = 0; k < 5; ++k) r[k] += factor_of_face * (mine[k] - theirs[k]);
      }
      ADD_FLUX(mine, here)
      ADD_FLUX(theirs, there)
    }
  }
)";

}  // namespace

std::string cfd_stage_text(const char* parameters, bool makes_factor, const char* old, int divisor) {
  std::string text = parameters + std::string(residual);
  if (makes_factor) text += "  factor[i] = (real)0.5 / (sqrt(size[i]) * (here[3] + here[5]));\n";
  return text + "  const real step = factor[i] / " + std::to_string(divisor) +
         ";\n  for (int k = 0; k < 5; ++k) to(i, k) = " + old + "(i, k) + step * r[k];\n}";
}

}  // namespace tessera::apps::rodinia
