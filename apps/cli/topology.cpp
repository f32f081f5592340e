// tessera topology: the tree of memories and workers that every command would run on.
#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "apps/cli/commands.hpp"
#include "apps/common/region_options.hpp"
#include "apps/common/session.hpp"
#include "core/base/error.hpp"
#include "hierarchy/draw/draw.hpp"
#include "hierarchy/machine/assemble.hpp"
#include "hierarchy/machine/peers.hpp"

namespace tessera::cli {
namespace {

struct topology_options : apps::command_options {
  std::string dot, svg;
  std::vector<std::string> application;  ///< a command and its options; empty: the machine alone is shown
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

/// The file that an application draws its tree into: "-" for text.
std::string file_for_application(const topology_options& o) {
  std::string file = "-";
  for (const auto& [asked, ending] :
       {std::pair(&o.svg, ".svg"), std::pair(&o.dot, ".dot"), std::pair(&o.json, ".json")}) {
    if (asked->empty()) continue;
    if (file != "-")
      throw error(error_kind::usage, "the tree of an application is drawn in one form", "the command line",
                  "leave out all but one of --dot, --svg and --json");
    if (!asked->ends_with(ending))
      throw error(error_kind::usage,
                  fmt::format("the tree of an application goes to a file that ends in {}, not to '{}'", ending, *asked),
                  "the command line");
    file = *asked;
  }
  return file;
}

/// Becomes the application, which draws the tree with its arrays and the shares of its loops when it is done.
[[noreturn]] void become(const topology_options& o) {
  std::vector<std::string> words{"tessera"};
  words.insert(words.end(), o.application.begin(), o.application.end());
  for (const std::string& file : o.config) words.insert(words.end(), {"--config", file});
  for (const std::string& setting : o.set) words.insert(words.end(), {"--set", setting});
  words.insert(words.end(), {"--quiet", "--tree", file_for_application(o)});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  static constexpr const char* this_program = "/proc/self/exe";
  ::execv(this_program, arguments.data());
  throw error(error_kind::internal, fmt::format("cannot start: {}", std::strerror(errno)), o.application.front());
}

}  // namespace

void add_topology(command_table& to) {
  auto options = std::make_shared<topology_options>();
  command_table& sub = to.add_command("topology", "Show the machine as a tree of memories and workers");
  options->add_machine_options(sub);
  sub.add({{"--dot", &options->dot, "FILE", "write the tree for Graphviz; - is standard output"},
           {"--svg", &options->svg, "FILE", "write the tree as a picture; - is standard output"},
           {"--json", &options->json, "FILE", "write the tree as JSON; - is standard output"},
           {"application", &options->application, "APPLICATION",
            "after --: an application over regions with its options; it runs, and the tree has its arrays and the "
            "shares of its loops"}});
  sub.footer =
      "Without --dot, --svg and --json the tree is printed as text. The configured plugins are opened to find their "
      "devices.\n"
      "Examples:\n  tessera topology --config configs/sim_two.toml --svg machine.svg\n"
      "  tessera topology --config configs/sim_two.toml -- hotspot --size 512";
  sub.check = [options, &to] {
    if (!options->application.empty()) apps::require_region_application(to, options->application.front());
  };
  sub.run = [options] {
    if (!options->application.empty()) become(*options);
    return run(*options);
  };
}

}  // namespace tessera::cli
