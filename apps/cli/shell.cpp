// tessera completion, tessera man: what a shell and a reader of manuals know of the commands.
#include <string>

#include "apps/cli/commands.hpp"
#include "apps/common/completion.hpp"
#include "apps/common/man_page.hpp"

namespace tessera::cli {

void add_shell(command_table& to) {
  command_table& completion =
      to.add_command("completion", "Print a script with which a shell completes these commands");
  completion.footer =
      "For bash and zsh. An installed Tessera has it where bash looks for it.\n"
      "Example:\n  source <(tessera completion)";
  completion.run = [&to] {
    apps::write_text("-", apps::completion_script(to));
    return 0;
  };
  command_table& man = to.add_command("man", "Print the manual page of these commands");
  man.footer =
      "In the language of man. An installed Tessera has it as tessera(1).\n"
      "Example:\n  tessera man > tessera.1 && man -l tessera.1";
  man.run = [&to] {
    apps::write_text("-", apps::man_page(to));
    return 0;
  };
}

}  // namespace tessera::cli
