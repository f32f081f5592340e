#pragma once
// Estimates for people, and as JSON.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "languages/sial/estimate/verdict.hpp"

namespace tessera::sial {

std::string to_text(const program_estimate& e, const verdict& v, const source_set& sources);
nlohmann::ordered_json to_json(const program_estimate& e, const verdict& v, const source_set& sources);

/// The word for a kind of array: "contiguous local".
const char* word_of(array_kind kind) noexcept;

}  // namespace tessera::sial
