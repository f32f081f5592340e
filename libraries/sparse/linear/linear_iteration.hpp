#pragma once
// What solvers of A x = b have in common: the start from x, the loop, the criterion, and the residual at the end.
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "libraries/sparse/linear/right_side.hpp"
#include "tessera/sparse.hpp"

namespace tessera::sparse {

/// A method is derived from it. Its vectors are those of a program; coefficients are 1 x columns.
class linear_iteration {
 public:
  linear_iteration(runtime& rt, const linear_operator& a, std::span<const double> b, const linear_solver_options& o);
  virtual ~linear_iteration() = default;
  linear_iteration(const linear_iteration&) = delete;
  linear_iteration& operator=(const linear_iteration&) = delete;

  /// From the start to the end.
  linear_solution solve();

 protected:
  virtual void begin() = 0;  ///< records what is made of the residual before the first iteration, or once more
  virtual void step() = 0;   ///< records an iteration: x, the residual, and note_residual behind both
  /// Throws tessera::error where the numbers of the last iteration show what the method cannot do.
  virtual void check() const = 0;

  block_vector vector(const char* name) { return m_program.vector(name, m_b.columns()); }
  /// Rows of a number for each column.
  small_matrix numbers(const char* name, std::int64_t rows = 1) { return m_program.small(name, rows, m_b.columns()); }
  /// Z = M R; without a preconditioner Z is R.
  void precondition(const block_vector& r, const block_vector& z) const;
  bool is_preconditioned() const noexcept { return m_options.preconditioner.has_value(); }
  /// X += P diag(alpha), and how much that is.
  void add_to_solution(const small_matrix& alpha, const block_vector& p);
  void note_residual() const { column_norms(m_r, m_norms); }
  [[noreturn]] void refuse_indefinite(const char* what, const char* product, double value, std::size_t column,
                                      const char* hint) const;

  const linear_operator& a() const noexcept { return m_a; }
  const block_vector& r() const noexcept { return m_r; }  ///< b - A x, by the method's recurrence

 private:
  void start();
  void iterate(linear_solution& to);
  stop_decision decide();
  solve_progress progress();
  bool is_stuck(const std::vector<double>& measured);
  bool is_beyond_rounding() const;

  const linear_operator m_a;
  const linear_solver_options& m_options;
  const right_side m_b;
  const std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
  program m_program;
  const bool m_with_changes;
  block_vector m_x, m_right, m_r;
  std::optional<block_vector> m_change;  ///< where the criterion asks for it
  small_matrix m_norms, m_change_norms, m_x_norms;
  int m_iteration = 0;
  bool m_changed = false;                      ///< an iteration has run, so that there is a change
  std::vector<double> m_first;                 ///< residuals before the first iteration
  std::vector<double> m_before;                ///< measured at the last start
  std::vector<double> m_residuals, m_changes;  ///< of solve_progress
};

/// dots(0, j) = products of columns of two blocks, and a small operation on 1 x columns: `f(from, to, column)`.
template <class Function>
void for_each_column(const char* name, std::initializer_list<small_matrix> from, std::initializer_list<small_matrix> to,
                     Function f) {
  small_operation(name, {from.begin(), from.size()}, {to.begin(), to.size()},
                  [f](std::span<const small_view> in, std::span<const small_view> out) {
                    for (std::int64_t j = 0; j < out[0].columns; ++j) f(in, out, j);
                  });
}

}  // namespace tessera::sparse
