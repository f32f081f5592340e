#include "apps/common/tree_file.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "core/base/environment.hpp"

namespace tessera::apps {
namespace {

std::string file_of(const command_options& options) {
  if (!options.config.empty()) return options.config.back();
  const char* const named = environment_variable("TESSERA_CONFIG");
  return named != nullptr ? named : "";
}

void read_again(location_model& model, const std::string& file) {
  try {
    model.arrange(read_tree(model.owner(), file));
    fmt::print(stderr, "note: the tree of locations is that of {} now\n", file);
  } catch (const std::exception& e) {
    fmt::print(stderr, "note: the tree of locations is as it was: {}\n", e.what());
  }
}

}  // namespace

tree_file::tree_file(session& of, location_model& model) : m_session(of) {
  if (const std::string file = file_of(of.options()); !file.empty())
    of.on_hang_up([&model, file] { read_again(model, file); });
}

}  // namespace tessera::apps
