#include <fmt/format.h>

#include <algorithm>

#include "apps/common/application.hpp"
#include "apps/common/value_options.hpp"
#include "apps/rodinia/commands.hpp"
#include "apps/rodinia/hotspot/kernel.hpp"

namespace tessera::apps::rodinia {
namespace {

struct hotspot_options : application_options {
  std::int64_t size = 0, rounds = 10;
  double divisor = 1;
  std::string type = "f64", temperatures, powers;
};

template <class T>
void report_hotspot(application_run& f, const hotspot_kernel<T>& heat, const hotspot_options& o, hotspot_input input,
                    const hotspot_factors<double>& factors) {
  const auto seen = heat.temperatures().read();
  double sum = 0;
  for (const T t : seen) sum += static_cast<double>(t);
  const auto [low, high] = std::minmax_element(seen.begin(), seen.end());
  f.checksum("sum", sum);
  f.checksum("minimum", static_cast<double>(*low));
  f.checksum("maximum", static_cast<double>(*high));
  f.checksum("first", static_cast<double>(seen[0]));
  if (!f.verify()) return;
  if (input.n == 0) input = make_hotspot_input(o.size, o.seed);
  std::vector<T> t(input.temperatures.begin(), input.temperatures.end()), p(input.powers.begin(), input.powers.end());
  hotspot_serial<T>(t, p, input.n, as<T>(factors), o.rounds);
  double worst = 0;
  for (std::size_t k = 0; k < t.size(); ++k)
    worst = std::max(worst, relative_error(static_cast<double>(seen.begin()[k]), static_cast<double>(t[k])));
  f.check("relative error to a serial run", worst, sizeof(T) == 4 ? 2e-5 : 1e-12);
}

template <class T>
void run_hotspot(application_run& f, const hotspot_options& o) {
  hotspot_input input;
  if (!o.temperatures.empty()) input = read_hotspot_input(o.temperatures, o.powers, o.size);
  const std::int64_t n = input.n > 0 ? input.n : o.size;
  f.s().require_memory(3.0 * static_cast<double>(n) * static_cast<double>(n) * sizeof(T), "the arrays of the chip");
  const hotspot_factors<double> factors = hotspot_factors_of(n, o.divisor);
  hotspot_kernel<T> heat(f.model(), f.how(), n, factors);
  if (input.n == 0) {
    heat.generate(o.seed);
  } else {
    const std::vector<T> t(input.temperatures.begin(), input.temperatures.end()),
        p(input.powers.begin(), input.powers.end());
    load<T>(f.model(), f.how(), heat.temperatures(), t);
    load<T>(f.model(), f.how(), heat.powers, p);
  }
  f.input(fmt::format("{} x {} cells, {}, {} steps, {}", n, n, o.type, o.rounds,
                      input.n > 0 ? o.temperatures + ", " + o.powers : fmt::format("seed {}", o.seed)));
  f.main_part([&] {
    for (std::int64_t k = 0; k < o.rounds; ++k) heat.step();
  });
  f.compare_with(hotspot_workload(n, o.rounds, sizeof(T)));
  report_hotspot(f, heat, o, std::move(input), factors);
}

}  // namespace

void add_hotspot(command_table& to) {
  auto o = std::make_shared<hotspot_options>();
  o->seed = 5;
  command_table& sub =
      add_application(to,
                      {"hotspot", "Transient heat on a chip: a stencil over a grid",
                       "tessera hotspot --size 1024 --rounds 10 --policy percentage:60,40 --verify"},
                      o, [o](application_run& f) {
                        hotspot_options with = *o;
                        if (with.temperatures.empty() != with.powers.empty())
                          throw error(error_kind::usage, "--temperatures and --powers belong together",
                                      with.powers.empty() ? "--temperatures" : "--powers",
                                      "give both files, or neither for random ones");
                        if (with.temperatures.empty() && with.size == 0) with.size = 1024;
                        with.type == "f32" ? run_hotspot<float>(f, with) : run_hotspot<double>(f, with);
                      });
  sub.add({{"--size",
            &o->size,
            "N",
            "rows and columns of cells; by default 1024, or those of the files",
            {.range = between(1, 65536)}},
           number_option("--rounds", o->rounds, "steps in time", 0, 1'000'000),
           number_option("--divisor", o->divisor, "D", "what the time step is divided by", 1.0, 1e9),
           {"--temperatures", &o->temperatures, "FILE", "the temperatures, one per line; instead of random ones"},
           {"--powers", &o->powers, "FILE", "the powers, one per line"},
           type_option(o->type, {"f64", "f32"})});
}

}  // namespace tessera::apps::rodinia
