#include "apps/chem/program_costs.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "apps/common/plot.hpp"
#include "core/base/units.hpp"

namespace tessera::apps {

void report_programs(const chem_options& o, const sial::correlation_result& c, report& to) {
  for (const sial::program_report& p : c.programs) {
    const sial::run_counters& n = p.counters;
    to.add(p.name + "_seconds", p.name,
           fmt::format("{}, {:.3g} GFLOP in contractions, {} at barriers", format_seconds(p.seconds), n.flops * 1e-9,
                       format_seconds(n.barrier_seconds)),
           p.seconds);
    if (!o.has_devices()) continue;
    const char* const why = n.on_devices > 0       ? ""
                            : o.devices == "never" ? ": --devices never"
                                                   : ": workers finish them sooner";
    to.add("", p.name + " on devices",
           fmt::format("{} of {} block statements{}", n.on_devices, n.on_devices + n.in_place, why), nullptr);
    to.note(p.name + "_statements_on_devices", n.on_devices);
  }
}

void report_terms(const chem_options& o, unsigned workers, const sial::correlation_result& c, report& to,
                  const journal& told, session& page_of) {
  auto rows = nlohmann::ordered_json::array();
  std::string page;
  for (const sial::program_report& p : c.programs) {
    if (p.terms.empty()) continue;
    const std::string table = to_text(p.terms);
    if (o.profile) told.line("\nterms of {}, over {} worker{}\n{}", p.name, workers, workers == 1 ? "" : "s", table);
    page += "<h3>" + p.name + "</h3><pre>" + html_escaped(table) + "</pre>";
    for (const sial::term_report& t : p.terms)
      rows.push_back({{"program", p.name},
                      {"term", t.name},
                      {"what", t.meaning},
                      {"statements", t.statements},
                      {"seconds", t.seconds},
                      {"waited_seconds", t.waited},
                      {"contraction_flops", t.flops},
                      {"bytes", t.bytes}});
  }
  if (rows.empty()) return;
  to.note("terms", rows);
  page_of.add_to_page("<section><h2>Terms of the equations</h2>" + page + "</section>");
}

}  // namespace tessera::apps
