#pragma once
// Correlation energies, by the programs of this folder.
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "languages/sial/chemistry/amplitude_port.hpp"
#include "languages/sial/chemistry/amplitudes.hpp"
#include "languages/sial/chemistry/instructions.hpp"
#include "languages/sial/chemistry/orbitals.hpp"
#include "languages/sial/chemistry/triples_port.hpp"
#include "languages/sial/estimate/verdict.hpp"
#include "languages/sial/instructions/registry.hpp"
#include "languages/sial/job/job.hpp"

namespace tessera::sial {

enum class correlation_method : std::uint8_t {
  mp2,
  ccsd,
  ccsd_t  ///< with the energy of triples
};

struct correlation_settings {
  correlation_method method = correlation_method::ccsd_t;
  orbital_choice orbitals;
  bool direct_ladder = false;  ///< integrals over four virtual orbitals are not stored; of closed shells alone
  int max_iterations = 50;
  double energy_threshold = 1e-9;    ///< hartree; converged where this and the next hold
  double residual_threshold = 1e-7;  ///< norm of the change of the amplitudes
  run_settings programs;
  amplitude_keeping keeping;                       ///< for checkpoints
  std::optional<triples_keeping> keeping_triples;  ///< the same
};

/// Energies in hartree, each beside that of the reference.
struct correlation_result {
  double mp2_same_spin = 0, mp2_opposite_spin = 0;
  double mp2() const noexcept { return mp2_same_spin + mp2_opposite_spin; }
  /// S. Grimme, J. Chem. Phys. 118 (2003) 9095.
  double scs_mp2() const noexcept { return 1.2 * mp2_opposite_spin + mp2_same_spin / 3; }
  std::optional<double> ccsd, triples;  ///< what was computed; no triples where ccsd has not converged
  bool converged = true;
  int iterations = 0;               ///< with those before a restart
  double change = 0, residual = 0;  ///< of the last one
  /// T. J. Lee, P. R. Taylor, Int. J. Quantum Chem. S23 (1989) 199; C. L. Janssen, I. M. B. Nielsen, Chem. Phys. Lett.
  /// 290 (1998) 423.
  double t1_diagnostic = 0, d1_diagnostic = 0;
  std::vector<amplitude> largest_singles, largest_doubles;  ///< of ccsd: ten each, descending
  std::vector<program_report> programs;
};

/// A field that is not known yet but for the numbers of its orbitals: all values are 0. For estimates.
chemistry::scf_result unknown_field(const chemistry::molecule& of, chemistry::reference kind, std::size_t functions,
                                    std::size_t orbitals);
/// What each program will need, in their order, over orbitals of such numbers. Throws tessera::error as orbital_data.
std::vector<program_estimate> estimate_correlation(const chemistry::integrals& over, const chemistry::scf_result& field,
                                                   const correlation_settings& how);

/// One calculation. The runtime and the integrals outlive it.
class correlation_job {
 public:
  /// Compiles the programs. Throws tessera::error as orbital_data. `told`: of each iteration; may be empty.
  correlation_job(runtime& rt, const chemistry::integrals& over, const chemistry::scf_result& scf,
                  const correlation_settings& how, std::function<void(const iteration_report&)> told);
  correlation_job(const correlation_job&) = delete;
  correlation_job& operator=(const correlation_job&) = delete;

  const std::vector<job_program>& programs() const noexcept { return m_programs; }
  const init_data& data() const noexcept { return m_data; }
  job& programs_job() noexcept { return m_job; }
  /// Throws tessera::error as job::run. What has not converged is returned as such.
  /// @param done  called with what there is when a program has ended; may be empty
  correlation_result run(const std::function<void(const correlation_result&)>& done = {});

 private:
  void note_diagnostics(correlation_result& to) const;
  void note_amplitudes(correlation_result& to) const;
  double number(const std::string& label) const;

  const correlation_settings m_settings;
  const bool m_closed;  // the programs are those for closed shells
  init_data m_data;
  const std::vector<orbital_label> m_labels;
  std::shared_ptr<amplitude_port> m_port;
  std::shared_ptr<triples_port> m_triples;
  instruction_registry m_instructions;
  std::vector<job_program> m_programs;
  int m_iterations = 0;
  double m_energy = 0, m_change = 0;  // of the last iteration
  job m_job;
};

}  // namespace tessera::sial
