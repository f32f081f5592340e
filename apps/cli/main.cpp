// tessera: one program, a command per task.
#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "apps/chem/command.hpp"
#include "apps/cholesky/command.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/version.hpp"
#include "apps/comd/command.hpp"
#include "apps/common/files_apart.hpp"
#include "apps/common/parse.hpp"
#include "apps/deepcopy/command.hpp"
#include "apps/gemm/command.hpp"
#include "apps/rodinia/commands.hpp"
#include "apps/sial/command.hpp"
#include "apps/simulate/command.hpp"
#include "apps/sparse/command.hpp"
#include "apps/stream/command.hpp"
#include "apps/study/command.hpp"
#include "core/base/error.hpp"
#include "core/plugin/registry.hpp"

namespace {

int fail(const tessera::error& e) {
  std::fputs(fmt::format("error: {}\n", e.what()).c_str(), stderr);  // which may take nothing: that is no new error
  return tessera::exit_code_of(e.kind());
}

/// The three standard descriptors may be closed; files that are opened later would get their numbers, and what is
/// printed. A closed standard output still takes nothing, so that results that go there are an error.
void open_standard_descriptors() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(number, F_GETFD) < 0 && errno == EBADF) {
      const int lowest = ::open("/dev/null", number == STDERR_FILENO ? O_WRONLY : O_RDONLY);
      if (lowest >= 0 && lowest != number) ::close(lowest);  // cannot be: those below are open
    }
}

void add_commands(tessera::apps::command_table& to) {
  tessera::apps::add_cholesky(to);
  tessera::apps::add_comd(to);
  tessera::apps::add_eigs(to);
  tessera::apps::add_spmv(to);
  tessera::apps::add_gemm(to);
  tessera::apps::add_chem(to);
  tessera::apps::add_sial(to);
  tessera::apps::add_simulate(to);
  tessera::apps::add_stream(to);
  tessera::apps::add_rodinia(to);
  tessera::apps::add_deepcopy(to);
  tessera::cli::add_apps(to);
  tessera::apps::add_study(to);
  tessera::cli::add_topology(to);
  tessera::cli::add_plugins(to);
  tessera::cli::add_config(to);
  tessera::cli::add_trace(to);
  tessera::cli::add_history(to);
  tessera::cli::add_checkpoint(to);
  tessera::cli::add_shell(to);
  to.add_command("version", "Print the version").run = [] {
    fmt::print("{}\n", tessera::cli::version_text);
    return 0;
  };
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  tessera::apps::command_table program("tessera",
                                       "Tessera: one program, unchanged, on the machine that a TOML file describes");
  program.version = tessera::cli::version_text;
  program.footer =
      "Exit codes: 0 done; 1 the result is wrong; 2 usage; 3 configuration; 4 input file; 5 plugin; 6 numerical; 7 "
      "memory;\n"
      "8 task; 9 device; 10 validation; 11 output; 70 internal; 130 interrupted.\n"
      "Example:\n  tessera cholesky --n 1000 --config configs/sim_one.toml";
  add_commands(program);
  tessera::apps::parsed_line line;
  try {
    line = tessera::apps::parse(program, argc, argv);
    if (line.command == nullptr) {
      std::fputs(line.text.c_str(), stdout);
      tessera::apps::flush_output();
      return 0;
    }
    tessera::apps::require_files_apart(program);
  } catch (const tessera::error& e) {
    return fail(e);
  }
  tessera::plugin::when_given_up(
      [](const tessera::error& why) { _exit(fail(why)); });  // what hangs cannot be ended otherwise
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error of the file, with a message, and no signal
  try {
    const int code = line.command->run();
    tessera::apps::flush_output();
    return code;
  } catch (const tessera::error& e) {
    return fail(e);
  } catch (const std::bad_alloc&) {
    return fail(tessera::error(tessera::error_kind::memory, "out of memory", {}, "choose a smaller problem"));
  } catch (const std::exception& e) {
    if (std::ferror(stdout) != 0) return fail(tessera::error(tessera::error_kind::output, e.what(), "standard output"));
    const auto* const refused = dynamic_cast<const std::system_error*>(&e);
    if (refused != nullptr && refused->code() == std::errc::resource_unavailable_try_again)
      return fail(tessera::error(tessera::error_kind::memory, "the system refuses another thread", {},
                                 "raise the limit of addresses (ulimit -v) or of processes (ulimit -u), or use fewer "
                                 "workers"));
    return fail(tessera::error(tessera::error_kind::internal, e.what(), {}, "please report this"));
  }
}
