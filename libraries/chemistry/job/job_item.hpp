#pragma once
// The items of a job by their names.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "libraries/chemistry/job/job.hpp"

namespace tessera::chemistry {

/// A value as files have it.
using item_value = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>>;

/// Sets the item of a name: "frozen_core" is the option --frozen-core. A whole number does for a real one. Throws
/// tessera::error (input) at `where`: for an unknown name, with the nearest; for another type; for a value out of
/// range.
void set_item(job& of, std::string_view name, const item_value& to, const std::string& where);

/// Files and folders of a job, but for its basis: names are those beside the job's file, "-" is standard output.
void place_files(job& of, const std::filesystem::path& folder);

/// All names that set_item knows.
const std::vector<std::string>& item_names();

/// What to do about a name that is not known: the nearest one, or all.
std::string hint_for_name(std::string_view name, const std::vector<std::string>& known);

}  // namespace tessera::chemistry
