#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "apps/common/application.hpp"
#include "apps/common/value_options.hpp"
#include "apps/rodinia/commands.hpp"
#include "apps/rodinia/pathfinder/kernel.hpp"

namespace tessera::apps::rodinia {
namespace {

struct pathfinder_options : application_options {
  std::int64_t rows = 100, size = 1'000'000;
  std::string type = "i32";
};

template <class T>
void run_pathfinder(application_run& f, const pathfinder_options& o) {
  f.s().require_memory(
      static_cast<double>(o.rows) * static_cast<double>(o.size) * sizeof(T) + 16.0 * static_cast<double>(o.size),
      "the grid and its costs");
  pathfinder_kernel<T> path(f.model(), f.how(), o.rows, o.size);
  path.generate(o.seed);
  path.start();
  f.input(fmt::format("{} rows of {} cells, {}, seed {}", o.rows, o.size, o.type, o.seed));
  f.main_part([&] { path.run(); });
  f.compare_with(pathfinder_workload(o.rows, o.size, sizeof(T)));
  const auto seen = path.costs().read();
  const std::int32_t *begin = seen.begin() + 1, *end = begin + o.size;
  f.checksum("sum", std::accumulate(begin, end, std::int64_t{0}));
  f.checksum("minimum", std::int64_t{*std::min_element(begin, end)});
  f.checksum("maximum", std::int64_t{*std::max_element(begin, end)});
  f.checksum("first", std::int64_t{begin[0]});
  f.checksum("last", std::int64_t{end[-1]});
  if (f.verify())
    f.check("equal to a serial run",
            std::ranges::equal(std::span(begin, end), pathfinder_serial(o.seed, o.rows, o.size)));
}

}  // namespace

void add_pathfinder(command_table& to) {
  auto o = std::make_shared<pathfinder_options>();
  o->seed = 9;
  command_table& sub =
      add_application(to,
                      {"pathfinder", "The cheapest path through a grid, row by row",
                       "tessera pathfinder --size 1000000 --rows 100 --policy flatten --verify"},
                      o, [o](application_run& f) {
                        o->type == "u8" ? run_pathfinder<std::uint8_t>(f, *o) : run_pathfinder<std::int32_t>(f, *o);
                      });
  sub.add({number_option("--size", o->size, "cells of a row", 2, std::int64_t{1} << 30),
           number_option("--rows", o->rows, "rows of the grid", 1, 1 << 20), type_option(o->type, {"i32", "u8"})});
}

}  // namespace tessera::apps::rodinia
