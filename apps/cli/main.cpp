// tessera: one program, a command per task.
#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <regex>
#include <set>
#include <system_error>

#include "apps/chem/command.hpp"
#include "apps/cholesky/command.hpp"
#include "apps/cli/commands.hpp"
#include "apps/cli/plain_values.hpp"
#include "apps/cli/version.hpp"
#include "apps/comd/command.hpp"
#include "apps/common/files_apart.hpp"
#include "apps/deepcopy/command.hpp"
#include "apps/gemm/command.hpp"
#include "apps/rodinia/commands.hpp"
#include "apps/sial/command.hpp"
#include "apps/simulate/command.hpp"
#include "apps/sparse/command.hpp"
#include "apps/stream/command.hpp"
#include "apps/study/command.hpp"
#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
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

/// The first word in front of "--" that looks like an option and is none of `names`; "": there is none.
std::string unknown_option(const std::vector<std::string>& names, int argc, char** argv) {
  for (int k = 1; k < argc && std::string_view(argv[k]) != "--"; ++k) {
    const std::string word = std::string(argv[k]).substr(0, std::string(argv[k]).find('='));
    if (word.starts_with("--") && std::find(names.begin(), names.end(), word) == names.end()) return word;
  }
  return {};
}

/// Whether the command takes an application's options behind "--", and this is one of those.
bool belongs_behind(const CLI::App& all, const CLI::App& in, const std::string& option) {
  const auto has = [](const CLI::App* one, const std::string& name) {
    return one->get_option_no_throw(name) != nullptr;
  };
  const auto takes_others = [&](const char* name) {
    return has(&in, name) && in.get_option_no_throw(name)->get_description().starts_with("after --");
  };
  const auto commands = all.get_subcommands([](const CLI::App*) { return true; });
  return !option.empty() && (takes_others("arguments") || takes_others("application")) &&
         std::any_of(commands.begin(), commands.end(), [&](const CLI::App* one) { return has(one, option); });
}

/// What CLI11 says of an option's value, in plain words; "abc" is to it a value out of range.
std::string in_words(const std::string& said) {
  static const std::regex range(R"((--\S+): Value (.*) not in range (\S+) to (\S+))"),
      missing(R"((--\S+): 1 required .*)"), no_value(R"(Could not convert: (\S+) = (.*))"),
      again(R"((--\S+): At Most 1 required but received (\d+))"), empty(R"((\S+): wants a value)"), zeros(R"(\.0+$)");
  std::smatch found;
  const bool out_of_range = std::regex_match(said, found, range);
  if (out_of_range && found.length(2) != 0)
    return fmt::format("{}: '{}' is no number in the range {} to {}", found.str(1), found.str(2),
                       std::regex_replace(found.str(3), zeros, ""), std::regex_replace(found.str(4), zeros, ""));
  if (out_of_range || std::regex_match(said, found, missing) || std::regex_match(said, found, empty))
    return fmt::format("{} wants a value", found.str(1));
  if (std::regex_match(said, found, no_value))
    return fmt::format("{}: '{}' is not a number", found.str(1), found.str(2));
  if (std::regex_match(said, found, again))
    return fmt::format("{} is given {} times, and may be given once", found.str(1), found.str(2));
  return said;
}

/// What CLI11 says, in the form of all our messages; for an unknown command the nearest one.
int usage(const CLI::App& app, const CLI::ParseError& e, int argc, char** argv) {
  std::string hint = "`tessera --help` lists the commands", path;
  const CLI::App* in = &app;
  std::set<std::string> commands;  // the words that led here
  for (std::vector<CLI::App*> inner = app.get_subcommands(); !inner.empty(); inner = in->get_subcommands()) {
    in = inner.back();
    commands.insert(in->get_name());
    path += " " + in->get_name();
    hint = fmt::format("`tessera{} --help` lists its options, with an example", path);
  }
  std::vector<std::string> names;
  for (const CLI::App* sub : in->get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  const bool has_commands = !names.empty();
  std::vector<std::string> known;  // also those of the commands that led here
  for (const CLI::App* one = in; one != nullptr; one = one->get_parent())
    for (const CLI::Option* option : one->get_options())
      for (const std::string& name : option->get_lnames()) (one == in ? names : known).push_back("--" + name);
  known.insert(known.end(), names.begin(), names.end());
  std::string message = in_words(e.what());
  // Behind an option that it does not know, CLI11 gives a command's own arguments other places, and may name those.
  const std::string unknown = unknown_option(known, argc, argv);
  if (!unknown.empty() && message.find(unknown) == std::string::npos)
    message = fmt::format("The following argument was not expected: {}", unknown);
  if (belongs_behind(app, *in, unknown))
    hint = fmt::format("options of the application stand behind --: tessera{} ... -- {} ...; {}", path, unknown, hint);
  for (int k = 1; k < argc; ++k) {
    const std::string given = std::string(argv[k]).substr(0, std::string(argv[k]).find('='));
    if (std::find(names.begin(), names.end(), given) != names.end() || commands.contains(given)) continue;
    // CLI11 only says that a subcommand is required; the word that is none tells more.
    if (in == &app && k == 1 && !given.empty() && given.front() != '-')
      message = fmt::format("there is no command '{}'", given);
    // A word without dashes is the value of an option or an argument, unless a command should be there.
    const bool may_be_meant = given.starts_with('-') ? given == unknown : has_commands;
    if (const std::string near = may_be_meant ? tessera::suggest(given, names) : ""; !near.empty()) {
      hint = fmt::format("did you mean '{}'?", near);
      break;
    }
  }
  return fail(tessera::error(tessera::error_kind::usage, message, "the command line", hint));
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  CLI::App app("Tessera: one program, unchanged, on the machine that a TOML file describes", "tessera");
  app.set_version_flag("--version", tessera::cli::version_text);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done; 1 the result is wrong; 2 usage; 3 configuration; 4 input file; 5 plugin; 6 numerical; 7 "
      "memory;\n"
      "8 task; 9 device; 10 validation; 11 output; 70 internal; 130 interrupted.\n"
      "Example:\n  tessera cholesky --n 1000 --config configs/sim_one.toml");
  tessera::apps::command selected;
  tessera::apps::add_cholesky(app, selected);
  tessera::apps::add_comd(app, selected);
  tessera::apps::add_eigs(app, selected);
  tessera::apps::add_spmv(app, selected);
  tessera::apps::add_gemm(app, selected);
  tessera::apps::add_chem(app, selected);
  tessera::apps::add_sial(app, selected);
  tessera::apps::add_simulate(app, selected);
  tessera::apps::add_stream(app, selected);
  tessera::apps::add_rodinia(app, selected);
  tessera::apps::add_deepcopy(app, selected);
  tessera::cli::add_apps(app, selected);
  tessera::apps::add_study(app, selected);
  tessera::cli::add_topology(app, selected);
  tessera::cli::add_plugins(app, selected);
  tessera::cli::add_config(app, selected);
  tessera::cli::add_trace(app, selected);
  tessera::cli::add_history(app, selected);
  tessera::cli::add_checkpoint(app, selected);
  app.add_subcommand("version", "Print the version")->callback([&selected] {
    selected = [] {
      fmt::print("{}\n", tessera::cli::version_text);
      return 0;
    };
  });
  try {
    tessera::cli::require_plain_values(app);
    app.parse(argc, argv);
    tessera::cli::require_whole_lists(app, argc, argv);
    tessera::apps::require_files_apart(app);
  } catch (const CLI::Success& e) {
    const int code = app.exit(e);  // --help and --version
    try {
      tessera::apps::flush_output();
    } catch (const tessera::error& unwritten) {
      return fail(unwritten);
    }
    return code;
  } catch (const CLI::ParseError& e) {
    return usage(app, e, argc, argv);
  } catch (const tessera::error& e) {
    return fail(e);
  }
  tessera::plugin::when_given_up(
      [](const tessera::error& why) { _exit(fail(why)); });  // what hangs cannot be ended otherwise
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files is an error of the file, with a message, and no signal
  try {
    const int code = selected();
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
