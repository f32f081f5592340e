#include "languages/sial/estimate/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/units.hpp"

namespace tessera::sial {
namespace {

constexpr double mebi = 1024.0 * 1024.0;

double shared_room(const program_estimate& e) { return e.shared_at_once.room + e.kept_before.room; }

/// What cannot leave the host's memory.
double least_of(const program_estimate& e, unsigned workers) {
  return static_cast<double>(workers) * (e.private_room() + e.hand_room);
}

double all_of(const program_estimate& e, unsigned workers) {
  // Blocks in the hands of workers are among the shared ones, where these are at least as many.
  return static_cast<double>(workers) * e.private_room() +
         std::max(shared_room(e), static_cast<double>(workers) * e.hand_room);
}

bool fits_somehow(const program_estimate& e, unsigned workers, const memory_offer& there) {
  return least_of(e, workers) <= there.host && all_of(e, workers) <= there.host + there.beyond;
}

/// A size that can be given as a setting: rounded up, to KiB below a MiB, else to MiB.
std::string setting(double bytes) {
  if (bytes <= mebi) return fmt::format("{} KiB", static_cast<std::int64_t>(std::ceil(bytes / 1024)));
  return fmt::format("{} MiB", static_cast<std::int64_t>(std::ceil(bytes / mebi)));
}

}  // namespace

memory_offer offer_of(std::span<const named_space_statistics> spaces) {
  memory_offer there;
  for (const named_space_statistics& s : spaces) {
    if (s.name.starts_with("host:")) there.host += static_cast<double>(s.statistics.limit_bytes);
    if (s.name.ends_with(":storage")) there.beyond += static_cast<double>(s.statistics.limit_bytes);
  }
  return there;
}

verdict judge(const program_estimate& e, const memory_offer& there) {
  verdict v;
  v.least = least_of(e, e.workers);
  v.all = all_of(e, e.workers);
  const std::string holds = fmt::format("the host's memory holds {}", format_bytes(there.host)) +
                            (there.beyond > 0 ? fmt::format(", disks {}", format_bytes(there.beyond)) : "");
  if (v.all <= there.host) {
    v.text = fmt::format("it fits: blocks take {}, and {}", format_bytes(v.all), holds);
    return v;
  }
  v.spilled = v.all - there.host;
  if (fits_somehow(e, e.workers, there)) {
    v.outcome = fit::spills;
    v.text = fmt::format("it fits with the disk: blocks take {}, and {}; {} are spilled", format_bytes(v.all), holds,
                         format_bytes(v.spilled));
    v.remedies.push_back(
        fmt::format("--set memory.host_limit=\"{}\" (or more) keeps everything in memory", setting(v.all)));
    return v;
  }
  v.outcome = fit::does_not_fit;
  const bool too_small_for_one = v.least > there.host;
  v.text = too_small_for_one
               ? fmt::format("it does not fit: {} worker{} {} of blocks that cannot leave, and {}", e.workers,
                             e.workers == 1 ? " holds" : "s hold", format_bytes(v.least), holds)
               : fmt::format("it does not fit: blocks take {}, and {}", format_bytes(v.all), holds);
  v.remedies.push_back(fmt::format("--set memory.host_limit=\"{}\" (or more)",
                                   setting(there.beyond > 0 ? std::max(v.least, v.all - there.beyond) : v.all)));
  const double spill = std::max(v.all - there.host, shared_room(e));
  if (!too_small_for_one)
    v.remedies.push_back(there.beyond > 0
                             ? fmt::format("--set plugin.disk.capacity=\"{}\" (or more)", setting(spill))
                             : fmt::format("a disk for what does not fit: --set 'runtime.plugins=[\"host\", \"disk\"]' "
                                           "--set plugin.disk.capacity=\"{}\" (or more)",
                                           setting(spill)));
  else if (there.beyond == 0 && v.all > v.least)
    v.remedies.push_back(fmt::format(
        "--set memory.host_limit=\"{}\" (or more) and a disk: --set 'runtime.plugins=[\"host\", \"disk\"]' --set "
        "plugin.disk.capacity=\"{}\"",
        setting(v.least), setting(v.all)));
  for (unsigned w = e.workers; --w > 0;)
    if (fits_somehow(e, w, there)) {
      v.remedies.push_back(fmt::format("--workers {}", w));
      break;
    }
  if (too_small_for_one && e.longest_segment > 1) {
    // A block of rank r shrinks with the r-th power of its segments.
    const double factor = std::pow(there.host / v.least, 1.0 / static_cast<double>(e.largest_private_rank));
    const auto length = static_cast<std::int64_t>(std::floor(static_cast<double>(e.longest_segment) * factor));
    if (length >= 1)
      v.remedies.push_back(
          fmt::format("segments of at most about {} elements in the initialization data (the longest have {})", length,
                      e.longest_segment));
  }
  return v;
}

}  // namespace tessera::sial
