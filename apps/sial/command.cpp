#include "apps/sial/command.hpp"

#include <filesystem>

#include "apps/sial/parts.hpp"
#include "core/base/error.hpp"

namespace tessera::apps {

void require_folder(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) throw error(error_kind::input, "there is no such folder", path);
}

void add_sial(command_table& to) {
  command_table& sub =
      to.add_command("sial", "Run, check and list programs in SIAL, the language of loops over blocks");
  add_sial_run(sub);
  add_sial_check(sub);
  add_sial_list(sub);
  add_sial_init(sub);
  sub.footer = "Example:\n  tessera sial run first.sialx --workers 2";
}

}  // namespace tessera::apps
