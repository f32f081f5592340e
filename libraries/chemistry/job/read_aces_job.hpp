#pragma once
// Calculations as ACES II and ACES III have them: ZMAT files.
#include <filesystem>
#include <string>
#include <string_view>

#include "libraries/chemistry/job/job.hpp"

namespace tessera::chemistry {

/// Whether a text has a line that begins with *ACES2.
bool is_aces_job(std::string_view text);

/// Reads a ZMAT file: a title, atoms, a blank line and sections.
///
///     water
///     O  0.0  0.0      -0.0641
///     H  0.0  0.75669   0.521792
///     H  0.0 -0.75669   0.521792
///
///     *ACES2(CALC=CCSD(T),BASIS=CC-PVDZ
///     DROPMO=1)
///
///     *SIP
///     MAXMEM=500
///     SIAL_PROGRAM=scf_rhf.siox
///
/// Atoms are elements with x, y, z, or a Z-matrix, whose variables may end in '*'; UNITS=BOHR is for places alone. Keys
/// are set apart by commas, blanks and lines, with or without brackets around them; '#' begins a comment. The programs
/// that are named decide on the method, CALC does where there are none.
///
/// Throws tessera::error (input) with file:line:column, for keys and programs that are not known too: an energy would
/// not be the one that was asked for. A key that cannot change an energy, and has no meaning here, becomes a note.
job read_aces_job(const std::filesystem::path& file);

/// The same from memory; `name` stands for the file in messages.
job parse_aces_job(std::string_view text, const std::string& name);

}  // namespace tessera::chemistry
