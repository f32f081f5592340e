#include "languages/sial/chemistry/basis_access.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/error.hpp"
#include "languages/sial/instructions/builtin/arguments.hpp"

namespace tessera::sial {
namespace {

constexpr double min_integral = 1e-13;  // hartree; those with a smaller bound are zero in blocks

/// The shell that begins with a function.
std::size_t shell_at(const chemistry::integrals& over, std::int64_t function, const sial_argument& block) {
  std::size_t low = 0, high = over.shells();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (over.offset(middle) < static_cast<std::size_t>(function))
      low = middle + 1;
    else
      high = middle;
  }
  if (over.offset(low) != static_cast<std::size_t>(function))
    refuse(fmt::format("{} cuts a shell: no shell begins with function {}", shown(block), function + 1));
  return low;
}

}  // namespace

void expect_functions(const sial_argument& block, const chemistry::integrals& over) {
  for (int d = 0; d < block.rank; ++d) {
    if (block.kinds[d] != SIAL_AO) refuse(fmt::format("{} is not over basis functions alone", shown(block)));
    if (block.offsets[d] + block.extents[d] > static_cast<std::int64_t>(over.functions()))
      refuse(fmt::format("{} goes beyond the {} functions of the basis", shown(block), over.functions()));
  }
}

const chemistry::integrals& basis_access::over() const {
  if (m_over == nullptr)
    throw error(error_kind::input, "it needs a molecule and its basis, and there is none", "",
                "initialization data with the arrays coords, charge, ivangmom, alphas, pcoeffs, ...: see "
                "docs/chemistry.md");
  return *m_over;
}

const std::vector<double>& basis_access::overlap() {
  const chemistry::integrals& functions = over();
  std::call_once(m_has_overlap, [&] { m_overlap = functions.overlap(); });
  return m_overlap;
}

const std::vector<double>& basis_access::core() {
  const chemistry::integrals& functions = over();
  std::call_once(m_has_core, [&] {
    std::vector<double> sum = functions.kinetic();
    const std::vector<double> attraction = functions.attraction();
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += attraction[k];
    m_core = std::move(sum);
  });
  return m_core;
}

const std::array<std::vector<double>, 3>& basis_access::dipole() {
  const chemistry::integrals& functions = over();
  std::call_once(m_has_dipole, [&] { m_dipole = functions.dipole(); });
  return m_dipole;
}

std::unique_ptr<chemistry::repulsion_engine> basis_access::take() {
  {
    const std::lock_guard guard(m_lock);
    if (!m_idle.empty()) {
      std::unique_ptr<chemistry::repulsion_engine> one = std::move(m_idle.back());
      m_idle.pop_back();
      return one;
    }
  }
  return over().engine(1e-16);
}

void basis_access::give(std::unique_ptr<chemistry::repulsion_engine> one) {
  const std::lock_guard guard(m_lock);
  m_idle.push_back(std::move(one));
}

void basis_access::fill_repulsion(const sial_argument& block) {
  const chemistry::integrals& functions = over();
  expect_rank(block, 4, 4);
  expect_functions(block, functions);
  std::array<chemistry::shell_range, 4> ranges;
  for (std::size_t d = 0; d < 4; ++d)
    ranges[d] = {shell_at(functions, block.offsets[d], block),
                 shell_at(functions, block.offsets[d] + block.extents[d], block)};
  std::call_once(m_has_bounds, [&] { m_bounds = chemistry::schwarz_bounds(functions); });
  std::unique_ptr<chemistry::repulsion_engine> engine = take();
  chemistry::fill_block(functions, m_bounds, min_integral, *engine, ranges, elements(block));
  give(std::move(engine));
}

void basis_access::forget_kept() {
  if (m_over != nullptr) std::call_once(m_has_forgotten, [this] { m_over->forget_kept(); });
}

}  // namespace tessera::sial
