#include "apps/common/roofline.hpp"

#include <algorithm>
#include <utility>

namespace tessera::apps {
namespace {

const std::string host = "the host";

/// The part of a region's iterations that each place has, by its name.
std::map<std::string, double> parts_of(const std::string& region, std::span<const region_row> shares,
                                       const machine_rates& rates) {
  const region_row* found = nullptr;
  for (const region_row& row : shares)
    if (row.name == region && row.iterations > 0 && (found == nullptr || row.launches > found->launches)) found = &row;
  if (found == nullptr) return {{host, 1.0}};
  std::map<std::string, double> parts;
  for (const region_share& s : found->shares)
    parts[rates.devices.contains(s.leaf) ? s.leaf : host] +=
        static_cast<double>(s.iterations) / static_cast<double>(found->iterations);
  return parts;
}

/// Adds up what bounds the regions.
class bound_table {
 public:
  /// The time of a part of a region's memory traffic.
  bound memory(const std::string& place, double bytes, const place_rates& does) {
    const std::string what = "memory of " + place;
    return {.what = what, .seconds = seconds_of(what, bytes, does.bytes), .bytes = bytes};
  }
  /// The same of its arithmetic.
  bound arithmetic(const std::string& place, double flops, double functions, const place_rates& does) {
    const std::string what = "arithmetic of " + place;
    return {.what = what,
            .seconds = seconds_of(what, flops, does.flops) + seconds_of(what, functions, does.functions),
            .flops = flops,
            .functions = functions};
  }
  /// Regions follow each other.
  void add(const bound& of_region) {
    if (of_region.seconds <= 0) return;
    m_seconds += of_region.seconds;
    const auto known = std::ranges::find(m_all, of_region.what, &bound::what);
    if (known == m_all.end()) {
      m_all.push_back(of_region);
      return;
    }
    known->seconds += of_region.seconds;
    known->bytes += of_region.bytes;
    known->flops += of_region.flops;
    known->functions += of_region.functions;
  }
  /// Transfers go beside all regions.
  void add_beside(const link_traffic& link) {
    const std::string what = "link " + link.link;
    const double seconds = seconds_of(what, link.bytes, link.bandwidth);
    m_longest_beside = std::max(m_longest_beside, seconds);
    if (seconds > 0) m_all.push_back({.what = what, .seconds = seconds, .bytes = link.bytes});
  }
  least_time result() && {
    std::ranges::stable_sort(m_all, std::ranges::greater(), &bound::seconds);
    return {std::max(m_seconds, m_longest_beside), std::move(m_all), std::move(m_left_out)};
  }

 private:
  /// 0 where the rate is not known, which is noted.
  double seconds_of(const std::string& what, double amount, double rate) {
    if (amount <= 0) return 0;
    if (rate > 0) return amount / rate;
    if (std::ranges::find(m_left_out, what) == m_left_out.end()) m_left_out.push_back(what);
    return 0;
  }

  double m_seconds = 0, m_longest_beside = 0;
  std::vector<bound> m_all;
  std::vector<std::string> m_left_out;
};

}  // namespace

least_time least_time_of(const workload& of, std::span<const region_row> shares, const machine_rates& rates,
                         std::span<const link_traffic> links) {
  bound_table table;
  for (const region_work& region : of.regions) {
    bound longest;
    for (const auto& [place, part] : parts_of(region.region, shares, rates)) {
      const place_rates& does = place == host ? rates.host : rates.devices.at(place);
      for (const bound& one : {table.memory(place, part * region.bytes, does),
                               table.arithmetic(place, part * region.flops, part * region.functions, does)})
        if (one.seconds > longest.seconds) longest = one;
    }
    table.add(longest);
  }
  for (const link_traffic& link : links) table.add_beside(link);
  return std::move(table).result();
}

}  // namespace tessera::apps
