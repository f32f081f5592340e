// tessera topology: the tree of memories and workers that every command would run on.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "apps/cli/commands.hpp"
#include "core/base/error.hpp"
#include "hierarchy/draw/draw.hpp"
#include "hierarchy/machine/assemble.hpp"
#include "hierarchy/machine/peers.hpp"

namespace tessera::cli {
namespace {

struct topology_options : apps::command_options {
  std::string dot, svg;
};

int run(const topology_options& o) {
  const machine m = hierarchy::assemble(o.load());
  for (const std::string& note : m.notes) fmt::print(stderr, "note: {}\n", note);
  if (!m.host_bound.empty()) fmt::print(stderr, "note: memory for blocks on the host is bounded by {}\n", m.host_bound);
  const hierarchy::drawing what{.peers = hierarchy::peer_links(m)};
  bool asked = false;
  const auto give = [&](const std::string& path, auto draw) {
    if (path.empty()) return;
    apps::write_text(path, draw(m.tree, what));
    asked = true;
  };
  give(o.json, hierarchy::to_json);
  give(o.dot, hierarchy::to_dot);
  give(o.svg, hierarchy::to_svg);
  if (!asked) apps::write_text("-", hierarchy::to_text(m.tree, what));
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
  sub.footer("Without --dot, --svg and --json the tree is printed as text. The configured plugins are opened to find their devices.\n"
             "Example:\n  tessera topology --config configs/sim_two.toml --svg machine.svg");
  sub.callback([options, &selected] {
    if ((options->dot == "-") + (options->svg == "-") + (options->json == "-") > 1)
      throw error(error_kind::usage, "only one form of the tree can go to standard output", "the command line",
                  "give the others a FILE");
    selected = [options] { return run(*options); };
  });
}

}  // namespace tessera::cli
