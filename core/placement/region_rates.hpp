#pragma once
// What the regions of programs have learnt about a machine, kept beside the times of operations (history_file.hpp).
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::placement {

/// How fast a leaf was at a region (policy auto of hierarchy/policy).
struct region_rate {
  std::string region;                ///< its name
  std::string leaf;                  ///< the location's name
  double iterations_per_second = 0;  ///< beside the fixed cost
  double fixed_seconds = 0;          ///< of each launch
};

/// Those of one program: names of regions say nothing in another one.
struct program_rates {
  std::string program;             ///< see this_program
  std::vector<region_rate> rates;  ///< in the order of writing, the latest last
};

inline constexpr std::size_t max_region_rates = 4096;  ///< of a program
inline constexpr std::size_t max_programs = 32;        ///< of a machine

/// What this process is called in a history: the name of its program's file, wherever that lies.
std::string this_program();

/// Those of all programs on a machine, by program, the one that was written last first; none where the file cannot be
/// used. Throws nothing for what the file contains.
std::vector<program_rates> read_region_rates(const std::filesystem::path& file, std::span<const std::string> machine);
/// Those of one program.
std::vector<region_rate> read_region_rates(const std::filesystem::path& file, std::span<const std::string> machine,
                                           std::string_view program);
/// Writes them into the program's part of the machine's: these replace what there is of the same region and leaf, and
/// stand behind the others. At most `max_region_rates` of the program stay, and `max_programs`; the oldest go first,
/// and one program never makes another one's rates go while there is room for both. Returns "" or why not.
std::string write_region_rates(const std::filesystem::path& file, std::span<const std::string> machine,
                               std::string_view program, std::span<const region_rate> measured);

}  // namespace tessera::placement
