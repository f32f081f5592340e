#pragma once
// Calculations as QCSchema, version 1 (https://molssi-qc-schema.readthedocs.io).
#include <filesystem>
#include <string>
#include <string_view>

#include "libraries/chemistry/job/job.hpp"

namespace tessera::chemistry {

/// Reads an AtomicInput: `schema_name` "qcschema_input", `molecule` with symbols and geometry in bohr, `driver`
/// "energy", and `model` with method and a basis set, by name or as a BasisSet. `keywords` are the names of set_item,
/// small or large letters alike, besides freeze_core, num_frozen_docc, num_frozen_uocc and e_convergence, which have
/// other names here.
///
/// Throws tessera::error (input) with the place in the file ("water.json:3:5: molecule.geometry"): for a text that is
/// no JSON, a key that is given twice, an unknown key, keyword or method, another driver, ghost atoms, a charge that is
/// no whole number, and lists whose lengths do not fit together. What says nothing about an energy is read over: names,
/// masses, bonds, fragments, provenance, extras. Other protocols than the usual ones become notes.
job read_qcschema(const std::filesystem::path& file);

/// The same from memory; `name` stands for the file in messages.
job parse_qcschema(std::string_view text, const std::string& name);

}  // namespace tessera::chemistry
