#include "tessera/sparse/stop_criterion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace tessera::sparse {

class stop_criterion::node {
 public:
  node(std::string words, bool always_ends, bool reads_changes)
      : text(std::move(words)), ends(always_ends), asks_for_changes(reads_changes) {}
  virtual ~node() = default;
  node(const node&) = delete;
  node& operator=(const node&) = delete;
  virtual stop_decision decide(const solve_progress& now) const = 0;

  const std::string text;
  const bool ends, asks_for_changes;
};

namespace {

/// What a single criterion looks at.
class leaf final : public stop_criterion::node {
 public:
  using test = std::function<bool(const solve_progress&)>;
  leaf(std::string words, bool limits, bool reads_changes, bool solves, test holds)
      : node(std::move(words), limits, reads_changes), m_solves(solves), m_holds(std::move(holds)) {}
  stop_decision decide(const solve_progress& now) const override {
    if (!m_holds(now)) return {};
    return {true, m_solves, text};
  }

 private:
  const bool m_solves;
  const test m_holds;
};

/// Two of them.
class pair final : public stop_criterion::node {
 public:
  pair(const stop_criterion& a, const stop_criterion& b, bool both)
      : node(both ? within_and(a) + " and " + within_and(b) : a.text() + " or " + b.text(),
             both ? a.ends() && b.ends() : a.ends() || b.ends(), a.asks_for_changes() || b.asks_for_changes()),
        m_a(a),
        m_b(b),
        m_both(both) {}
  stop_decision decide(const solve_progress& now) const override {
    const stop_decision a = m_a.decide(now), b = m_b.decide(now);
    if (m_both ? !(a.stops && b.stops) : !(a.stops || b.stops)) return {};
    if (m_both) return {true, a.converged || b.converged, a.by + " and " + b.by};
    if (a.stops && b.stops && a.converged == b.converged) return {true, a.converged, a.by + ", " + b.by};
    return a.stops && (a.converged || !b.stops) ? a : b;  // a limit that holds too is not what has stopped it
  }

 private:
  static std::string within_and(const stop_criterion& part) {
    const auto* const alternatives = dynamic_cast<const pair*>(part.inside().get());
    return alternatives != nullptr && !alternatives->m_both ? "(" + part.text() + ")" : part.text();
  }
  const stop_criterion m_a, m_b;
  const bool m_both;
};

stop_criterion made(std::string words, bool limits, bool reads_changes, bool solves, leaf::test holds) {
  return stop_criterion(
      std::make_shared<const leaf>(std::move(words), limits, reads_changes, solves, std::move(holds)));
}

/// numbers[j] <= part * of[j] for all of them; without `of` <= part. What is not finite is not.
bool are_small(std::span<const double> numbers, double part, std::span<const double> of = {}) {
  for (std::size_t j = 0; j < numbers.size(); ++j)
    if (!(std::isfinite(numbers[j]) && numbers[j] <= (of.empty() ? part : part * of[j]))) return false;
  return !numbers.empty();
}

void require_limit(double number, const char* what) {
  if (!(number >= 0))
    throw error(error_kind::usage, fmt::format("{} of {}", what, number), "the stop criterion", "0 or more");
}

}  // namespace

stop_decision stop_criterion::decide(const solve_progress& now) const { return m_node->decide(now); }
const std::string& stop_criterion::text() const noexcept { return m_node->text; }
bool stop_criterion::ends() const noexcept { return m_node->ends; }
bool stop_criterion::asks_for_changes() const noexcept { return m_node->asks_for_changes; }

stop_criterion operator|(const stop_criterion& a, const stop_criterion& b) {
  return stop_criterion(std::make_shared<const pair>(a, b, false));
}
stop_criterion operator&(const stop_criterion& a, const stop_criterion& b) {
  return stop_criterion(std::make_shared<const pair>(a, b, true));
}

namespace stop {

stop_criterion residual(double most) {
  require_limit(most, "a residual");
  return made(fmt::format("residual <= {:g}", most), false, false, true,
              [most](const solve_progress& now) { return are_small(now.residuals, most); });
}

stop_criterion relative_residual(double part) {
  require_limit(part, "a relative residual");
  return made(fmt::format("relative residual <= {:g}", part), false, false, true, [part](const solve_progress& now) {
    return now.right_sides.size() == now.residuals.size() && are_small(now.residuals, part, now.right_sides);
  });
}

stop_criterion residual_reduction(double part) {
  require_limit(part, "a reduction of the residual");
  return made(fmt::format("residual <= {:g} of the first", part), false, false, true,
              [part](const solve_progress& now) {
                return now.first_residuals.size() == now.residuals.size() &&
                       are_small(now.residuals, part, now.first_residuals);
              });
}

stop_criterion relative_change(double part) {
  require_limit(part, "a relative change");
  return made(fmt::format("relative change <= {:g}", part), false, true, true,
              [part](const solve_progress& now) { return are_small(now.changes, part); });
}

stop_criterion iterations(int most) {
  require_limit(most, "a number of iterations");
  return made(fmt::format("iterations >= {}", most), true, false, false,
              [most](const solve_progress& now) { return now.iteration >= most; });
}

stop_criterion seconds(double most) {
  require_limit(most, "a time");
  return made(fmt::format("seconds >= {:g}", most), std::isfinite(most), false, false,
              [most](const solve_progress& now) { return now.seconds >= most; });
}

stop_criterion when(std::string name, std::function<bool(const solve_progress&)> holds, bool solves) {
  if (holds == nullptr)
    throw error(error_kind::usage, "there is no function", "the stop criterion " + name, "one that says when to stop");
  return made(std::move(name), false, false, solves, std::move(holds));
}

}  // namespace stop

}  // namespace tessera::sparse
