#pragma once
// What the keys of ZMAT files mean here.
#include <cstddef>
#include <string>
#include <vector>

#include "libraries/chemistry/job/job.hpp"

namespace tessera::chemistry {

/// KEY=VALUE of a section, and where it stands.
struct aces_entry {
  std::string key;  ///< in small letters
  std::string value;
  std::string where;  ///< file:line:column
};

/// Takes the keys of *ACES2 and *SIP one after another. Throws tessera::error (input) at an entry that is not known,
/// has a value that is not, or is there twice.
class aces_keys {
 public:
  void take_aces(const aces_entry& e, job& to);
  void take_sip(const aces_entry& e, job& to);
  /// What several keys say together: the method, the reference.
  void finish(job& to);
  bool in_bohr() const noexcept { return m_bohr; }

 private:
  void take_unit(const aces_entry& e);
  void take_program(const aces_entry& e, job& to);
  void require_first(const std::string& name, const aces_entry& e);

  bool m_bohr = false;
  std::vector<std::string> m_seen;
  std::string m_program_method, m_program_reference;  // of the programs that are named
  std::string m_programs_at;
};

}  // namespace tessera::chemistry
