#pragma once
// What the command line of tessera chem can say.
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/command_options.hpp"

namespace tessera::apps {

struct chem_options : command_options {
  std::string file, basis = "cc-pvdz", method = "ccsd(t)", reference = "auto", guess = "auto", unit = "auto", memory,
                    functions = "auto", stability = "auto", ladder = "auto";
  std::string machine, interconnect;
  int nodes = 1;
  std::optional<int> charge, multiplicity;
  bool frozen_core = false, deterministic = false, estimate = false, profile = false;
  std::optional<int> frozen_orbitals;
  int frozen_virtual = 0, scf_iterations = 100, cc_iterations = 50;
  double convergence = 1e-9, level_shift = 0, damping = 0;
  std::vector<std::size_t> segments;
  std::string devices = "best";
  std::string write_programs, restart, start_from;
  double checkpoint_interval = 0;
  std::string molden, fcidump, trexio, qcschema;  ///< files to write
  std::string own_basis;           ///< a set in QCSchema's form that the file has; `basis` is its name then
  std::vector<std::string> notes;  ///< what the file asks for and nothing does
};

}  // namespace tessera::apps
