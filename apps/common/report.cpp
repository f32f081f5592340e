#include "apps/common/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/base/units.hpp"

namespace tessera::apps {
namespace {

nlohmann::ordered_json idle_json(const std::vector<idle_device>& idle) {
  auto list = nlohmann::ordered_json::array();
  for (const idle_device& one : idle) list.push_back({{"name", one.name}, {"reason", one.reason}});
  return list;
}

}  // namespace

struct report::implementation {
  std::vector<std::pair<std::string, std::string>> lines;
  nlohmann::ordered_json values;
};

report::report() : m_implementation(std::make_unique<implementation>()) {}
report::~report() = default;

void report::add(const std::string& key, const std::string& label, const std::string& text,
                 const nlohmann::ordered_json& value) {
  m_implementation->lines.emplace_back(label, text);
  if (!key.empty()) m_implementation->values[key] = value;
}
void report::add(const std::string& key, const std::string& label, const std::string& text) {
  add(key, label, text, text);
}
void report::add_integer(const std::string& key, const std::string& label, std::int64_t value) {
  add(key, label, std::to_string(value), value);
}
void report::note(const std::string& key, const nlohmann::ordered_json& value) {
  m_implementation->values[key] = value;
}

void report::add_statistics(const statistics& s) {
  auto links = nlohmann::ordered_json::array();
  std::uint64_t transfers = 0;
  for (const auto& l : s.links) {
    links.push_back({{"from", l.from}, {"to", l.to}, {"transfers", l.transfers}, {"bytes", l.bytes}});
    transfers += l.transfers;
  }
  auto& lines = m_implementation->lines;
  lines.emplace_back("transfers",
                     fmt::format("{}, {}", transfers, format_bytes(static_cast<double>(s.bytes_transferred()))));
  for (const auto& l : s.links)
    lines.emplace_back(
        "", fmt::format("{} -> {}: {}, {}", l.from, l.to, l.transfers, format_bytes(static_cast<double>(l.bytes))));
  auto& v = m_implementation->values;
  v["transfers"] = transfers;
  v["bytes_transferred"] = s.bytes_transferred();
  v["links"] = links;
  auto operations = nlohmann::ordered_json::array();
  for (const auto& o : s.operations)
    operations.push_back({{"operation", o.operation},
                          {"location", o.place},
                          {"tasks", o.tasks},
                          {"seconds", static_cast<double>(o.nanoseconds) * 1e-9}});
  auto spaces = nlohmann::ordered_json::array();
  for (const auto& [name, is] : s.spaces)
    spaces.push_back({{"name", name},
                      {"used_bytes", is.used_bytes},
                      {"peak_bytes", is.peak_bytes},
                      {"reserved_bytes", is.reserved_bytes},
                      {"limit_bytes", is.limit_bytes == ~std::uint64_t{0} ? nlohmann::ordered_json()
                                                                          : nlohmann::ordered_json(is.limit_bytes)},
                      {"slabs", is.slabs},
                      {"allocations", is.allocations},
                      {"pool_hits", is.reuses},
                      {"evictions", is.evictions}});
  v["statistics"] = {{"tasks_submitted", s.tasks_submitted},
                     {"tasks_retired", s.tasks_retired},
                     {"steals", s.steals},
                     {"versions", s.coherence.versions},
                     {"saved_fetches", s.coherence.saved_fetches},
                     {"saved_bytes", s.coherence.saved_bytes},
                     {"joined_fetches", s.coherence.joined},
                     {"evicted_dropped", s.coherence.dropped},
                     {"evicted_written_back", s.coherence.written_back},
                     {"written_ahead", s.coherence.written_ahead},
                     {"failed_copies", s.trouble.failed_copies},
                     {"retried_copies", s.trouble.retried_copies},
                     {"lost_devices", s.losses.devices},
                     {"lost_blocks", s.losses.blocks},
                     {"device_launches", s.device_launches},
                     {"graphs",
                      {{"captured", s.graphs.captured},
                       {"recaptured", s.graphs.recaptured},
                       {"launches", s.graphs.launched},
                       {"tasks", s.graphs.tasks},
                       {"one_by_one", s.graphs.one_by_one}}},
                     {"batches", {{"launches", s.batches.launched}, {"tasks", s.batches.tasks}}},
                     {"detached_devices", s.devices.detached},
                     {"idle_devices", idle_json(s.devices.idle)},
                     {"placed_elsewhere", s.devices.placed_elsewhere},
                     {"registration_hits", s.registration_hits},
                     {"registration_misses", s.registration_misses},
                     {"registered_bytes", s.registered_bytes},
                     {"operations", operations},
                     {"spaces", spaces}};
  if (!s.placement) return;
  v["statistics"]["placement"] = {
      {"trials", s.placement->trials},       {"trial_seconds", s.placement->trial_seconds},
      {"revisions", s.placement->revisions}, {"moved", s.placement->moved},
      {"sizes", s.placement->sizes},         {"crossovers", crossovers_json(s.placement->crossovers)}};
}

nlohmann::ordered_json crossovers_json(std::span<const placement::crossover> crossovers) {
  auto rows = nlohmann::ordered_json::array();
  const auto size = [](const placement::crossover::size& is) -> nlohmann::ordered_json {
    if (!is.found) return nullptr;
    return {{"amount", is.amount}, {"block_bytes", is.block_bytes}};
  };
  for (const placement::crossover& c : crossovers)
    rows.push_back({{"operation", c.operation},
                    {"type", name_of(c.type)},
                    {"host", c.host},
                    {"device", c.device},
                    {"unit", c.counts_operations ? "operations" : "bytes"},
                    {"resident", size(c.resident)},
                    {"moved", size(c.moved)},
                    {"smallest_block", c.smallest_block},
                    {"largest_block", c.largest_block}});
  return rows;
}

std::string report::text_of(const std::string& label) const {
  for (const auto& [name, value] : m_implementation->lines)
    if (name == label) return value;
  return "";
}

std::string report::to_text() const {
  std::string text;
  for (const auto& [label, value] : m_implementation->lines)
    fmt::format_to(std::back_inserter(text), "{:<12} {}\n", label, value);
  return text;
}

std::string report::to_json() const {
  return m_implementation->values.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tessera::apps
