#include "libraries/sparse/linear/linear_iteration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/error.hpp"
#include "libraries/sparse/linear/symmetry.hpp"

namespace tessera::sparse {
namespace {

/// The operator, where it and the options fit together.
const linear_operator& checked(const linear_operator& a, const linear_solver_options& o) {
  if (a.rows() != a.columns())
    throw error(error_kind::input, fmt::format("the operator is {} x {}, not square", a.rows(), a.columns()), a.name(),
                "a system of as many equations as unknowns");
  if (o.preconditioner && (o.preconditioner->rows() != a.rows() || o.preconditioner->columns() != a.rows()))
    throw error(error_kind::usage,
                fmt::format("{} is {} x {}, and {} has {} rows", o.preconditioner->name(), o.preconditioner->rows(),
                            o.preconditioner->columns(), a.name(), a.rows()),
                "the preconditioner", "one of the operator's shape");
  if (!o.stop.ends())
    throw error(error_kind::usage, fmt::format("the solver may never stop: {}", o.stop.text()), "the stop criterion",
                "add a limit: | stop::iterations(1000), or | stop::seconds(60)");
  return a;
}

}  // namespace

linear_iteration::linear_iteration(runtime& rt, const linear_operator& a, std::span<const double> b,
                                   const linear_solver_options& o)
    : m_a(checked(a, o)),
      m_options(o),
      m_b(b, a.rows(), a.name()),
      m_program(rt, a, o.program.for_columns(m_b.columns())),
      m_with_changes(o.stop.asks_for_changes()),
      m_x(vector("x")),
      m_right(vector("b")),
      m_r(vector("r")),
      m_norms(numbers("|r|")),
      m_change_norms(numbers("|change of x|")),
      m_x_norms(numbers("|x|")) {
  require_symmetric_operator(m_program, a, "the operator");
  if (o.preconditioner) require_symmetric_operator(m_program, *o.preconditioner, "the preconditioner");
  if (m_with_changes) m_change = vector("change of x");
  m_right.set(m_b.numbers());
  if (o.guess.empty()) return;
  if (o.guess.size() != b.size())
    throw error(error_kind::usage,
                fmt::format("the guess has {} numbers, and the right side {}", o.guess.size(), b.size()), a.name(),
                "rows times columns, row by row");
  require_finite(o.guess, "the guess", a.name());
  m_x.set(m_b.scaled(o.guess));
}

void linear_iteration::precondition(const block_vector& r, const block_vector& z) const {
  if (m_options.preconditioner) apply(*m_options.preconditioner, r, z);
}

void linear_iteration::add_to_solution(const small_matrix& alpha, const block_vector& p) {
  axpy(alpha, p, m_x);
  if (!m_with_changes) return;
  copy(p, *m_change);
  scale(alpha, *m_change);
  column_norms(*m_change, m_change_norms);
  column_norms(m_x, m_x_norms);
}

void linear_iteration::refuse_indefinite(const char* what, const char* product, double value, std::size_t column,
                                         const char* hint) const {
  throw error(error_kind::input,
              fmt::format("{} is not positive definite: {} is {:.6g} in iteration {}, column {}", what, product, value,
                          m_iteration, column + 1),
              m_a.name(), hint);
}

/// The residual of x itself, and what the method makes of it.
void linear_iteration::start() {
  copy(m_right, m_r);
  apply(-1, m_a, m_x, 1, m_r);
  note_residual();
  begin();
}

solve_progress linear_iteration::progress() {
  m_residuals = m_norms.values();
  m_b.unscale(m_residuals);
  for (std::size_t j = 0; j < m_residuals.size(); ++j)
    if (!std::isfinite(m_residuals[j]))
      throw error(
          error_kind::numerical,
          fmt::format("the residual is {} behind iteration {}, column {}", m_residuals[j], m_iteration, j + 1),
          m_a.name(),
          fmt::format("{} or its preconditioner makes numbers that are not finite; a function makes every row of Y, "
                      "in all of its columns",
                      m_a.name()));
  if (m_first.empty()) m_first = m_residuals;
  m_changes.clear();
  if (m_with_changes && m_changed) {
    const std::vector<double> change = m_change_norms.values(), x = m_x_norms.values();
    for (std::size_t j = 0; j < x.size(); ++j)
      m_changes.push_back(x[j] > 0 ? change[j] / x[j] : change[j] > 0 ? std::numeric_limits<double>::infinity() : 0);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_began).count();
  return {.iteration = m_iteration,
          .seconds = seconds,
          .residuals = m_residuals,
          .first_residuals = m_first,
          .right_sides = m_b.norms(),
          .changes = m_changes};
}

stop_decision linear_iteration::decide() {
  const solve_progress now = progress();
  if (m_options.report) m_options.report(now);
  return m_options.stop.decide(now);
}

void linear_iteration::iterate(linear_solution& to) {
  bool first = true;  // it was decided already that it goes on from here
  const auto stops = [&] {
    if (std::exchange(first, false)) return false;
    ++m_iteration, m_changed = true;
    check();
    return decide().stops || is_beyond_rounding();
  };
  const loop_outcome more =
      m_program.while_not(stops, [this] { step(); }, {.max_iterations = std::numeric_limits<int>::max()});
  to.loop.iterations += more.iterations, to.loop.seconds += more.seconds;
  to.loop.build_seconds += more.build_seconds, to.loop.work += more.work;
  to.loop.passes = more.passes, to.loop.tasks = more.tasks, to.loop.form = more.form;
  add_moved(to.loop.moved, more.moved);
}

/// Whether a residual that was measured has not even halved since the last start: what is left is rounding.
bool linear_iteration::is_stuck(const std::vector<double>& measured) {
  bool stuck = !m_before.empty();
  for (std::size_t j = 0; j < m_before.size(); ++j) stuck &= m_before[j] == 0 || !(measured[j] <= 0.5 * m_before[j]);
  m_before = measured;
  return stuck;
}

/// Whether the recurrence has gone on from the last start by more than any product can confirm.
bool linear_iteration::is_beyond_rounding() const {
  constexpr double part = 1e-18;
  for (std::size_t j = 0; j < m_before.size(); ++j)
    if (m_residuals[j] > part * m_before[j]) return false;
  return true;
}

linear_solution linear_iteration::solve() {
  linear_solution found;
  for (;;) {
    start();
    check();
    found.stopped = decide();
    found.residuals = m_residuals;
    if (found.stopped.stops) break;
    if (is_stuck(m_residuals)) {
      found.stopped = {true, false, "rounding: residuals of products do not fall any further"};
      break;
    }
    iterate(found);
  }
  found.loop.converged = found.stopped.converged;
  found.x = m_x.values();
  m_b.unscale(found.x);
  found.panels = m_program.panels();
  return found;
}

}  // namespace tessera::sparse
