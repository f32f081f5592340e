#include "apps/study/points.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cmath>

#include "core/base/error.hpp"

namespace tessera::apps::study {
namespace {

/// Digits that `percentage:` can add up to 100 within its tolerance.
std::string digits(double share) {
  std::string text = fmt::format("{:.6f}", share);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

point with_shares(double x, const std::string& label, const std::vector<std::string>& shares) {
  return {x, label, {"--policy", fmt::format("percentage:{}", fmt::join(shares, ","))}};
}

std::string count_of(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

std::vector<point> shares_of_leaf(std::size_t leaf, std::size_t leaves, const share_range& range) {
  if (leaves < 2)
    throw error(error_kind::usage, "the loops have one leaf, so there is nothing to share", "study percentage",
                "choose a configuration with two places, such as configs/opencl.toml");
  if (!(range.from >= 0 && range.from <= range.to && range.to <= 100 && range.step > 0))
    throw error(error_kind::usage,
                fmt::format("the shares {} to {} in steps of {} are no sweep", digits(range.from), digits(range.to),
                            digits(range.step)),
                "study percentage", "0 <= --from <= --to <= 100, and --step above 0");
  constexpr double most = 1000;
  const double last = std::floor((range.to - range.from) / range.step + 1e-9);
  if (last > most)
    throw error(error_kind::usage,
                fmt::format("the sweep in steps of {} has more than {} points", range.step, most + 1),
                "study percentage", "take a larger --step");
  std::vector<point> all;
  const auto steps = static_cast<std::size_t>(last);
  for (std::size_t k = 0; k <= steps; ++k) {
    const double share = range.from + static_cast<double>(k) * range.step;
    std::vector<std::string> shares(leaves, digits((100 - share) / static_cast<double>(leaves - 1)));
    shares[leaf] = digits(share);
    all.push_back(with_shares(share, fmt::format("{}", fmt::join(shares, ",")), shares));
  }
  return all;
}

std::vector<std::string> policies_of(const std::vector<std::string>& pieces) {
  std::vector<std::string> all;
  for (const std::string& piece : pieces)
    if (!all.empty() && !piece.empty() && (std::isdigit(static_cast<unsigned char>(piece.front())) != 0))
      all.back() += "," + piece;
    else
      all.push_back(piece);
  return all;
}

std::vector<point> numbers_of_workers(std::uint32_t most) {
  std::vector<point> all;
  const auto add = [&](std::uint32_t count) {
    all.push_back(
        {static_cast<double>(count), count_of(count, "worker", "workers"), {"--workers", std::to_string(count)}});
  };
  for (std::uint32_t count = 1; count < most; count *= 2) add(count);
  add(most);
  return all;
}

std::vector<point> numbers_of_leaves(std::size_t leaves) {
  std::vector<point> all;
  for (std::size_t count = 1; count <= leaves; ++count)
    all.push_back(with_shares(static_cast<double>(count), count_of(count, "leaf", "leaves"),
                              std::vector<std::string>(count, digits(100.0 / static_cast<double>(count)))));
  return all;
}

point policy(const std::string& name) { return {0, name, {"--policy", name}}; }

}  // namespace tessera::apps::study
