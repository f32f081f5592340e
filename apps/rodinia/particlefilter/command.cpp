#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/common/application.hpp"
#include "apps/common/value_options.hpp"
#include "apps/rodinia/commands.hpp"
#include "apps/rodinia/particlefilter/kernel.hpp"

namespace tessera::apps::rodinia {
namespace {

struct filter_options : application_options {
  std::int64_t size = 128, frames = 10, particles = 10'000;
};

void run_particlefilter(application_run& f, const filter_options& o) {
  const std::int64_t most = o.size / 4 - 1;  // then the disk reaches the edge
  if (o.frames > most)
    throw error(error_kind::usage, fmt::format("the object leaves the image after {} frames", most), "--frames",
                fmt::format("choose --size {} or more", 4 * (o.frames + 1)));
  f.s().require_memory(4.0 * static_cast<double>(o.size) * static_cast<double>(o.size) * static_cast<double>(o.frames) +
                           56.0 * static_cast<double>(o.particles),
                       "the video and the particles");
  filter_kernel filter(f.model(), f.how(), o.size, o.frames, o.particles);
  filter.generate();
  filter.start();
  f.input(fmt::format("{} frames of {} x {} pixels, {} particles", o.frames, o.size, o.size, o.particles));
  f.main_part([&] { filter.run(); });
  f.compare_with(filter_workload(o.frames, o.particles));
  const auto seen = filter.estimates.read();
  double worst = 0, sums = 0;
  for (std::int64_t k = 1; k < o.frames; ++k) {
    const auto [row, column] = filter_centre(o.size, k);
    const double a = std::abs(seen(k, 0) - static_cast<double>(row) - 0.5),
                 b = std::abs(seen(k, 1) - static_cast<double>(column) - 0.5), c = std::abs(seen(k, 2) - 1);
    worst = std::isnan(a + b) ? std::numeric_limits<double>::infinity() : std::max({worst, a, b});
    sums = std::isnan(c) ? std::numeric_limits<double>::infinity() : std::max(sums, c);
  }
  f.checksum("last row", seen(o.frames - 1, 0));
  f.checksum("last column", seen(o.frames - 1, 1));
  if (!f.verify()) return;
  // An estimate is a mean over particles.
  const double spread = std::sqrt(std::max(1.0, 10'000.0 / static_cast<double>(o.particles)));
  f.check("largest distance from the object, in pixels", worst, 0.5 * spread);
  f.check("difference of the sum of weights from 1", sums, 1e-12);
}

}  // namespace

void add_particlefilter(command_table& to) {
  auto o = std::make_shared<filter_options>();
  command_table& sub = add_application(to,
                                       {"particlefilter", "Tracks an object in a noisy video",
                                        "tessera particlefilter --size 128 --frames 10 --policy flatten --verify"},
                                       o, [o](application_run& f) { run_particlefilter(f, *o); });
  sub.add({number_option("--size", o->size, "rows and columns of a frame", 32, 16384),
           number_option("--frames", o->frames, "frames of the video", 2, 4096),
           number_option("--particles", o->particles, "particles of the filter", 1, 100'000'000)});
}

}  // namespace tessera::apps::rodinia
