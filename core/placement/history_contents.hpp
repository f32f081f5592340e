#pragma once
// The file of a history as JSON: what those who keep something in it have in common. Internal to this room.
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace tessera::placement {

using history_json = nlohmann::ordered_json;

/// In the part of a machine: what the regions of programs have learnt (region_rates.hpp).
inline constexpr const char* programs_key = "programs";

/// What a file contains.
struct history_contents {
  history_json whole;   ///< an object with the version and "machines"
  std::string refused;  ///< why not
  bool ours = false;    ///< it is a history, if only a damaged one
  bool newer = false;
  bool absent = false;  ///< or empty
};

/// Never throws for what the file contains.
history_contents read_contents(const std::filesystem::path& file);
/// A history of no machine.
history_json empty_history();
/// Writes it whole or not at all, with missing folders; of more machines than are kept, those written last. Returns ""
/// or why not.
std::string write_contents(const std::filesystem::path& file, history_json& whole);

/// For "written", by which the oldest go first.
std::int64_t seconds_now();
/// Erases members of `of` until there are at most so many: those that were written longest ago.
void forget_oldest(history_json& of, std::size_t most);

}  // namespace tessera::placement
