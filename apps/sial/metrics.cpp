#include "apps/sial/metrics.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "core/base/units.hpp"

namespace tessera::apps {
namespace {

constexpr std::array<const char*, 4> exchange_words{"get", "request", "put", "prepare"};

}  // namespace

nlohmann::ordered_json metrics_of(const sial::program_report& done) {
  const sial::run_counters& c = done.counters;
  auto exchanges = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < c.exchanges.size(); ++k) {
    const sial::exchange_counters& e = c.exchanges[k];
    exchanges.push_back({{"kind", exchange_words[k]},
                         {"number", e.number},
                         {"bytes", e.bytes},
                         {"saved", e.saved},
                         {"waited_seconds", static_cast<double>(e.waited) * 1e-9}});
  }
  return {{"program", done.name},
          {"file", done.path},
          {"seconds", done.seconds},
          {"iterations", c.iterations},
          {"gets", c.gets()},
          {"puts", c.puts()},
          {"contractions", c.contractions},
          {"contraction_flops", c.flops},
          {"blocks_taken", c.blocks_taken},
          {"blocks_reused", c.blocks_reused},
          {"barrier_seconds", c.barrier_seconds},
          {"first_reads", c.first_reads},
          {"ready_reads", c.ready_reads},
          {"hit_ratio", c.hit_ratio()},
          {"asked_early", c.asked_early},
          {"block_seconds", c.block_seconds()},
          {"statements_on_devices", c.on_devices},
          {"statements_in_place", c.in_place},
          {"device_seconds", done.device_seconds},
          {"exchanges", exchanges}};
}

std::string exchanges_text(const sial::program_report& done) {
  const sial::run_counters& c = done.counters;
  std::string text = fmt::format(
      "{}: hit ratio {:.1f} %: {} of {} blocks were here when they were first read ({} asked for early), {:.6f} s "
      "waited for blocks; {} of "
      "{} temporary blocks reused\n",
      done.name, 100 * c.hit_ratio(), c.ready_reads, c.first_reads, c.asked_early, c.block_seconds(), c.blocks_reused,
      c.blocks_taken);
  if (c.on_devices + c.in_place > 0)
    text += fmt::format("{}: {} of {} block statements ran on devices, {:.6f} s there\n", done.name, c.on_devices,
                        c.on_devices + c.in_place, done.device_seconds);
  text += fmt::format("  {:<8} {:>12} {:>12} {:>12} {:>12}\n", "", "number", "bytes", "saved", "waited s");
  for (std::size_t k = 0; k < c.exchanges.size(); ++k) {
    const sial::exchange_counters& e = c.exchanges[k];
    text += fmt::format("  {:<8} {:>12} {:>12} {:>12} {:>12.6f}\n", exchange_words[k], e.number,
                        format_bytes(static_cast<double>(e.bytes)), e.saved, static_cast<double>(e.waited) * 1e-9);
  }
  return text;
}

}  // namespace tessera::apps
