#pragma once
// What was learnt about a machine, kept from run to run in a JSON file.
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/placement/history.hpp"
#include "core/plugin/device.hpp"

namespace tessera::placement {

/// The name under which what is learnt about a device is kept: all CPUs are "cpu".
std::string kind_name(const plugin::device& device);

/// What makes measurements of one machine worthless on another, a line each: the CPU's model, and each device that
/// computes with its plugin, name, identity and rate.
std::vector<std::string> machine_lines(std::span<const std::unique_ptr<plugin::device>> devices);
/// 16 hexadecimal digits that stand for these lines.
std::string signature_of(std::span<const std::string> lines);

/// The file that runtime.history names: "" for "off"; for "auto" history-SIGNATURE.json in $XDG_CACHE_HOME/tessera or
/// $HOME/.cache/tessera, "" when neither variable holds an absolute path; else the path itself.
std::filesystem::path history_path(std::string_view setting, std::string_view signature);

/// What a file says of one machine.
struct stored_history {
  std::vector<place_kind> kinds;  ///< places with their links and described speeds
  std::vector<history_cell> cells;
  std::string refused;      ///< not empty: why nothing could be taken from the file; one sentence
  bool replaceable = true;  ///< false: it is something else, or of a newer version: it must not be overwritten
};

/// Never throws for what the file contains: absent and empty files have no cells, others give a reason.
stored_history read_history(const std::filesystem::path& file, std::span<const std::string> machine);

/// Writes the machine's part of the file anew: cells that are `fresh` or not in it yet replace what is there; the rest
/// of the file, other machines included, stays. Written beside and renamed, so that a reader finds the old or the new
/// one. Makes missing folders. At most 16 machines are kept, the one written longest ago goes first. Returns "" or why
/// not.
std::string write_history(const std::filesystem::path& file, std::span<const std::string> machine,
                          std::span<const place_kind> kinds, std::span<const history_cell> cells);

/// A name as a history has it: what is not UTF-8 is replaced.
std::string kept_name(std::string_view name);

/// Forgets the machine; a file without machines is removed. Returns whether there was something to forget. Throws
/// tessera::error (configuration) when the file is no history or cannot be written.
bool clear_history(const std::filesystem::path& file, std::span<const std::string> machine);

/// Throws tessera::error (configuration) when the file, or the first of its missing folders, cannot be written.
void require_history_writable(const std::filesystem::path& file);

}  // namespace tessera::placement
