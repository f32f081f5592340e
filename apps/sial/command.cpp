#include "apps/sial/command.hpp"

#include <filesystem>

#include "apps/sial/parts.hpp"
#include "core/base/error.hpp"

namespace tessera::apps {

void require_folder(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) throw error(error_kind::input, "there is no such folder", path);
}

void add_sial(CLI::App& to, command& selected) {
  CLI::App& sub = *to.add_subcommand("sial", "Run, check and list programs in SIAL, the language of loops over blocks");
  sub.require_subcommand(1);
  add_sial_run(sub, selected);
  add_sial_check(sub, selected);
  add_sial_list(sub, selected);
  add_sial_init(sub, selected);
  sub.footer("Example:\n  tessera sial run first.sialx --workers 2");
}

}  // namespace tessera::apps
