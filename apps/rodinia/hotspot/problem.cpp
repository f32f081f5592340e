#include "apps/rodinia/hotspot/problem.hpp"

#include <fmt/format.h>

#include "apps/common/text_input.hpp"
#include "apps/rodinia/common/random_stream.hpp"
#include "core/base/error.hpp"

namespace tessera::apps::rodinia {

hotspot_factors<double> hotspot_factors_of(std::int64_t n, double divisor) {
  constexpr double side = 0.016, thickness = 0.0005, conductivity = 100, heat = 1.75e6, factor = 0.5;
  const double cell = side / static_cast<double>(n), capacity = factor * heat * thickness * cell * cell;
  const double step = 0.001 / (3e6 / (factor * thickness * heat)) / divisor;
  const double lateral = 2 * conductivity * thickness;  // the resistance is cell / (lateral cell)
  return {step / capacity, lateral, lateral, conductivity * cell * cell / thickness, 80};
}

hotspot_input make_hotspot_input(std::int64_t n, std::uint64_t seed) {
  hotspot_input made{n, std::vector<double>(static_cast<std::size_t>(n * n)),
                     std::vector<double>(static_cast<std::size_t>(n * n))};
  random_stream from(seed);
  for (double& t : made.temperatures) t = 320 + 10 * from.unit();
  for (double& p : made.powers) p = 0.001 * from.unit();
  return made;
}

namespace {

/// All numbers of a file, which are a square.
std::vector<double> read_hotspot_square(const std::filesystem::path& file, const char* what, std::int64_t& n) {
  text_input in(file);
  std::vector<double> values;
  while (!in.at_end()) values.push_back(in.number(what));
  for (n = 0; n * n < static_cast<std::int64_t>(values.size());) ++n;
  if (values.empty() || n * n != static_cast<std::int64_t>(values.size()))
    in.refuse(fmt::format("the file has {} numbers, which are no square", values.size()));
  return values;
}

std::vector<double> replicate_hotspot_cells(const std::vector<double>& from, std::int64_t m, std::int64_t n) {
  std::vector<double> to(static_cast<std::size_t>(n * n));
  const std::int64_t times = n / m;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      to[static_cast<std::size_t>(i * n + j)] = from[static_cast<std::size_t>(i / times * m + j / times)];
  return to;
}

}  // namespace

hotspot_input read_hotspot_input(const std::filesystem::path& temperatures, const std::filesystem::path& powers,
                                 std::int64_t n) {
  std::int64_t m = 0, other = 0;
  std::vector<double> t = read_hotspot_square(temperatures, "a temperature", m),
                      p = read_hotspot_square(powers, "a power", other);
  if (m != other)
    throw error(error_kind::input,
                fmt::format("the temperatures are of {} x {} cells, the powers of {} x {}", m, m, other, other),
                powers.string(), "name two files of the same chip");
  if (n == 0) n = m;
  if (n % m != 0)
    throw error(error_kind::usage, fmt::format("{} is no multiple of the {} rows in the files", n, m), "--size",
                "each cell of the files becomes a square of cells");
  if (n == m) return {n, std::move(t), std::move(p)};
  return {n, replicate_hotspot_cells(t, m, n), replicate_hotspot_cells(p, m, n)};
}

workload hotspot_workload(std::int64_t n, std::int64_t steps, std::size_t element) {
  const double cells = static_cast<double>(n) * static_cast<double>(n), all = cells * static_cast<double>(steps),
               size = static_cast<double>(element);
  return {3 * cells * size, {{"heat", 3 * all * size, 15 * all, 0}}};
}

}  // namespace tessera::apps::rodinia
