#pragma once
/// @file
/// When an iterative solver stops: criteria as values, put together by | and &.
/// @code
/// const stop_criterion rule = (stop::relative_residual(1e-8) | stop::seconds(60)) & stop::iterations(5);
/// @endcode
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace tessera::sparse {

/// How far a solver is, behind an iteration or before the first: a number for each column of its block.
struct solve_progress {
  int iteration = 0;                             ///< how many have run
  double seconds = 0;                            ///< since the solver began
  std::span<const double> residuals;             ///< 2-norms
  std::span<const double> first_residuals = {};  ///< those before the first iteration
  std::span<const double> right_sides = {};      ///< 2-norms of b; of eigensolvers |lambda|
  /// ||x - x before|| / ||x||; empty before the first iteration, and where no criterion asks for it.
  std::span<const double> changes = {};
};

/// What a criterion says.
struct stop_decision {
  bool stops = false;
  bool converged = false;  ///< by one that says something of the solution, and not by a limit alone
  std::string by = {};     ///< the criteria that hold, in words: "iterations >= 500"; "" where it goes on
};

/// When a solver stops. A value: copies are the same criterion.
class stop_criterion {
 public:
  class node;

  stop_criterion(const stop_criterion&) = default;             ///< there is no move: it would leave one that is none
  stop_criterion& operator=(const stop_criterion&) = default;  ///< likewise

  /// Whether it holds. One of numbers holds when it does for all columns; what is not finite never does.
  stop_decision decide(const solve_progress& now) const;
  const std::string& text() const noexcept;  ///< "relative residual <= 1e-08 or iterations >= 500"
  bool ends() const noexcept;                ///< it holds some time whatever the numbers are: by iterations or seconds
  bool asks_for_changes() const noexcept;    ///< a part of it reads solve_progress::changes

  explicit stop_criterion(std::shared_ptr<const node> of) noexcept : m_node(std::move(of)) {}  ///< of namespace stop
  const std::shared_ptr<const node>& inside() const noexcept { return m_node; }                ///< likewise

 private:
  std::shared_ptr<const node> m_node;
};

/// Stops when one of the two does; converged where one that holds is.
stop_criterion operator|(const stop_criterion& a, const stop_criterion& b);
/// Stops when both do; converged where one of them is: iterations(5) & residual(1e-3) makes at least five.
stop_criterion operator&(const stop_criterion& a, const stop_criterion& b);

/// The criteria. Negative numbers, and what is no number, throw tessera::error (usage).
namespace stop {

stop_criterion residual(double most);            ///< residuals are at most this
stop_criterion relative_residual(double part);   ///< ... this times the right side's norm
stop_criterion residual_reduction(double part);  ///< ... this times what they were before the first iteration
stop_criterion relative_change(double part);     ///< the last iteration changed x by this times its norm at most
stop_criterion iterations(int most);             ///< a limit: so many have run
stop_criterion seconds(double most);             ///< a limit: so much time has passed
/// A function of yours. @param solves  whether the solution is good where it holds; else it is a limit. Throws
/// tessera::error (usage) for no function.
stop_criterion when(std::string name, std::function<bool(const solve_progress&)> holds, bool solves = true);

}  // namespace stop

}  // namespace tessera::sparse
