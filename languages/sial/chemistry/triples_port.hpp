#pragma once
// Energies of single triples on their way between programs and what keeps them.
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "languages/sial/chemistry/instructions.hpp"
#include "languages/sial/data/init_data.hpp"

namespace tessera::sial {

/// Who keeps energies of triples of occupied orbitals, and where they come from. Numbers are hartree, and not a number
/// where a triple is not known. Any worker calls, one at a time.
struct triples_keeping {
  /// Of so many triples, what is known already.
  std::function<std::vector<double>(std::size_t count)> begin;
  /// Whether it is time to keep them again; asked when one more is known.
  std::function<bool()> is_due;
  std::function<void(const std::vector<double>&)> keep;
};

/// The triples of one job.
class triples_port {
 public:
  /// Tells the programs by `data` that they are kept: the int "triples_are_kept" is 1.
  triples_port(init_data& data, triples_keeping keeping);
  triples_port(const triples_port&) = delete;
  triples_port& operator=(const triples_port&) = delete;

  /// What a job without checkpoints tells its programs.
  static void tell_none(init_data& data);

  void find(const instruction_call& c);
  void keep(const instruction_call& c);

 private:
  void begin();  // the lock is held
  double& energy_of(const instruction_call& c);

  const triples_keeping m_keeping;
  const std::size_t m_occupied;
  std::mutex m_lock;
  std::vector<double> m_energies;
  bool m_is_keeping = false;
};

/// The instructions find_triple and keep_triple; docs/chemistry.md. Of no port they are errors.
std::vector<instruction> triples_instructions(std::shared_ptr<triples_port> port);

}  // namespace tessera::sial
