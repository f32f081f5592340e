#pragma once
// The integrals of a basis, of which the two-electron ones are read where a builder of Fock matrices has kept them.
#include "libraries/chemistry/scf/fock.hpp"

namespace tessera::chemistry {

class kept_integrals final : public integrals {
 public:
  /// Both outlive it; `builder` is of `over`.
  kept_integrals(const integrals& over, fock_builder& builder);

  std::vector<double> overlap() const override { return m_over.overlap(); }
  std::vector<double> kinetic() const override { return m_over.kinetic(); }
  std::vector<double> attraction() const override { return m_over.attraction(); }
  std::array<std::vector<double>, 3> dipole() const override { return m_over.dipole(); }
  /// Quartets that the builder has not kept are computed.
  std::unique_ptr<repulsion_engine> engine(double bound) const override;
  bool obeys_schwarz() const noexcept override { return m_over.obeys_schwarz(); }
  double engine_bytes() const override { return m_over.engine_bytes(); }
  void forget_kept() const override { m_builder.forget(); }

 private:
  const integrals& m_over;
  fock_builder& m_builder;
};

}  // namespace tessera::chemistry
