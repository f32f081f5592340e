// Conjugate gradients with a preconditioner: Saad, Iterative Methods for Sparse Linear Systems, algorithm 9.1, for
// several right sides with coefficients of their own.
#include "libraries/sparse/linear/linear_iteration.hpp"

namespace tessera::sparse {
namespace {

class conjugate_gradient_iteration final : public linear_iteration {
 public:
  using linear_iteration::linear_iteration;

 private:
  void begin() override {
    precondition(r(), m_z);
    column_dots(r(), m_z, m_rz);
    copy(m_z, m_d);
  }

  void step() override {
    apply(a(), m_d, m_ad);
    column_dots(m_d, m_ad, m_dad);
    // A column that is exact has no direction left: it stays.
    for_each_column("step", {m_rz, m_dad}, {m_alpha, m_minus_alpha, m_before}, [](auto from, auto to, std::int64_t j) {
      to[0](0, j) = from[1](0, j) != 0 ? from[0](0, j) / from[1](0, j) : 0;
      to[1](0, j) = -to[0](0, j);
      to[2](0, j) = from[0](0, j);
    });
    add_to_solution(m_alpha, m_d);
    axpy(m_minus_alpha, m_ad, r());
    note_residual();
    precondition(r(), m_z);
    column_dots(r(), m_z, m_rz);
    for_each_column("turn", {m_rz, m_before}, {m_beta}, [](auto from, auto to, std::int64_t j) {
      to[0](0, j) = from[1](0, j) != 0 ? from[0](0, j) / from[1](0, j) : 0;
    });
    scale(m_beta, m_d);
    axpy(1, m_z, m_d);
  }

  void check() const override {
    constexpr double smallest = 1e-200;
    const std::vector<double> rz = m_rz.values(), dad = m_dad.values(), before = m_before.values();
    for (std::size_t j = 0; j < rz.size(); ++j) {
      if (rz[j] < 0)
        refuse_indefinite("the preconditioner", "r'M r", rz[j], j, "a preconditioner is positive definite");
      // Of a right side of about 1, what is so small that its squares are no doubles is rounding.
      if (dad[j] <= 0 && before[j] > smallest)
        refuse_indefinite("the operator", "d'A d", dad[j], j, "minres solves indefinite systems");
    }
  }

  block_vector m_z = is_preconditioned() ? vector("z") : r(), m_d = vector("d"), m_ad = vector("A d");
  small_matrix m_rz = numbers("r'z"), m_before = numbers("r'z before"), m_dad = numbers("d'A d"),
               m_alpha = numbers("alpha"), m_minus_alpha = numbers("-alpha"), m_beta = numbers("beta");
};

}  // namespace

linear_solution conjugate_gradients(runtime& rt, const linear_operator& a, std::span<const double> b,
                                    const linear_solver_options& options) {
  return conjugate_gradient_iteration(rt, a, b, options).solve();
}

}  // namespace tessera::sparse
