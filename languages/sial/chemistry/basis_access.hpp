#pragma once
// A molecule's basis as super instructions use it.
#include <tessera/sial.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "libraries/chemistry/integrals/integrals.hpp"

namespace tessera::sial {

/// Integrals for the workers of a job. What there is once is computed once, when it is first asked for. Any number of
/// threads.
class basis_access {
 public:
  /// `over` outlives it. Null: there is no basis, and everything below throws tessera::error (input) that says so.
  explicit basis_access(const chemistry::integrals* over) noexcept : m_over(over) {}
  basis_access(const basis_access&) = delete;
  basis_access& operator=(const basis_access&) = delete;

  const chemistry::integrals& over() const;
  const std::vector<double>& overlap();
  /// Kinetic energy and attraction by the nuclei.
  const std::vector<double>& core();
  /// x, y, z.
  const std::array<std::vector<double>, 3>& dipole();
  /// (mu nu|la si) of a block of basis functions; refuses others, and those that cut a shell.
  void fill_repulsion(const sial_argument& block);
  /// As integrals::forget_kept, once; without a basis it does nothing.
  void forget_kept();

 private:
  std::unique_ptr<chemistry::repulsion_engine> take();
  void give(std::unique_ptr<chemistry::repulsion_engine> one);

  const chemistry::integrals* const m_over;
  std::once_flag m_has_overlap, m_has_core, m_has_dipole, m_has_bounds, m_has_forgotten;
  std::vector<double> m_overlap, m_core, m_bounds;
  std::array<std::vector<double>, 3> m_dipole;
  std::mutex m_lock;
  std::vector<std::unique_ptr<chemistry::repulsion_engine>> m_idle;  // as many as have computed at once
};

/// Refuses blocks that are not over basis functions alone, or go beyond those of the basis.
void expect_functions(const sial_argument& block, const chemistry::integrals& over);

}  // namespace tessera::sial
