#include "languages/sial/interpreter/collectives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "languages/sial/exchange/failure.hpp"

namespace tessera::sial {

void collectives::broadcast(std::int64_t from, std::vector<double>& values) {
  if (from < 0 || from >= static_cast<std::int64_t>(m_group.size()))
    throw run_error(fmt::format("there is no worker {}", from),
                    fmt::format("workers are numbered from 0 to {}", m_group.size() - 1));
  const timer waiting(m_state);
  m_group.broadcast(m_state.number, m_state.site, static_cast<unsigned>(from), values);
}

void collectives::assert_same(std::uint32_t scalar) {
  double& mine = m_state.values.scalar(scalar);
  const double first = of_first(mine);
  constexpr double tolerance = 5e-5;  // relative, as the language says
  if (std::abs(mine - first) > tolerance * std::max(std::abs(first), std::abs(mine)))
    throw run_error(fmt::format("scalar '{}' is {} here and {} on worker 0", m_state.run.program.scalars[scalar].name,
                                mine, first));
  mine = first;
  barrier();  // no worker goes on when one differs
}

}  // namespace tessera::sial
