#include "libraries/sparse/solver/early_stop.hpp"

#include <cmath>
#include <utility>

namespace tessera::sparse {

void early_stop::ask(const eigen_progress& now) {
  if (m_said.stops) return;
  if (!now.searching) {
    m_iteration = now.iteration;
    m_residuals.clear(), m_values.clear();
    for (const pair_progress& p : now.of_pairs) {
      m_residuals.push_back(p.residual);
      m_values.push_back(std::abs(p.value));
    }
    if (m_first.empty()) m_first = m_residuals;
  }
  m_said = m_rule.decide({.iteration = m_iteration,
                          .seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - m_began).count(),
                          .residuals = m_residuals,
                          .first_residuals = m_first,
                          .right_sides = m_values});
}

eigen_options with_early_stop(const eigen_options& o) {
  eigen_options how = o;
  if (!o.stop || o.stopping != nullptr) return how;
  how.stopping = std::make_shared<early_stop>(*o.stop);
  how.report = [tell = o.report, asked = how.stopping](const eigen_progress& now) {
    if (tell) tell(now);
    asked->ask(now);
  };
  return how;
}

bool is_stopped(const eigen_options& o) noexcept { return o.stopping != nullptr && o.stopping->holds(); }

std::string stopped_by(const eigen_options& o) { return o.stopping != nullptr ? o.stopping->by() : std::string(); }

}  // namespace tessera::sparse
