#include "hierarchy/policy/shares.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tessera::hierarchy {
namespace {

/// Whole numbers in these proportions that sum to n; those of 0 get none. Equal ones where the weights have no sum that
/// is a number above 0.
leaf_shares in_proportion(std::uint64_t n, std::span<const double> weights) {
  const long double total = std::accumulate(weights.begin(), weights.end(), 0.0L);
  if (weights.empty()) return {};
  if (!(total > 0) || !std::isfinite(total)) return in_proportion(n, std::vector<double>(weights.size(), 1));
  leaf_shares shares(weights.size());
  long double cumulated = 0;
  std::uint64_t begin = 0;
  std::size_t last = 0;  // with a weight
  for (std::size_t k = 0; k < weights.size(); ++k) {
    if (!(weights[k] > 0)) continue;
    last = k;
    cumulated += static_cast<long double>(weights[k]);
    const long double exact = std::round(static_cast<long double>(n) * (cumulated / total));
    const std::uint64_t end = exact >= static_cast<long double>(n) ? n : static_cast<std::uint64_t>(exact);
    shares[k] = end - begin;
    begin = end;
  }
  shares[last] += n - begin;
  return shares;
}

/// Those that are not known as the mean of the others; none where all are unknown.
std::vector<leaf_cost> completed(std::span<const leaf_cost> costs) {
  double fixed = 0, speed = 0;
  std::size_t known = 0;
  for (const leaf_cost& c : costs)
    if (c.known()) fixed += c.fixed, speed += 1 / c.per_iteration, ++known;
  std::vector<leaf_cost> all;
  if (known == 0) return all;
  const auto count = static_cast<double>(known);
  for (const leaf_cost& c : costs) all.push_back(c.known() ? c : leaf_cost{fixed / count, count / speed});
  return all;
}

/// When the leaves with these costs, those in `out` left out, can all be done; no leaf takes part whose fixed cost is
/// above that.
double earliest_end(std::uint64_t n, std::span<const leaf_cost> costs, const std::vector<bool>& out) {
  std::vector<leaf_cost> sorted;
  for (std::size_t k = 0; k < costs.size(); ++k)
    if (!out[k]) sorted.push_back(costs[k]);
  std::ranges::sort(sorted, {}, &leaf_cost::fixed);
  double speed = 0, before = 0, end = 0;  // `before`: what the leaves so far would have done in their fixed costs
  for (const leaf_cost& c : sorted) {
    if (speed > 0 && c.fixed >= end) break;
    speed += 1 / c.per_iteration;
    before += c.fixed / c.per_iteration;
    end = (static_cast<double>(n) + before) / speed;
  }
  return end;
}

/// Iterations of each leaf until then, as if there were parts of one.
std::vector<double> done_until(double end, std::span<const leaf_cost> costs, const std::vector<bool>& out) {
  std::vector<double> done;
  for (std::size_t k = 0; k < costs.size(); ++k)
    done.push_back(out[k] ? 0 : std::max(end - costs[k].fixed, 0.0) / costs[k].per_iteration);
  return done;
}

}  // namespace

leaf_shares earliest_shares(std::uint64_t n, std::span<const leaf_cost> costs) {
  const std::vector<leaf_cost> all = completed(costs);
  if (all.empty()) return in_proportion(n, std::vector<double>(costs.size(), 1));
  std::vector<bool> out(all.size());
  double end = earliest_end(n, all, out);
  const double most = 1.02 * end, small = static_cast<double>(n) / (4 * static_cast<double>(all.size()));
  const std::vector<double> done = done_until(end, all, out);
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return done[k]; });
  for (const std::size_t k : order) {
    if (done[k] >= small) break;
    out[k] = true;
    const double without = earliest_end(n, all, out);
    if (without > most) {
      out[k] = false;
      break;
    }
    end = without;
  }
  return in_proportion(n, done_until(end, all, out));
}

double seconds_to_move(const leaf_shares& from, const leaf_shares& to, std::span<const double> per_iteration) {
  double seconds = 0;
  std::uint64_t from_begin = 0, to_begin = 0;
  for (std::size_t k = 0; k < from.size(); ++k) {
    const std::uint64_t from_end = from_begin + from[k], to_end = to_begin + to[k];
    const std::uint64_t begin = std::max(from_begin, to_begin), end = std::min(from_end, to_end),
                        kept = end > begin ? end - begin : 0;
    const std::uint64_t moved = kept == from[k] ? to[k] - kept : from[k] + to[k];
    seconds += static_cast<double>(moved) * per_iteration[k];
    from_begin = from_end, to_begin = to_end;
  }
  return seconds;
}

double seconds_of(const leaf_shares& shares, std::span<const leaf_cost> costs) {
  double last = 0;
  for (std::size_t k = 0; k < shares.size(); ++k)
    if (shares[k] > 0 && costs[k].known()) last = std::max(last, costs[k].seconds(static_cast<double>(shares[k])));
  return last;
}

void trial_budget::apply(leaf_shares& shares, std::span<const leaf_cost> costs, std::span<const double> moving,
                         const std::function<double(const leaf_shares&)>& beyond) {
  const double takes = seconds_of(shares, costs);
  const auto length = [&](std::size_t k) {  // of a trial of a leaf
    return std::max(std::floor(std::min(costs[k].fixed, takes) / costs[k].per_iteration), 1.0);
  };
  const auto loss = [&](std::size_t k) { return costs[k].seconds(length(k)) - takes; };
  std::size_t tried = shares.size();
  for (std::size_t k = 0; k < shares.size(); ++k)
    if (shares[k] == 0 && costs[k].known() && (tried == shares.size() || loss(k) < loss(tried))) tried = k;
  if (tried == shares.size()) return void(m_seconds = 0);
  leaf_shares trial = shares;
  const auto most = std::ranges::max_element(trial);
  const auto given = static_cast<std::uint64_t>(std::min(length(tried), static_cast<double>(*most) / 2));
  *most -= given;
  trial[tried] = given;
  const double moves = seconds_to_move(shares, trial, moving) + seconds_to_move(trial, shares, moving);
  m_seconds += takes / 50;
  const double more = beyond ? beyond(trial) : 0;
  if (m_seconds < std::max(loss(tried) + moves + more, takes)) return;
  m_seconds = 0;
  shares.swap(trial);
}

}  // namespace tessera::hierarchy
