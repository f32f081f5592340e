#include <fmt/format.h>

#include "apps/common/application.hpp"
#include "apps/common/value_options.hpp"
#include "apps/rodinia/commands.hpp"
#include "apps/rodinia/nw/kernel.hpp"

namespace tessera::apps::rodinia {
namespace {

struct nw_options : application_options {
  std::int64_t size = 2048;
  std::string scores;
};

void run_nw(application_run& f, const nw_options& o) {
  const nw_scores scores = o.scores.empty() ? nw_blosum62() : read_nw_scores(o.scores);
  f.s().require_memory(8.0 * static_cast<double>(o.size) * static_cast<double>(o.size), "the table");
  const nw_input in = make_nw_input(o.size, o.seed);
  nw_kernel alignment(f.model(), f.how(), in, scores);
  f.input(fmt::format("2 sequences of {} symbols, seed {}, scores {}", o.size, o.seed,
                      o.scores.empty() ? "BLOSUM62" : o.scores));
  f.main_part([&] { alignment.run(); });
  f.compare_with(nw_workload(o.size));
  const std::vector<std::int32_t> table = alignment.table();
  const auto is = nw_summary_of(
      o.size, [&](std::int64_t i, std::int64_t j) { return table[static_cast<std::size_t>(i * (o.size + 1) + j)]; });
  f.checksum("last", std::int64_t{is.last});
  f.checksum("before", std::int64_t{is.before_last});
  f.checksum("sum", is.sum);
  f.checksum("maximum", std::int64_t{is.largest});
  if (!f.verify()) return;
  f.check("equal to a serial run", table == nw_serial(in, scores));
  f.check("the path back has the last score", nw_path_score(in, scores, table) == is.last);
}

}  // namespace

void add_nw(command_table& to) {
  auto o = std::make_shared<nw_options>();
  o->seed = 7;
  command_table& sub = add_application(
      to, {"nw", "Global alignment of two sequences", "tessera nw --size 2048 --policy flatten --verify"}, o,
      [o](application_run& f) { run_nw(f, *o); });
  sub.add({number_option("--size", o->size, "symbols of each sequence", 1, 32768),
           {"--scores", &o->scores, "FILE", "24 rows of 24 scores; by default BLOSUM62"}});
}

}  // namespace tessera::apps::rodinia
