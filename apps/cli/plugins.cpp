// tessera plugins: what was found, what became of it, what it offers; and whether it keeps the contract.
// (plugins_new.cpp: a new one.)
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/commands.hpp"
#include "apps/cli/plugin_layouts.hpp"
#include "apps/cli/plugin_list.hpp"
#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "core/plugin/explain.hpp"
#include "hierarchy/discovery/topology.hpp"
#include "hierarchy/machine/assemble.hpp"
#include "tests/conformance/suite/conformance.hpp"

namespace tessera::cli {
namespace {

namespace fs = std::filesystem;

struct plugins_options : apps::command_options {
  std::vector<std::string> plugin_path;  ///< instead of runtime.plugin_path
  std::string name;                      ///< explain: a plugin or a path of a file

  void add_to(command_table& to) {
    add_machine_options(to);
    to.add({{"--plugin-path",
             &plugin_path,
             "DIR",
             "look in this directory instead of runtime.plugin_path (repeatable)",
             {.one_each = true}}});
  }
  plugin::registry_options registry_options() const {
    const config::document configuration = load();
    plugin::registry_options made =
        hierarchy::registry_options_of(configuration, hierarchy::topology::as_configured(configuration).cpu_mask());
    if (!plugin_path.empty()) made.directories.clear();
    for (const std::string& directory : plugin_path)
      made.directories.push_back(fs::absolute(directory).lexically_normal());
    return made;
  }
};

int list(const plugins_options& o) {
  const plugin::registry_options options = o.registry_options();
  const plugin_list found = list_plugins(options);
  apps::write_results(
      {{o.json, [&] { return to_json(found); }}, {apps::unless_json(o.json), [&] { return to_text(found); }}});
  // The list is complete by now; what the configuration asks for and cannot have is an error nevertheless.
  if (found.failure) throw *found.failure;
  return 0;
}

int explain(const plugins_options& o) {
  // What has a '/' is a file, as on every command line.
  const std::string name =
      o.name.find('/') == std::string::npos ? o.name : fs::absolute(o.name).lexically_normal().string();
  const plugin::registry::opened_plugin found = plugin::registry::describe(o.registry_options(), name);
  apps::write_results({{o.json, [&] { return plugin::explain_json(found); }},
                       {apps::unless_json(o.json), [&] { return plugin::explain(found); }}});
  return 0;
}

int layouts(const std::string& json) {
  apps::write_results({{json, layouts_json}, {apps::unless_json(json), layouts_text}});
  return 0;
}

struct check_options {
  std::string path, json, filter, only, known_failures, layer, inner;
  std::vector<std::string> options, layer_options, inner_options, lose_with, arguments;
  std::uint64_t seed = 0;
  std::int64_t time_limit = 300;  ///< seconds
  bool list = false;
  bool second_process = false;  ///< this is the suite's second process, and `path` what it is to do
};

/// "device[1].memory": an entry of a list stands behind that with the number before.
void require_entry(const std::vector<plugin::raw_option>& before, const std::string& name, const std::string& flag) {
  const std::size_t open = name.find('['), close = name.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return;
  std::size_t index = 0, count = 0;
  const auto read = [open](const std::string& from, std::size_t& number) {
    const auto [end, failed] = std::from_chars(from.data() + open + 1, from.data() + from.size(), number);
    return failed == std::errc() && *end == ']';
  };
  for (const plugin::raw_option& one : before)
    if (std::size_t present = 0; one.name.starts_with(name.substr(0, open + 1)) && read(one.name, present))
      count = std::max(count, present + 1);
  if (!read(name, index) || index > count)
    throw error(error_kind::usage, fmt::format("there is no such entry of '{}': '{}'", name.substr(0, open), name),
                flag, fmt::format("entries are numbered from 0, and given in that order; the next one is {}", count));
}

std::vector<plugin::raw_option> values_of(const std::vector<std::string>& options, const std::string& flag) {
  std::vector<plugin::raw_option> values;
  for (const std::string& option : options) {
    const std::size_t middle = option.find('=');
    if (middle == std::string::npos || middle == 0)
      throw error(error_kind::usage, fmt::format("'{}' is no option of a plugin", option), flag,
                  fmt::format("write NAME=VALUE, e.g. {} 'device[0].memory=64 MiB'", flag));
    require_entry(values, option.substr(0, middle), flag);
    values.push_back({option.substr(0, middle), option.substr(middle + 1), "command line"});
  }
  return values;
}

/// "test.scale=000000000000f83f": an operation's name and the bytes of its arguments, two hexadecimal digits each.
std::pair<std::string, std::vector<unsigned char>> arguments_of(const std::string& text) {
  const std::size_t middle = text.find('=');
  const std::string digits = middle == std::string::npos ? "" : text.substr(middle + 1);
  if (middle == std::string::npos || middle == 0 || digits.size() % 2 != 0 ||
      digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
    throw error(error_kind::usage, fmt::format("'{}' names no arguments of an operation", text), "--arguments",
                "write OPERATION=HEX, two digits for each byte, e.g. test.scale=000000000000f83f");
  std::vector<unsigned char> bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes.push_back(static_cast<unsigned char>(std::stoul(digits.substr(i, 2), nullptr, 16)));
  return {text.substr(0, middle), bytes};
}

void print_result(std::FILE* to, const conformance::result& one) {
  fmt::print(to, "{:<14} {:<44} {:>8.3f} s{}{}\n", conformance::name_of(one.how), one.name, one.seconds,
             one.message.empty() ? "" : "  ", one.message);
  std::fflush(to);
}

/// A line for each row of checks that did not run for the same reason. `--list` has the order.
void print_not_run(std::FILE* to, const conformance::report& done) {
  using conformance::outcome;
  for (auto one = done.results.begin(); one != done.results.end();) {
    const auto end = std::find_if(one, done.results.end(), [&](const conformance::result& other) {
      return other.how != one->how || other.message != one->message;
    });
    if (one->how == outcome::not_run)
      fmt::print(to, "{:<14} {} check{}, {}{}{}: {}\n", "not run", end - one, end - one == 1 ? "" : "s", one->name,
                 end - one == 1 ? "" : " to ", end - one == 1 ? "" : std::prev(end)->name,
                 one->message.empty() ? "the plugin cannot be opened" : one->message);
    one = end;
  }
}

/// The last line, and the file.
void print_summary(std::FILE* to, const conformance::request& what, const conformance::report& done,
                   const std::string& json) {
  using conformance::outcome;
  if (!json.empty()) apps::write_text(json, conformance::to_json(done));
  print_not_run(to, done);
  fmt::print(to, "{}{}{}: {} passed, {} failed, {} skipped, {} known failures, {} not run (seed {})\n",
             done.plugin.empty() ? what.plugin.string() : done.plugin, done.version.empty() ? "" : " ", done.version,
             done.count(outcome::passed), done.count(outcome::failed), done.count(outcome::skipped),
             done.count(outcome::known_failure), done.count(outcome::not_run), done.seed);
  std::fflush(to);
}

/// For standard error, in one line.
std::string what_failed(const conformance::report& done) {
  const auto first = std::ranges::find(done.results, conformance::outcome::failed, &conformance::result::how);
  if (first == done.results.end()) return "the suite did not end";
  const std::size_t failed = done.count(conformance::outcome::failed);
  return fmt::format("{} check{} failed, the first is {}: {}", failed, failed == 1 ? "" : "s", first->name,
                     first->message.substr(0, first->message.find('\n')));
}

int list_checks(std::vector<std::string> names, const std::string& json) {
  const auto all_json = [&] {
    return nlohmann::ordered_json{{"checks", names}}.dump(2, ' ', false,
                                                          nlohmann::ordered_json::error_handler_t::replace) +
           "\n";
  };
  apps::write_results(
      {{json, all_json}, {apps::unless_json(json), [&] { return fmt::format("{}\n", fmt::join(names, "\n")); }}});
  return 0;
}

int check(const check_options& o) {
  if (o.second_process) return conformance::run_second_process(o.path);
  std::vector<std::string> names = conformance::names();
  if (std::ranges::none_of(names, [&](const std::string& n) { return n.find(o.filter) != n.npos; }))
    throw error(
        error_kind::usage, fmt::format("no check has '{}' in its name", o.filter), "--filter",
        fmt::format("the groups are e.g. lifecycle, memory, copies, blas; the first check is '{}'", names.front()));
  if (!o.only.empty() && std::ranges::find(names, o.only) == names.end()) {
    const std::string near = suggest(o.only, names);
    throw error(error_kind::usage, fmt::format("there is no check '{}'", o.only), "--only",
                near.empty() ? "--list prints the checks" : fmt::format("did you mean '{}'?", near));
  }
  if (o.list) {
    if (!o.path.empty()) throw error(error_kind::usage, "--list opens no plugin", o.path, "leave out one of the two");
    std::erase_if(names,
                  [&](const std::string& n) { return n.find(o.filter) == n.npos || (!o.only.empty() && n != o.only); });
    return list_checks(names, o.json);
  }
  if (o.path.empty())
    throw error(error_kind::usage, "no plugin to check", "PATH",
                "name its file, e.g. tessera plugins check ./tessera_mine.so");
  conformance::request asked;
  asked.only = o.only;
  asked.time_limit = std::chrono::seconds(o.time_limit);
  asked.plugin = fs::absolute(o.path).lexically_normal();
  asked.seed = o.seed;
  asked.filter = o.filter;
  asked.second_process = {fs::read_symlink("/proc/self/exe").string(), "plugins", "check", "--second-process"};
  asked.known_failures = o.known_failures;
  asked.options = values_of(o.options, "--option");
  asked.layer_options = values_of(o.layer_options, "--layer-option");
  asked.inner_options = values_of(o.inner_options, "--inner-option");
  for (const std::string& text : o.arguments) asked.arguments.push_back(arguments_of(text));
  asked.lose_with = values_of(o.lose_with, "--lose-with");
  const auto file_of =
      [&](const std::string& name) -> fs::path {  // what has no '/' is a name, and lies beside the plugin
    if (name.empty()) return {};
    return name.find('/') == std::string::npos ? asked.plugin.parent_path() / fmt::format("tessera_{}.so", name)
                                               : fs::absolute(name).lexically_normal();
  };
  asked.layer = file_of(o.layer);
  asked.inner = file_of(o.inner);
  if (o.layer.empty() && !o.layer_options.empty())
    throw error(error_kind::usage, "options of a layer without a layer", "--layer-option", "name it with --layer");
  if (o.inner.empty() && !o.inner_options.empty())
    throw error(error_kind::usage, "options of an inner plugin without one", "--inner-option", "name it with --inner");
  if (!o.known_failures.empty()) conformance::require_known_failures(o.known_failures);
  std::FILE* to = o.json == "-" ? stderr : stdout;
  const bool terminal = isatty(fileno(to)) == 1;
  conformance::listener tells;
  tells.begins = [=](const char* name) {
    if (!terminal) return;
    fmt::print(to, "{:<14} {} ...\r", "running", name);
    std::fflush(to);
  };
  tells.ended = [=](const conformance::result& one) {
    if (terminal) fmt::print(to, "\033[K");
    if (one.how != conformance::outcome::not_run) print_result(to, one);  // those are counted
  };
  tells.does_not_return = [&](const conformance::report& so_far) {
    const auto hung = std::find_if(so_far.results.rbegin(), so_far.results.rend(),
                                   [](const auto& one) { return one.how == conformance::outcome::failed; });
    if (hung != so_far.results.rend()) print_result(to, *hung);
    try {
      print_summary(to, asked, so_far, o.json);
    } catch (const error& failure) {
      fmt::print(stderr, "{}\n", failure.what());
    }
    std::fputs(fmt::format("error: {}\n", what_failed(so_far)).c_str(), stderr);
    _exit(exit_code_of(error_kind::plugin));  // what hangs cannot be ended, and an ended thread goes on ending
  };
  const conformance::report done = conformance::run(asked, tells);
  print_summary(to, asked, done, o.json);
  if (done.passed()) return 0;
  throw error(error_kind::plugin, what_failed(done), o.path);
}

}  // namespace

void add_plugins(command_table& to) {
  command_table& sub = to.add_command("plugins", "List every plugin file that was found: loaded or refused, and why");
  auto options = std::make_shared<plugins_options>();
  options->add_to(sub);
  sub.add({{"--json", &options->json, "FILE", "write the list as JSON; - is standard output, instead of the text"}});
  sub.footer =
      "Ends with 5 when a plugin that the configuration wants cannot be used; the list comes first.\n"
      "Example:\n  tessera plugins --config configs/sim_two.toml";
  sub.run = [options] { return list(*options); };

  auto explained = std::make_shared<plugins_options>();
  command_table& explain_command =
      sub.add_command("explain", "Print a plugin's options with types, ranges and defaults");
  explain_command.add({{"name", &explained->name, "NAME", "the plugin, or the path of its file", {.required = true}}});
  explained->add_to(explain_command);
  explain_command.add(
      {{"--json", &explained->json, "FILE", "write it as JSON; - is standard output, instead of the text"}});
  explain_command.footer = "Example:\n  tessera plugins explain sim";
  explain_command.run = [explained] { return explain(*explained); };

  auto layouts_to = std::make_shared<std::string>();
  command_table& layouts_command = sub.add_command(
      "layouts", "Print the memory layout of the structs in tessera/plugin.h, for languages that do not read C");
  layouts_command.add(
      {{"--json", layouts_to.get(), "FILE", "write them as JSON; - is standard output, instead of the text"}});
  layouts_command.footer =
      "Sizes and offsets are in bytes. \"since\" is the version of the ABI that brought a field.\n"
      "Example:\n  tessera plugins layouts --json layouts.json";
  layouts_command.run = [layouts_to] { return layouts(*layouts_to); };

  auto checked = std::make_shared<check_options>();
  command_table& check_command =
      sub.add_command("check", "Run the conformance suite: does a plugin keep the contract of tessera/plugin.h?");
  check_command.add({
      {"path", &checked->path, "PATH", "the plugin's file"},
      {"--option",
       &checked->options,
       "NAME=VALUE",
       "an option of the plugin, e.g. 'device[0].memory=64 MiB' (repeatable)",
       {.one_each = true}},
      {"--layer", &checked->layer, "LAYER",
       "put this layer around it: the path of a file, or a name beside PATH, e.g. fault"},
      {"--layer-option",
       &checked->layer_options,
       "NAME=VALUE",
       "an option of the layer (repeatable)",
       {.one_each = true}},
      {"--inner", &checked->inner, "PLUGIN",
       "if PATH is a layer: the plugin that it is put around, a file or a name beside PATH (host, if it is there)"},
      {"--inner-option",
       &checked->inner_options,
       "NAME=VALUE",
       "an option of the inner plugin (repeatable)",
       {.one_each = true}},
      {"--lose-with",
       &checked->lose_with,
       "NAME=VALUE",
       "an option, of the layer if there is one, that makes a device fail for good while it works (repeatable)",
       {.one_each = true}},
      {"--arguments",
       &checked->arguments,
       "OPERATION=HEX",
       "argument bytes that an operation takes, in hexadecimal, instead of the usual ones (repeatable)",
       {.one_each = true}},
      {"--filter", &checked->filter, "TEXT", "only checks with this in their name, e.g. copies"},
      {"--only", &checked->only, "NAME", "only the check of this name, e.g. copies.every_pair"},
      {"--list", &checked->list, "", "print the names of all checks, and run none"},
      {"--time-limit",
       &checked->time_limit,
       "SECONDS",
       "limit for each check; a check that takes longer fails and ends the command. 0: none",
       {.range = between(0, 1'000'000), .shows_default = true}},
      {"--seed",
       &checked->seed,
       "N",
       "seed of random shapes and contents; 0: a new one, which is printed",
       {.range = between(0, std::numeric_limits<std::int64_t>::max()), .shows_default = true}},
      {"--known-failures", &checked->known_failures, "FILE", "a file of failures that are accepted until a date"},
      {"--json", &checked->json, "FILE",
       "write the results as JSON; - is standard output, the text then goes to standard error"},
      {"--second-process", &checked->second_process, "", "", {.hidden = true}}  // the suite's own, and not shown
  });
  check_command.footer =
      "One line per check: passed, failed, skipped (the plugin does not offer it) or known failure. What cannot be\n"
      "opened fails once, as \"open\", and its checks are not run; nor are those that rely on one which fails, or\n"
      "stand behind one that hangs: the summary counts them. Ends with 5 when a check failed. A plugin that crashes\n"
      "ends the command; standard error names the check and the entry.\n"
      "Example:\n  tessera plugins check ./tessera_mine.so --option 'device[0].memory=64 MiB' --json results.json";
  check_command.run = [checked] { return check(*checked); };

  add_plugins_new(sub);
}

}  // namespace tessera::cli
