// tessera sial init: initialization data between their two forms.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apps/sial/parts.hpp"
#include "languages/sial/data/init_file.hpp"

namespace tessera::apps {
namespace {

struct init_options {
  std::string from, to, json;
};

int convert(const init_options& o) {
  if (!o.json.empty()) require_writable(o.json);
  const sial::init_data data = sial::read_init(o.from);
  if (!o.to.empty()) sial::write_init(data, o.to);
  nlohmann::ordered_json segments;
  for (const auto& [kind, lengths] : data.segments) segments[std::string(sial::segment_table_name(kind))] = lengths;
  if (!o.json.empty())
    write_text(o.json, nlohmann::ordered_json{{"from", o.from},
                                              {"to", o.to},
                                              {"programs", data.programs},
                                              {"ints", data.ints},
                                              {"scalars", data.scalars},
                                              {"segments", segments},
                                              {"float_arrays", data.float_arrays.size()},
                                              {"int_arrays", data.int_arrays.size()}}
                               .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
                           "\n");
  if (o.json == "-") return 0;
  if (o.to.empty())
    fmt::print("{}", sial::to_toml(data));
  else
    fmt::print("{}: {} programs, {} ints, {} scalars, {} segment tables, {} arrays\n", o.to, data.programs.size(),
               data.ints.size(), data.scalars.size(), data.segments.size(),
               data.float_arrays.size() + data.int_arrays.size());
  return 0;
}

}  // namespace

void add_sial_init(command_table& to) {
  auto o = std::make_shared<init_options>();
  command_table& sub = to.add_command("init", "Show initialization data as text, or convert them to the other form");
  sub.add({{"from", &o->from, "FILE", "initialization data: .toml, or binary (.dat)", {.required = true}},
           {"to", &o->to, "FILE", "the file to write: .toml, or binary; without it the text is printed"},
           {"--json", &o->json, "FILE", "write what was read as JSON; - is standard output"}});
  sub.footer = "Example:\n  tessera sial init job.toml job.dat";
  sub.run = [o] { return convert(*o); };
}

}  // namespace tessera::apps
