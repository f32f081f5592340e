#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "apps/common/application.hpp"
#include "apps/common/value_options.hpp"
#include "apps/rodinia/commands.hpp"
#include "apps/rodinia/srad/kernel.hpp"

namespace tessera::apps::rodinia {
namespace {

struct srad_options : application_options {
  std::int64_t size = 2048, rounds = 2;
  std::string type = "f64";
};

template <class T>
double sum_of_srad(const srad_kernel<T>& image) {
  const auto seen = image.image().read();
  return std::accumulate(seen.begin(), seen.end(), 0.0);
}

template <class T>
void run_srad(application_run& f, const srad_options& o) {
  const std::int64_t n = o.size;
  f.s().require_memory(3.0 * static_cast<double>(n) * static_cast<double>(n) * sizeof(T), "the arrays of the image");
  srad_kernel<T> image(f.model(), f.how(), n);
  image.generate(o.seed);
  const double before = f.verify() ? sum_of_srad(image) : 0;
  f.input(fmt::format("{} x {} cells, {}, {} iterations, seed {}", n, n, o.type, o.rounds, o.seed));
  f.main_part([&] {
    for (std::int64_t k = 0; k < o.rounds; ++k) image.iteration();
  });
  f.compare_with(srad_workload(n, o.rounds, sizeof(T)));
  const double sum = sum_of_srad(image);
  const auto seen = image.image().read();
  const auto [low, high] = std::minmax_element(seen.begin(), seen.end());
  f.checksum("sum", sum);
  f.checksum("minimum", static_cast<double>(*low));
  f.checksum("maximum", static_cast<double>(*high));
  f.checksum("first", static_cast<double>(seen[0]));
  if (!f.verify()) return;
  const bool single = sizeof(T) == 4;
  f.check("relative change of the sum", relative_error(sum, before), single ? 1e-5 : 1e-11);
  std::vector<double> expected = make_srad_image(n, o.seed);
  srad_serial(expected, n, o.rounds);
  double worst = 0;
  for (std::size_t k = 0; k < expected.size(); ++k)
    worst = std::max(worst, relative_error(static_cast<double>(seen.begin()[k]), expected[k]));
  f.check("relative error to a serial run in double", worst,
          (single ? 2e-5 : 1e-10) * static_cast<double>(std::max<std::int64_t>(1, o.rounds)));
}

}  // namespace

void add_srad(command_table& to) {
  auto o = std::make_shared<srad_options>();
  o->seed = 7;
  command_table& sub = add_application(
      to,
      {"srad", "Diffusion that takes the speckle out of an image",
       "tessera srad --size 2048 --rounds 2 --policy static --verify"},
      o, [o](application_run& f) { o->type == "f32" ? run_srad<float>(f, *o) : run_srad<double>(f, *o); });
  sub.add({number_option("--size", o->size, "rows and columns of the image", 1, 65536),
           number_option("--rounds", o->rounds, "iterations", 0, 1'000'000), type_option(o->type, {"f64", "f32"})});
}

}  // namespace tessera::apps::rodinia
