#include "languages/sial/chemistry/triples_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "languages/sial/instructions/builtin/arguments.hpp"
#include "languages/sial/instructions/instruction_job.hpp"

namespace tessera::sial {

void triples_port::tell_none(init_data& data) { data.ints["triples_are_kept"] = 0; }

triples_port::triples_port(init_data& data, triples_keeping keeping)
    : m_keeping(std::move(keeping)), m_occupied(static_cast<std::size_t>(data.ints.at("occupied"))) {
  data.ints["triples_are_kept"] = 1;
}

void triples_port::begin() {
  if (!m_energies.empty()) return;
  const std::size_t n = m_occupied, count = n * (n + 1) * (n + 2) / 6;
  if (m_keeping.begin) m_energies = m_keeping.begin(count);
  m_energies.resize(count, std::numeric_limits<double>::quiet_NaN());
}

/// The three orbitals count from 1, in any order.
double& triples_port::energy_of(const instruction_call& c) {
  std::array<std::size_t, 3> of{};
  for (std::size_t k = 0; k < 3; ++k) {
    const double number = scalar(c.arguments[k]);
    if (!(number >= 1 && number <= static_cast<double>(m_occupied)))
      refuse(fmt::format("the orbital is {}, and there are {} occupied ones", number, m_occupied));
    of[k] = static_cast<std::size_t>(number) - 1;
  }
  std::ranges::sort(of, std::greater<>{});
  return m_energies[of[0] * (of[0] + 1) * (of[0] + 2) / 6 + of[1] * (of[1] + 1) / 2 + of[2]];
}

/// rrrww: the orbitals, the energy, 1 if it is known.
void triples_port::find(const instruction_call& c) {
  const std::lock_guard guard(m_lock);
  begin();
  const double known = energy_of(c);
  scalar(c.arguments[3]) = std::isnan(known) ? 0.0 : known;
  scalar(c.arguments[4]) = std::isnan(known) ? 0.0 : 1.0;
}

/// rrrr: the orbitals, the energy. Others go on while one worker writes.
void triples_port::keep(const instruction_call& c) {
  std::vector<double> now;
  {
    const std::lock_guard guard(m_lock);
    begin();
    energy_of(c) = scalar(c.arguments[3]);
    if (m_is_keeping || !m_keeping.keep || !(m_keeping.is_due && m_keeping.is_due())) return;
    m_is_keeping = true;
    now = m_energies;
  }
  m_keeping.keep(now);
  const std::lock_guard guard(m_lock);
  m_is_keeping = false;
}

std::vector<instruction> triples_instructions(std::shared_ptr<triples_port> port) {
  const auto with = [&port](void (triples_port::*what)(const instruction_call&)) {
    return [port, what](const instruction_call& c) {
      if (port == nullptr) refuse("this job has no checkpoints of triples");
      (port.get()->*what)(c);
    };
  };
  return {{"find_triple", {"rrrww"}, {}, with(&triples_port::find)},
          {"keep_triple", {"rrrr"}, {}, with(&triples_port::keep)}};
}

}  // namespace tessera::sial
