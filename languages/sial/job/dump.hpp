#pragma once
// What a program left, as JSON.
#include <nlohmann/json_fwd.hpp>

#include "languages/sial/interpreter/program_run.hpp"

namespace tessera::sial {

/// {"program", "ints", "scalars", "arrays": [{"name", "kind", "extents", "values"} or {"name", "kind", "blocks":
/// [{"segments", "shape", "values"}]}]}. Elements in the order of memory, first index fastest; `checksums`: their sum
/// and the sum of their magnitudes instead.
nlohmann::ordered_json dump_of(const program_run& run, bool checksums);

}  // namespace tessera::sial
