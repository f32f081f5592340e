#pragma once
// What a calculation keeps for its next start, and what it begins with.
#include <chrono>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "apps/chem/checkpoint_needs.hpp"
#include "apps/chem/journal.hpp"
#include "apps/chem/options.hpp"
#include "apps/chem/problem.hpp"
#include "apps/common/report.hpp"
#include "libraries/chemistry/checkpoint/amplitudes.hpp"
#include "libraries/chemistry/checkpoint/energies.hpp"
#include "libraries/chemistry/checkpoint/field.hpp"
#include "libraries/chemistry/checkpoint/folder_lock.hpp"
#include "libraries/chemistry/checkpoint/triples.hpp"

namespace tessera::apps {

/// The folders of --restart, which is read and written, and of --start-from, which is read. A checkpoint that cannot be
/// written is a warning: the calculation goes on.
class checkpoints {
 public:
  /// All outlive it. Throws tessera::error: usage where options contradict each other, or another job has the folder;
  /// output where it cannot be made; input where it is damaged or of another calculation. Those below throw output
  /// where something is to be computed, and the folder cannot be written to or has too little room. For an estimate the
  /// folder of --restart is left alone.
  checkpoints(const chem_options& o, const problem& p, const journal& told, report& to);
  /// What the files will take, and what room there is.
  void expect(const checkpoint_needs& needs, const checkpoint_room& room);

  /// Chooses what the field begins with, and what is kept of it. Nothing is computed where a field of --restart has
  /// converged as is wanted: it is returned.
  std::optional<chemistry::scf_result> begin_field(chemistry::scf_settings& how);
  void keep_field(const chemistry::scf_result& scf);

  /// Energies of --restart that answer all that is asked for. What of the folder is damaged beside them is a warning.
  std::optional<sial::correlation_result> finished(const chemistry::scf_result& scf,
                                                   const sial::correlation_settings& how) const;
  /// What coupled cluster begins with, and where its amplitudes go.
  sial::amplitude_keeping keeping(const sial::correlation_settings& how);
  /// Where energies of single triples go, and what is known of them. Nothing where there is no --restart.
  std::optional<sial::triples_keeping> keeping_triples(const chemistry::scf_result& scf,
                                                       const sial::correlation_settings& how);
  void keep_energies(const chemistry::scf_result& scf, const sial::correlation_settings& how,
                     const sial::correlation_result& c);

  /// What a job that has failed can say of what is kept; "" where nothing is.
  std::string advice() const;

 private:
  using clock = std::chrono::steady_clock;
  void open_own();
  void open_source();
  void require_room();
  void begin_with_source(chemistry::scf_settings& how);
  std::optional<sial::amplitude_start> begin_amplitudes(const chemistry::amplitudes& zeros,
                                                        const sial::correlation_settings& how);
  std::optional<sial::amplitude_start> projected(std::shared_ptr<const chemistry::stored_amplitudes> from,
                                                 const chemistry::amplitudes& zeros, const std::string& folder);
  /// Runs what writes a file; a failure is told once, and the calculation goes on.
  bool try_to_write(const std::string& what, const std::function<void()>& write);
  std::vector<double> known_triples(const chemistry::stored_triples& of, std::size_t count);
  std::string why_no_history(const chemistry::amplitude_state& state, const chemistry::amplitudes& zeros) const;
  std::string what_is_kept() const;
  void warn_of_damage() const;
  std::optional<sial::correlation_result> stored_result(const chemistry::scf_result& scf,
                                                        const sial::correlation_settings& how) const;
  void say(const std::string& key, const std::string& label, const std::string& text, const std::string& value);

  const chem_options& m_options;
  const problem& m_problem;
  const journal& m_journal;
  report& m_report;
  std::filesystem::path m_own, m_source;
  std::optional<chemistry::folder_lock> m_lock;
  std::optional<chemistry::stored_field> m_own_field, m_source_field;
  std::optional<chemistry::stored_energies> m_energies;
  double m_linear_dependence = 0;
  clock::time_point m_last_kept;
  checkpoint_needs m_needs;
  checkpoint_room m_room;
  bool m_has_room_for_history = true;
  double m_min_residual = std::numeric_limits<double>::infinity();
  bool m_diverges = false, m_warned = false;
  chemistry::amplitude_state m_amplitudes;  // that are kept, or were restored
  clock::time_point m_last_triples;
  double m_triples_seconds = 0;  // to write them
  std::string m_kept_field, m_kept_amplitudes, m_kept_energies, m_kept_triples;
};

}  // namespace tessera::apps
