#include "apps/chem/memory_plan.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/units.hpp"
#include "languages/sial/estimate/text.hpp"

namespace tessera::apps {

bool tell_memory_plan(const session& s, const sial::correlation_job& job, report& to, const journal& told) {
  const sial::memory_offer there = sial::offer_of(s.rt().statistics().spaces);
  auto rows = nlohmann::ordered_json::array();
  bool fits = true;
  const std::vector<sial::program_estimate> all = job.estimate();
  for (std::size_t k = 0; k < all.size(); ++k) {
    const sial::verdict v = sial::judge(all[k], there);
    fits = fits && v.outcome != sial::fit::does_not_fit;
    to.add("", "plan of " + all[k].program,
           fmt::format("{} of blocks, {} at least in memory; {}", format_bytes(v.all), format_bytes(v.least), v.text),
           nullptr);
    told.line("plan of {:<8} {} of blocks, {} at least in memory", all[k].program, format_bytes(v.all),
              format_bytes(v.least));
    told.line("                 {}", v.text);
    for (const std::string& remedy : v.remedies) told.line("                 {}", remedy);
    rows.push_back({{"program", all[k].program},
                    {"bytes", v.all},
                    {"least_bytes", v.least},
                    {"spilled_bytes", v.spilled},
                    {"contraction_flops", all[k].flops()},
                    {"verdict", v.text},
                    {"remedies", v.remedies}});
  }
  to.note("memory_plan", rows);
  return fits;
}

}  // namespace tessera::apps
