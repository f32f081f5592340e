#include <fmt/format.h>

#include "languages/sial/code/accumulations.hpp"
#include "languages/sial/code/lowering.hpp"

namespace tessera::sial {

lowering::lowering(const program& from) : m_from(from), m_accumulations(find_accumulations(from)) {}

void lowering::declare() {
  m_code.program = m_from.name();
  m_code.ints = m_from.ints;
  m_code.indices = m_from.indices;
  m_code.scalars = m_from.scalars;
  m_code.arrays = m_from.arrays;
  m_code.specials = m_from.specials;
  m_code.sources = m_from.sources;
  for (const int_declaration& d : m_from.ints) int_register(d.value);
  m_code.first_index = static_cast<std::uint32_t>(m_code.int_start.size());
  for (std::size_t k = 0; k < m_from.indices.size(); ++k) int_register(unbound);
  for (const scalar_declaration& d : m_from.scalars) m_code.scalar_start.push_back(d.value);
  for (const index_declaration& d : m_from.indices)
    m_code.ranges.push_back(d.kind == index_kind::sub ? index_range{}
                                                      : index_range{range_end(d.low), range_end(d.high)});
}

code lowering::run() {
  declare();
  for (const unit& u : m_from.units) lower_body(u.inside);
  emit(opcode::end);
  std::map<symbol, std::uint32_t> starts;
  m_in_procedure = true;
  for (symbol k = 0; k < m_from.procedures.size(); ++k) {
    const procedure& p = m_from.procedures[k];
    if (!p.called) continue;
    starts[k] = here();
    lower_body(p.inside);
    emit(opcode::return_);
  }
  for (const auto& [at, to] : m_calls) send(at, starts.at(to));
  return std::move(m_code);
}

std::uint32_t lowering::emit(opcode what, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  m_code.steps.push_back({what, m_site, a, b, c});
  return here() - 1;
}

void lowering::lower_body(const body& statements) {
  for (auto s = statements.begin(); s != statements.end(); ++s) {
    if (!m_accumulations.contains(&*s)) {
      lower_statement(*s);
      continue;
    }
    m_sum_site = static_cast<std::uint32_t>(m_code.sites.size());
    m_code.sites.push_back({s[1].where});
    lower_statement(joined(s[0], s[1]));
    m_sum_site = nothing;
    ++s;
  }
}

void lowering::lower_statement(const statement& s) {
  const std::uint32_t outer = m_site;
  m_site = static_cast<std::uint32_t>(m_code.sites.size());
  m_code.sites.push_back({s.where});
  m_used_ints = m_used_scalars = 0;
  std::visit([this](const auto& what) { lower(what); }, s.form);
  m_site = outer;
}

code lower(const program& from) { return lowering(from).run(); }

std::string where_of(const code& c, std::uint32_t site) {
  if (site >= c.sites.size()) return c.program;
  const place& p = c.sites[site].where;
  return fmt::format("{}:{}", p.file < c.sources.files.size() ? c.sources.files[p.file].path : c.program, p.line);
}

std::string place_of(const code& c, std::uint32_t site) {
  return site < c.sites.size() ? fmt::format("{}:{}", where_of(c, site), c.sites[site].where.column) : c.program;
}

}  // namespace tessera::sial
