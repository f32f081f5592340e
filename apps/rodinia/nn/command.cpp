#include <fmt/format.h>

#include "apps/common/application.hpp"
#include "apps/common/value_options.hpp"
#include "apps/common/worse.hpp"
#include "apps/rodinia/commands.hpp"
#include "apps/rodinia/nn/kernel.hpp"

namespace tessera::apps::rodinia {
namespace {

struct nn_options : application_options {
  std::int64_t size = 1'000'000, nearest = 5;
  double latitude = 30, longitude = 90;
  std::vector<std::string> records;
};

void run_nn(application_run& f, const nn_options& o) {
  nn_records all;
  for (const std::string& file : o.records) read_nn_records(file, all);
  if (o.records.empty()) all = make_nn_records(o.size, o.seed);
  const auto count = static_cast<std::int64_t>(all.latitudes.size());
  f.s().require_memory(12.0 * static_cast<double>(count), "the records");
  nn_kernel records(f.model(), f.how(), count);
  load<float>(f.model(), f.how(), records.latitudes, all.latitudes);
  load<float>(f.model(), f.how(), records.longitudes, all.longitudes);
  f.input(fmt::format("{} records, the nearest {} to {}, {}", count, o.nearest, o.latitude, o.longitude));
  std::vector<nn_neighbour> nearest;
  f.main_part([&] {
    records.run(static_cast<float>(o.latitude), static_cast<float>(o.longitude));
    nearest = nn_nearest(records.distances.read().elements(), o.nearest);
  });
  f.compare_with(nn_workload(count));
  for (std::size_t k = 0; k < std::min<std::size_t>(nearest.size(), 5); ++k) {
    const auto record = static_cast<std::size_t>(nearest[k].record);
    f.checksum(all.names.empty() ? fmt::format("record {}", record) : all.names[record], nearest[k].distance);
  }
  double sum = 0;
  for (const float d : records.distances.read()) sum += static_cast<double>(d);
  f.checksum("sum of distances", sum);
  if (!f.verify()) return;
  const auto expected = nn_nearest_serial(all, o.latitude, o.longitude, o.nearest);
  double worst = 0;
  for (std::size_t k = 0; k < expected.size(); ++k)
    worst = worse(worst, std::abs(nearest[k].distance - expected[k].distance));
  f.check("difference to the distances of a full sort in double", worst,
          2e-5 * std::max(1.0, expected.back().distance));
}

}  // namespace

void add_nn(command_table& to) {
  auto o = std::make_shared<nn_options>();
  command_table& sub = add_application(
      to, {"nn", "The records that are nearest to a place", "tessera nn --size 10000000 --nearest 10 --verify"}, o,
      [o](application_run& f) { run_nn(f, *o); });
  sub.add({number_option("--size", o->size, "synthetic records", 1, std::int64_t{1} << 32),
           number_option("--nearest", o->nearest, "how many to find", 1, 1000),
           {"--records",
            &o->records,
            "FILE",
            "records, lines of 48 characters (repeatable); instead of --size",
            {.one_each = true, .excludes = {"--size"}}},
           number_option("--latitude", o->latitude, "X", "of the place", -90.0, 90.0),
           number_option("--longitude", o->longitude, "Y", "of the place", -360.0, 360.0)});
}

}  // namespace tessera::apps::rodinia
