#pragma once
// What a user asks for, whatever file it was written in.
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libraries/chemistry/molecule/molecule.hpp"
#include "libraries/chemistry/molecule/read_xyz.hpp"

namespace tessera::chemistry {

/// A calculation: a molecule, a method, and how to go about it. What a file does not say has no value.
struct job {
  std::string name;              ///< the file, for messages
  chemistry::molecule geometry;  ///< as read, unchecked; its charge and spin are what the file says beside the atoms
  std::optional<int> charge, multiplicity;
  std::optional<std::string> basis;      ///< the name of a set, or of a file
  std::optional<std::string> own_basis;  ///< a set in QCSchema's form, as text; `basis` is its name then
  std::optional<std::string> method;     ///< "scf", "mp2", "ccsd" or "ccsd(t)"
  std::optional<std::string> reference;  ///< "auto", "rhf", "uhf" or "rohf"
  std::optional<std::string> guess;      ///< "auto", "sad", "core", "read" or "projected"
  std::optional<std::string> stability;  ///< "auto", "check", "follow" or "off"
  std::optional<std::string> ladder;     ///< "auto", "stored" or "direct"
  std::optional<std::string> devices;    ///< "best", "never" or "always"
  std::optional<std::string> memory;     ///< as written: "2GiB"
  std::optional<bool> spherical;         ///< of all shells, whatever the basis set says; false: Cartesian
  std::optional<bool> frozen_core, deterministic, profile;
  std::optional<int> frozen_orbitals;  ///< not beside frozen_core
  std::optional<int> frozen_virtual, scf_iterations, cc_iterations, workers;
  std::optional<double> convergence, level_shift, damping;       ///< hartree, hartree, a part of 1
  std::optional<std::vector<int>> segments;                      ///< three lengths: functions, occupied, virtual
  std::optional<std::string> restart, start_from;                ///< folders of checkpoints
  std::optional<double> checkpoint_interval;                     ///< seconds
  std::optional<std::string> molden, fcidump, trexio, qcschema;  ///< files to write
  std::vector<std::string> reads;                                ///< further files that were read, or will be
  std::vector<std::string> notes;  ///< what the file asks for and nothing does: a sentence each, to be shown
};

/// Reads the calculation from a file, by its name. `.xyz` and `.zmat` are a molecule alone (see read_molecule), `.toml`
/// is for read_toml_job, `.json` for read_qcschema; ZMAT..., and a `.zmat` with a line `*ACES2`, for read_aces_job.
/// `unit` is for XYZ files. Throws tessera::error: usage for other names, and for a unit where it has no meaning; input
/// as the readers.
job read_job(const std::filesystem::path& file, std::optional<length_unit> unit = std::nullopt);

/// The molecule with the job's charge and multiplicity, checked (see `check`). Throws tessera::error as that, and
/// (usage) for an odd number of electrons without a multiplicity.
molecule molecule_of(const job& of);

/// "ccsd(t)" for "CCSD(T)" and "ccsd-t", "scf" for "hf". Throws tessera::error (usage) for a method that is not there;
/// the hint has the nearest or all.
std::string usual_method(std::string_view name);

}  // namespace tessera::chemistry
