#include "languages/sial/chemistry/instructions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "languages/sial/chemistry/amplitude_port.hpp"
#include "languages/sial/chemistry/basis_access.hpp"
#include "languages/sial/chemistry/batch_tables.hpp"
#include "languages/sial/chemistry/one_electron_instructions.hpp"
#include "languages/sial/chemistry/orbital_instructions.hpp"
#include "languages/sial/chemistry/pair_instructions.hpp"
#include "languages/sial/chemistry/repulsion_instructions.hpp"
#include "languages/sial/chemistry/triples_port.hpp"
#include "languages/sial/instructions/builtin/arguments.hpp"
#include "languages/sial/instructions/instruction_job.hpp"

namespace tessera::sial {
namespace {

/// rrr: number, energy, residual.
void report_iteration(const instruction_call& c, const std::function<void(const iteration_report&)>& told) {
  const iteration_report now{static_cast<int>(scalar(c.arguments[0])), scalar(c.arguments[1]), scalar(c.arguments[2])};
  if (!told)
    c.job.host().print(
        fmt::format("iteration {}: energy {:.12f}, residual {:.3e}\n", now.number, now.energy, now.residual));
  else if (c.job.worker() == 0)
    told(now);
}

void append(std::vector<instruction>& to, std::vector<instruction> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<instruction> basis_instructions(const chemistry::integrals* over) {
  const auto basis = std::make_shared<basis_access>(over);
  std::vector<instruction> all = repulsion_instructions(basis);
  append(all, one_electron_instructions(basis));
  return all;
}

}  // namespace

std::vector<instruction> chemistry_instructions(const chemistry::integrals* over,
                                                std::function<void(const iteration_report&)> told,
                                                std::shared_ptr<amplitude_port> port,
                                                std::shared_ptr<triples_port> triples) {
  std::vector<instruction> all = basis_instructions(over);
  append(all, orbital_instructions());
  append(all, pair_instructions());
  append(all, batch_table_instructions());
  append(all, amplitude_instructions(std::move(port)));
  append(all, triples_instructions(std::move(triples)));
  all.push_back({"compute_int_scratchmem", {"uuu"}, {}, [](const instruction_call&) {}});  // programs may ask for it
  all.push_back({"report_iteration", {"rrr"}, {}, [told = std::move(told)](const instruction_call& c) {
                   report_iteration(c, told);
                 }});
  return all;
}

bool makes_repulsion(std::string_view name) {
  return name == "compute_integral_batch" || name.starts_with("compute_ubatch");
}

bool needs_basis(std::string_view name) {
  return std::ranges::any_of(basis_instructions(nullptr), [&](const instruction& one) { return one.name == name; });
}

}  // namespace tessera::sial
