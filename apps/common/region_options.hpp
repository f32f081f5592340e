#pragma once
// What the commands that run regions have in common.
#include <string>

#include "apps/common/command_options.hpp"
#include "apps/common/report.hpp"
#include "tessera/region.hpp"

namespace tessera::apps {

/// Filled by the command line.
struct loop_options : command_options {
  std::string policy = "runtime";  ///< --policy
  std::string at;                  ///< --at; "": where the arrays are
  std::string tree;                ///< --tree FILE; "-": standard output; "": none

  /// Adds --policy, --at, --tree and what add_run_options adds.
  void add_loop_options(command_table& to);
  /// Throws tessera::error (usage) where --tree cannot be written, or goes where --json goes.
  void require_tree() const;
  /// Throws tessera::error (usage) where --at is no location, with the nearest name, and where it cannot be that of
  /// arrays and loops: a storage location, or one without cores.
  void require_location(const location_model& model) const;
  /// For the regions of the command.
  region_options regions() const {
    return {.policy = region_policy::from_text(policy), .at = at, .policy_source = "--policy"};
  }
};

/// Throws tessera::error (usage), with the nearest name, where a word is none of the program's commands that run
/// regions.
void require_region_application(const command_table& program, const std::string& name);

/// The line `tree`: the files that describe the tree of locations, or that it is as it was discovered.
void add_tree(report& to, const command_options& options);

/// A line per region: where it ran, by which policy, and what share of its iterations each leaf got; in the JSON the
/// list `regions`.
void add_regions(report& to, const location_model& model);

/// The tree with the arrays and the regions' shares as they are now, in the form that the name of the file selects:
/// .svg, .dot, .json, or text. "" for no file.
std::string draw_tree(const location_model& model, const std::string& file);

}  // namespace tessera::apps
