// tessera sial check, tessera sial list: nothing runs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/common/files_apart.hpp"
#include "apps/sial/parts.hpp"
#include "core/base/error.hpp"
#include "languages/sial/code/code.hpp"
#include "languages/sial/job/job.hpp"
#include "languages/sial/language/compile.hpp"

namespace tessera::apps {
namespace {

struct check_options {
  const command_table* of = nullptr;
  std::string file, json;
  std::vector<std::string> folders;
};

std::shared_ptr<check_options> add_options(command_table& sub) {
  auto o = std::make_shared<check_options>();
  o->of = &sub;
  sub.add({{"program", &o->file, "FILE", "the program: a .sialx file", {.required = true}},
           {"--sial-dir", &o->folders, "DIR", "folders with imported programs, after the program's own"},
           {"--json", &o->json, "FILE", "write it as JSON; - is standard output"}});
  return o;
}

sial::compiled compiled_from(const check_options& o) {
  sial::require_program_file(o.file);
  if (!o.json.empty()) require_writable(o.json);
  for (const std::string& folder : o.folders) require_folder(folder);
  sial::compiled c = sial::compile(o.file, sial::file_reader(), o.folders);
  for (const sial::source_file& one : c.sources.files) require_not_written(*o.of, one.path, "the program");
  return c;
}

int check(const check_options& o) {
  const sial::compiled c = compiled_from(o);
  std::size_t errors = 0;
  auto rows = nlohmann::ordered_json::array();
  for (const sial::message& m : c.messages) {
    const bool is_error = m.level == sial::severity::error;
    errors += is_error ? 1 : 0;
    rows.push_back({{"kind", is_error ? "error" : "warning"},
                    {"file", m.where.file < c.sources.files.size() ? c.sources.files[m.where.file].path : o.file},
                    {"line", m.where.line},
                    {"column", m.where.column},
                    {"text", m.text},
                    {"hint", m.hint}});
  }
  if (!o.json.empty())
    write_text(
        o.json,
        nlohmann::ordered_json{
            {"program", o.file}, {"errors", errors}, {"warnings", c.messages.size() - errors}, {"messages", rows}}
                .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
            "\n");
  if (o.json != "-") {
    fmt::print(stderr, "{}", sial::to_text(c.messages, c.sources));
    fmt::print("{}: {} error{}, {} warning{}\n", o.file, errors, errors == 1 ? "" : "s", c.messages.size() - errors,
               c.messages.size() - errors == 1 ? "" : "s");
  }
  return errors == 0 ? 0 : exit_code_of(error_kind::input);
}

int list(const check_options& o) {
  const sial::compiled c = compiled_from(o);
  if (!c.result) {
    fmt::print(stderr, "{}", sial::to_text(c.messages, c.sources));
    throw error(error_kind::input, "the program has errors", o.file, "`tessera sial check` lists them alone");
  }
  const std::string text = sial::to_text(sial::lower(*c.result));
  if (!o.json.empty())
    write_text(o.json, nlohmann::ordered_json{{"program", c.result->name()}, {"listing", text}}.dump(
                           2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                           "\n");
  if (o.json != "-") fmt::print("{}", text);
  return 0;
}

}  // namespace

void add_sial_check(command_table& to) {
  command_table& sub = to.add_command("check", "Report every error and warning of a program, with its place");
  const auto o = add_options(sub);
  sub.footer = "Ends with 4 when there are errors.\nExample:\n  tessera sial check first.sialx";
  sub.run = [o] { return check(*o); };
}

void add_sial_list(command_table& to) {
  command_table& sub = to.add_command("list", "Print the instructions that a program becomes");
  const auto o = add_options(sub);
  sub.footer = "Example:\n  tessera sial list first.sialx";
  sub.run = [o] { return list(*o); };
}

}  // namespace tessera::apps
