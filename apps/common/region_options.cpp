#include "apps/common/region_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/environment.hpp"
#include "core/base/suggest.hpp"
#include "hierarchy/region/live_tree.hpp"
#include "hierarchy/region/plan.hpp"

namespace tessera::apps {

void loop_options::add_loop_options(command_table& to) {
  to.add({
      {"--policy",
       &policy,
       "POLICY",
       "how loops are split: static, flatten, percentage:60,40, range:600,400 (only where all loops have that many "
       "iterations), any, auto, or runtime for what the configuration says (region.policy)",
       {.shows_default = true}},
      {"--at", &at, "LOCATION", "the location where the arrays are and the loops run; by default the root of the tree"},
      {"--tree", &tree, "FILE",
       "draw the tree with the arrays and the loops' shares: FILE.svg, .dot, .json, or text; - is standard output"},
  });
  add_run_options(to);
}

namespace {

/// How a tree is drawn into a file of this name; nullopt: its ending is none of a drawing.
std::optional<tree_form> form_of(const std::filesystem::path& file) {
  const std::string ending = file.extension();
  if (ending == ".svg") return tree_form::svg;
  if (ending == ".dot") return tree_form::dot;
  if (ending == ".json") return tree_form::json;
  return ending.empty() || ending == ".txt" ? std::optional(tree_form::text) : std::nullopt;
}

}  // namespace

void loop_options::require_tree() const {
  if (tree.empty()) return;
  if (!form_of(tree))
    throw error(error_kind::usage, fmt::format("a tree cannot be drawn into '{}'", tree), "--tree",
                "the name ends in .svg, .dot, .json or .txt, or has no '.'");
  require_writable(tree);
}

namespace {

/// The policy that leaves all of a loop to one leaf; empty where the location is none.
std::string policy_for(const location::tree& tree, location::node_id leaf) {
  std::string shares;
  bool found = false;
  for (const location::node_id id : hierarchy::leaves_of_region(tree, tree.root(), hierarchy::all_executors)) {
    found |= id == leaf;
    shares += fmt::format("{}{}", shares.empty() ? "" : ",", id == leaf ? 100 : 0);
  }
  return found ? "percentage:" + shares : "";
}

}  // namespace

void loop_options::require_location(const location_model& model) const {
  if (at.empty()) return;
  const std::shared_ptr<const location::tree> locations = model.tree();
  const location::node_id place = hierarchy::attached_location(*locations, at, "--at");
  if (locations->at(place).properties.kind == location::kind::storage)
    throw error(error_kind::usage,
                fmt::format("'{}' is a storage location, where arrays are files that stay behind the command", at),
                "--at", "name a memory, a group or the cores; `tessera topology` shows them");
  if (hierarchy::leaves_of_region(*locations, place).empty()) {
    const std::string alone = policy_for(*locations, place);
    throw error(error_kind::usage, fmt::format("no cores are at or below location '{}', and they make the inputs", at),
                "--at",
                alone.empty() ? "name a location that has cores below it; `tessera topology` shows them"
                              : fmt::format("--policy {} leaves the loops to it, and --at names a location that has "
                                            "cores below it",
                                            alone));
  }
}

std::string draw_tree(const location_model& model, const std::string& file) {
  return file.empty() ? "" : model.draw(form_of(file).value_or(tree_form::text));
}

void require_region_application(const command_table& program, const std::string& name) {
  std::vector<std::string> names;
  for (const command_table& one : program.commands)
    if (one.find("--policy") != nullptr) names.push_back(one.name);
  if (std::ranges::find(names, name) != names.end()) return;
  const std::string near = suggest(name, names);
  throw error(
      error_kind::usage, fmt::format("there is no application over regions '{}'", name), "the command line",
      near.empty() ? fmt::format("there are {}", fmt::join(names, ", ")) : fmt::format("did you mean '{}'?", near));
}

void add_tree(report& to, const command_options& options) {
  const char* const named = environment_variable("TESSERA_CONFIG");
  to.add("tree", "tree",
         !options.config.empty() ? fmt::format("{}", fmt::join(options.config, ", "))
         : named != nullptr      ? std::string(named)
                                 : "as discovered");
}

void add_regions(report& to, const location_model& model) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  std::vector<std::pair<std::string, std::string>> lines;
  for (const region_row& row : model.regions()) {
    nlohmann::ordered_json shares = nlohmann::ordered_json::array();
    std::string text;
    for (const region_share& s : row.shares) {
      const double share =
          row.iterations > 0 ? 100.0 * static_cast<double>(s.iterations) / static_cast<double>(row.iterations) : 0;
      text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", s.leaf, share);
      shares.push_back({{"location", s.leaf}, {"iterations", s.iterations}, {"tasks", s.tasks}});
    }
    all.push_back({{"name", row.name},
                   {"location", row.location},
                   {"policy", row.policy},
                   {"launches", row.launches},
                   {"iterations", row.iterations},
                   {"shares", std::move(shares)}});
    text = fmt::format("at {}, {}: {}", row.location, row.policy, text.empty() ? "nothing" : text);
    lines.emplace_back(row.name, std::move(text));
  }
  const bool alike = std::ranges::all_of(lines, [&](const auto& line) { return line.second == lines.front().second; });
  if (alike && !lines.empty()) lines = {{"loops", lines.front().second}};
  for (const auto& [label, text] : lines) to.add("", label, text, nullptr);
  to.note("regions", all);
}

}  // namespace tessera::apps
