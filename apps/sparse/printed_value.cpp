#include "apps/sparse/printed_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tessera::apps {
namespace {

/// "1.3e-09", not below the number.
std::string rounded_up(long double number) {
  if (!(number > 0) || !std::isfinite(number)) return fmt::format("{:.1e}", static_cast<double>(number));
  int exponent = static_cast<int>(std::floor(std::log10(number)));
  auto digits = static_cast<int>(std::ceil(number / std::pow(10.0L, static_cast<long double>(exponent - 1))));
  for (;; ++digits) {
    if (digits > 99) digits = 10, ++exponent;
    std::string text = fmt::format("{}.{}e{:+03d}", digits / 10, digits % 10, exponent);
    if (std::strtold(text.c_str(), nullptr) >= number) return text;
  }
}

}  // namespace

printed_value::printed_value(double of, double within) {
  constexpr int fewest = 6, most = 17;
  constexpr long double part = 0.01L;
  long double away = 0;
  for (int digits = fewest; digits <= most; ++digits) {
    value = fmt::format("{:.{}g}", of, digits);
    away = std::abs(std::strtold(value.c_str(), nullptr) - static_cast<long double>(of));
    if (!(away > part * static_cast<long double>(within))) break;
  }
  bound = rounded_up(std::isfinite(of) ? within + away : within);
}

std::string_view doubt_of(const sparse::eigenvalue& e) {
  return e.clustered   ? "in a cluster: may have another number"
         : e.unsettled ? "not sure: others further out may be missing"
                       : "";
}

std::string contradiction(std::span<const sparse::eigenvalue> found, std::span<const double> known) {
  for (std::size_t k = 0; k < std::min(found.size(), known.size()); ++k) {
    const sparse::eigenvalue& e = found[k];
    if (!e.converged || e.clustered || e.unsettled || std::abs(e.value - known[k]) <= e.error_bound) continue;
    const printed_value text(e.value, e.error_bound);
    return fmt::format("lambda {} is {} +- {}, and {:.17g} by its formula", k + 1, text.value, text.bound, known[k]);
  }
  return {};
}

}  // namespace tessera::apps
