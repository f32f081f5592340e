#pragma once
// Integrals over orbitals as text: P. J. Knowles, N. C. Handy, Comput. Phys. Commun. 54 (1989) 75.
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "libraries/chemistry/exchange/hamiltonian.hpp"

namespace tessera::chemistry {

/// Bytes of a line of an integral.
inline constexpr std::size_t fcidump_line = 44;

/// Integrals below 1e-15 hartree are left out. All orbitals have symmetry 1. Where each spin has its own orbitals, the
/// header has IUHF=1, and there are blocks: (pq|rs) of alpha, of beta, of alpha with beta, h of alpha, of beta, each
/// with a line of zeros behind it, then the core.
std::string fcidump_text(const hamiltonian& of);

/// Reads NORB, NELEC, MS2, IUHF (also UHF) and the integrals, with IUHF=1 in the blocks above; ORBSYM and ISYM are read
/// over, and so are orbital energies. Throws tessera::error (input) with file:line:column: for another key, an ordinal
/// beyond NORB, an integral that is there twice with different values, and one that does not belong to its block. Of
/// kind memory as require_memory_for.
hamiltonian read_fcidump(const std::filesystem::path& file);

/// The same from memory; `name` stands for the file in messages.
hamiltonian parse_fcidump(std::string_view text, const std::string& name);

}  // namespace tessera::chemistry
