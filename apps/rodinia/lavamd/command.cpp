#include <fmt/format.h>

#include <algorithm>

#include "apps/common/application.hpp"
#include "apps/common/value_options.hpp"
#include "apps/common/worse.hpp"
#include "apps/rodinia/commands.hpp"
#include "apps/rodinia/lavamd/kernel.hpp"

namespace tessera::apps::rodinia {
namespace {

struct lavamd_options : application_options {
  std::int64_t size = 10;
};

void run_lavamd(application_run& f, const lavamd_options& o) {
  const std::int64_t particles = o.size * o.size * o.size * lavamd_particles;
  f.s().require_memory(72.0 * static_cast<double>(particles), "the particles");
  lavamd_kernel boxes(f.model(), f.how(), o.size);
  boxes.generate(o.seed);
  f.input(fmt::format("{}^3 boxes of {} particles, seed {}", o.size, lavamd_particles, o.seed));
  f.main_part([&] { boxes.run(); });
  f.compare_with(lavamd_workload(o.size));
  const auto seen = boxes.results.read();
  const auto sums = lavamd_sums(seen.begin(), particles);
  const char* const names[] = {"V", "X", "Y", "Z", "|X|+|Y|+|Z|"};
  for (std::size_t k = 0; k < sums.size(); ++k) f.checksum(names[k], sums[k]);
  if (!f.verify()) return;
  const std::vector<double> expected = lavamd_serial(make_lavamd_input(o.size, o.seed));
  double worst = 0, largest = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    const double error = std::abs(seen.begin()[k] - expected[k]);
    worst = worse(worst, error);
    largest = std::max(largest, std::abs(expected[k]));
  }
  f.check("difference to a serial run, over the largest result", worst / largest, 1e-12);
}

}  // namespace

void add_lavamd(command_table& to) {
  auto o = std::make_shared<lavamd_options>();
  command_table& sub = add_application(to,
                                       {"lavamd", "Particles in boxes that act on their neighbours",
                                        "tessera lavamd --size 6 --policy percentage:60,40 --verify"},
                                       o, [o](application_run& f) { run_lavamd(f, *o); });
  sub.add({number_option("--size", o->size, "boxes along each side", 1, 128)});
}

}  // namespace tessera::apps::rodinia
