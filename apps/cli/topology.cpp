// tessera topology: the tree of memories and workers that every command would run on.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "apps/cli/commands.hpp"
#include "apps/common/session.hpp"
#include "core/base/error.hpp"
#include "hierarchy/draw/draw.hpp"
#include "hierarchy/machine/assemble.hpp"
#include "hierarchy/machine/peers.hpp"

namespace tessera::cli {
namespace {

struct topology_options : apps::command_options {
  std::string dot, svg;
};

bool is_host_memory(const machine& m, location::node_id id) {
  const auto& space = m.tree.at(id).properties.space;
  return space && m.plugins->devices()[space->device]->description().device_class == TSR_DEVICE_CPU;
}

int run(const topology_options& o) {
  const machine m = hierarchy::assemble(o.load(), apps::log_to_stderr(o.quiet));
  for (const std::string& note : m.notes) fmt::print(stderr, "note: {}\n", note);
  bool asked = false;
  hierarchy::drawing drawn{.peers = hierarchy::peer_links(m)};
  drawn.note = [&m](location::node_id id) {
    return is_host_memory(m, id) && !m.host_bound.empty() ? "bounded by " + m.host_bound : std::string();
  };
  const auto give = [&](const std::string& path, auto draw) {
    if (path.empty()) return;
    apps::write_text(path, draw(m.tree, drawn));
    asked = true;
  };
  give(o.json, hierarchy::to_json);
  give(o.dot, hierarchy::to_dot);
  give(o.svg, hierarchy::to_svg);
  if (!asked) apps::write_text("-", hierarchy::to_text(m.tree, drawn));
  return 0;
}

}  // namespace

void add_topology(CLI::App& to, command& selected) {
  auto options = std::make_shared<topology_options>();
  CLI::App& sub = *to.add_subcommand("topology", "Show the machine as a tree of memories and workers");
  options->add_machine_options(sub);
  sub.add_option("--dot", options->dot, "write the tree for Graphviz; - is standard output")->type_name("FILE");
  sub.add_option("--svg", options->svg, "write the tree as a picture; - is standard output")->type_name("FILE");
  sub.add_option("--json", options->json, "write the tree as JSON; - is standard output")->type_name("FILE");
  sub.footer(
      "Without --dot, --svg and --json the tree is printed as text. The configured plugins are opened to find their "
      "devices.\n"
      "Example:\n  tessera topology --config configs/sim_two.toml --svg machine.svg");
  sub.callback([options, &selected] {
    if ((options->dot == "-") + (options->svg == "-") + (options->json == "-") > 1)
      throw error(error_kind::usage, "only one form of the tree can go to standard output", "the command line",
                  "give the others a FILE");
    selected = [options] { return run(*options); };
  });
}

}  // namespace tessera::cli
