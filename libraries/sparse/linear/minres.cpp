// Minimal residuals: Paige and Saunders, SIAM J. Numer. Anal. 12 (1975) 617, with a preconditioner, for several right
// sides with coefficients of their own.
#include <algorithm>
#include <cmath>
#include <vector>

#include "libraries/sparse/linear/linear_iteration.hpp"

namespace tessera::sparse {
namespace {

/// What goes from one iteration to the next, one row each.
enum state_row : std::int64_t {
  of_beta,    ///< length of the next Lanczos vector
  of_cosine,  ///< of the last rotation
  of_sine,
  of_bar,         ///< the element that the next rotation meets on the diagonal
  of_epsilon,     ///< the one that it meets two columns further
  of_phi,         ///< what the rotations have left of the right side
  of_indefinite,  ///< r'M r where that was negative, else 0
  state_rows
};

/// What an iteration multiplies its vectors by.
enum coefficient : std::size_t {
  times_w_before,  ///< w = (v - epsilon w_before - delta w_last) / gamma
  times_w_last,
  per_gamma,
  step_length,    ///< x += phi w
  kept_residual,  ///< r = s^2 r - phi c v
  times_next,
  per_beta,        ///< v = z / beta
  times_u_before,  ///< of the next Lanczos step: -beta / beta before
  coefficients
};

double divided(double a, double b) { return b != 0 ? a / b : 0; }

/// The rotation that makes the new column of the tridiagonal matrix triangular. `alfa` and `next` = r'M r are of the
/// Lanczos step. What is not there any more, in an invariant subspace, counts as 0, and nothing moves.
void rotate(std::int64_t j, double alfa, double next, const small_view& state, std::span<const small_view> c) {
  const double beta = state(of_beta, j), next_beta = std::sqrt(std::max(next, 0.0));
  const double epsilon = state(of_epsilon, j);
  const double delta = state(of_cosine, j) * state(of_bar, j) + state(of_sine, j) * alfa;
  const double bar = state(of_sine, j) * state(of_bar, j) - state(of_cosine, j) * alfa;
  const double gamma = std::hypot(bar, next_beta);
  const double sine = divided(next_beta, gamma), cosine = divided(bar, gamma);
  const double phi = cosine * state(of_phi, j);
  state(of_epsilon, j) = state(of_sine, j) * next_beta;
  state(of_bar, j) = -state(of_cosine, j) * next_beta;
  state(of_cosine, j) = cosine, state(of_sine, j) = sine, state(of_beta, j) = next_beta;
  state(of_phi, j) *= sine;
  if (next < 0) state(of_indefinite, j) = next;
  c[times_w_before](0, j) = -epsilon, c[times_w_last](0, j) = -delta, c[per_gamma](0, j) = divided(1, gamma);
  c[step_length](0, j) = phi;
  c[kept_residual](0, j) = gamma != 0 ? sine * sine : 1;
  c[times_next](0, j) = -divided(state(of_phi, j) * cosine, next_beta);
  c[per_beta](0, j) = divided(1, next_beta);
  c[times_u_before](0, j) = -divided(next_beta, beta);
}

class minimal_residual_iteration final : public linear_iteration {
 public:
  using linear_iteration::linear_iteration;

 private:
  void begin() override {
    copy(r(), m_u);
    precondition(m_u, m_z);
    column_dots(m_u, m_z, m_uz);
    const small_matrix to[] = {m_state, m_coefficients[per_beta], m_coefficients[times_u_before]};
    small_operation("begin", {&m_uz, 1}, to, [](std::span<const small_view> from, std::span<const small_view> out) {
      for (std::int64_t j = 0; j < from[0].columns; ++j) {
        const double square = from[0](0, j), beta = std::sqrt(std::max(square, 0.0));
        const double values[state_rows] = {beta, -1, 0, 0, 0, beta, std::min(square, 0.0)};
        for (std::int64_t row = 0; row < state_rows; ++row) out[0](row, j) = values[row];
        out[1](0, j) = divided(1, beta), out[2](0, j) = 0;
      }
    });
    copy(m_z, m_v);
    scale(m_coefficients[per_beta], m_v);
    for (const block_vector* const zero : {&m_u_before, &m_w_before, &m_w_last}) axpby(0, r(), 0, *zero);
  }

  /// A Lanczos step, the rotation, and what these make of x and its residual.
  void step() override {
    apply(a(), m_v, m_product);
    axpy(m_coefficients[times_u_before], m_u_before, m_product);
    column_dots(m_v, m_product, m_alfa);
    small_operation("lanczos", m_from_lanczos, {&m_times_u, 1},
                    [](std::span<const small_view> from, std::span<const small_view> to) {
                      for (std::int64_t j = 0; j < to[0].columns; ++j)
                        to[0](0, j) = -divided(from[0](0, j), from[1](of_beta, j));
                    });
    axpy(m_times_u, m_u, m_product);
    copy(m_u, m_u_before);
    copy(m_product, m_u);
    precondition(m_u, m_z);
    column_dots(m_u, m_z, m_uz);
    small_operation("rotate", m_from_rotation, m_to_rotation,
                    [](std::span<const small_view> from, std::span<const small_view> to) {
                      for (std::int64_t j = 0; j < from[0].columns; ++j)
                        rotate(j, from[0](0, j), from[1](0, j), to[0], to.subspan(1));
                    });
    axpy(m_coefficients[times_w_before], m_w_before, m_v);
    axpy(m_coefficients[times_w_last], m_w_last, m_v);
    scale(m_coefficients[per_gamma], m_v);
    add_to_solution(m_coefficients[step_length], m_v);
    copy(m_w_last, m_w_before);
    copy(m_v, m_w_last);
    scale(m_coefficients[kept_residual], r());
    axpy(m_coefficients[times_next], m_u, r());
    note_residual();
    copy(m_z, m_v);
    scale(m_coefficients[per_beta], m_v);
  }

  void check() const override {
    const std::vector<double> state = m_state.values();
    const std::size_t width = state.size() / state_rows;
    for (std::size_t j = 0; j < width; ++j)
      if (const double value = state[of_indefinite * width + j]; value < 0)
        refuse_indefinite("the preconditioner", "r'M r", value, j, "a preconditioner is positive definite");
  }

  std::vector<small_matrix> made_coefficients() {
    std::vector<small_matrix> made;
    for (std::size_t k = 0; k < coefficients; ++k) made.push_back(numbers("coefficient"));
    return made;
  }
  std::vector<small_matrix> rotated() const {
    std::vector<small_matrix> all{m_state};
    all.insert(all.end(), m_coefficients.begin(), m_coefficients.end());
    return all;
  }

  block_vector m_u = vector("u"), m_u_before = vector("u before"), m_z = is_preconditioned() ? vector("z") : m_u,
               m_v = vector("v"), m_product = vector("A v"), m_w_before = vector("w before"),
               m_w_last = vector("w last");
  small_matrix m_uz = numbers("u'z"), m_alfa = numbers("v'A v"), m_times_u = numbers("-alfa / beta"),
               m_state = numbers("state", state_rows);
  std::vector<small_matrix> m_coefficients = made_coefficients();
  std::vector<small_matrix> m_from_lanczos{m_alfa, m_state}, m_from_rotation{m_alfa, m_uz, m_state},
      m_to_rotation = rotated();
};

}  // namespace

linear_solution minres(runtime& rt, const linear_operator& a, std::span<const double> b,
                       const linear_solver_options& options) {
  return minimal_residual_iteration(rt, a, b, options).solve();
}

}  // namespace tessera::sparse
