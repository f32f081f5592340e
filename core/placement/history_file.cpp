#include "core/placement/history_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>
#include <tuple>

#include "core/base/cache_folder.hpp"
#include "core/base/error.hpp"
#include "core/placement/history_contents.hpp"

namespace tessera::placement {
namespace {

namespace fs = std::filesystem;
using json = history_json;

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name") || line.starts_with("Model") || line.starts_with("cpu model"))
      if (const auto colon = line.find(": "); colon != line.npos) return line.substr(colon + 2);
  return "unknown";
}

std::string type_name(element_type type) { return std::string(name_of(type)); }

bool type_from(const std::string& name, element_type& out) {
  for (int k = 0; k < 16; ++k) {
    const auto type = static_cast<element_type>(k);
    if (name_of(type) != name) continue;
    out = type;
    return true;
  }
  return false;
}

json to_json(const history_cell& c) {
  return {{"operation", c.operation},
          {"type", type_name(c.type)},
          {"place", c.place},
          {"unit", c.counts_operations ? "operations" : "bytes"},
          {"bucket", c.bucket},
          {"amount", c.amount},
          {"block_bytes", c.block_bytes},
          {"input_bytes", c.input_bytes},
          {"inputs", c.inputs},
          {"ns_per_unit", c.samples}};
}

/// Throws json::exception, or std::runtime_error, for what cannot be.
history_cell cell_from(const json& j) {
  history_cell c;
  c.operation = j.at("operation").get<std::string>();
  if (!type_from(j.at("type").get<std::string>(), c.type)) throw std::runtime_error("an unknown element type");
  c.place = j.at("place").get<std::string>();
  c.counts_operations = j.at("unit").get<std::string>() == "operations";
  c.bucket = j.at("bucket").get<std::uint32_t>();
  c.amount = j.at("amount").get<double>();
  c.block_bytes = j.at("block_bytes").get<double>();
  c.input_bytes = j.at("input_bytes").get<double>();
  c.inputs = j.at("inputs").get<double>();
  c.samples = j.at("ns_per_unit").get<std::vector<float>>();
  const bool sound = c.bucket < history::buckets && c.amount >= 1 && std::isfinite(c.amount) && !c.samples.empty() &&
                     c.samples.size() <= history::kept && history::bucket_of(c.amount) == c.bucket &&
                     std::ranges::all_of(c.samples, [](float ns) { return ns > 0 && std::isfinite(ns); });
  if (!sound) throw std::runtime_error(fmt::format("impossible numbers for '{}' at {}", c.operation, c.place));
  return c;
}

}  // namespace

std::string kind_name(const plugin::device& device) {
  if (device.description().device_class == TSR_DEVICE_CPU) return "cpu";
  const std::string_view named(device.description().name,
                               ::strnlen(device.description().name, sizeof device.description().name));
  return fmt::format("{}: {}", device.plugin_name(), named.empty() ? std::string_view(device.name()) : named);
}

std::vector<std::string> machine_lines(std::span<const std::unique_ptr<plugin::device>> devices) {
  std::vector<std::string> lines{"cpu: " + cpu_model()};
  for (const auto& d : devices) {
    const tsr_device_desc& description = d->description();
    if (description.device_class == TSR_DEVICE_STORAGE) continue;
    const char* const library = d->blas() != nullptr && d->blas()->library != nullptr ? d->blas()->library : "no BLAS";
    if (description.device_class == TSR_DEVICE_CPU) {
      lines.push_back("host: " + std::string(library));
      continue;
    }
    std::string uuid;
    for (const std::uint8_t byte : description.uuid) uuid += fmt::format("{:02x}", byte);
    lines.push_back(fmt::format("{}, {}, {:.4g} FLOP/s, {}", kind_name(*d), uuid, description.peak_f64, library));
  }
  return lines;
}

std::string signature_of(std::span<const std::string> lines) {
  std::uint64_t hash = hash_of({});
  for (const std::string& line : lines) hash = hash_of(line + "\n", hash);
  return fmt::format("{:016x}", hash);
}

fs::path history_path(std::string_view setting, std::string_view signature) {
  if (setting == "off") return {};
  if (setting != "auto") return fs::path(setting);
  const fs::path all = cache_folder();
  return all.empty() ? fs::path() : all / fmt::format("history-{}.json", signature);
}

stored_history read_history(const fs::path& file, std::span<const std::string> machine) {
  stored_history out;
  const history_contents c = read_contents(file);
  if (c.absent) return out;
  out.refused = c.refused;
  out.replaceable = c.ours && !c.newer;
  if (!c.refused.empty()) return out;
  const auto part = c.whole["machines"].find(signature_of(machine));
  if (part == c.whole["machines"].end()) {
    if (!c.whole["machines"].empty()) out.refused = "it knows other machines than this one";
    return out;
  }
  try {
    if (part->at("machine").get<std::vector<std::string>>() != std::vector<std::string>(machine.begin(), machine.end()))
      throw std::runtime_error("it describes another machine");
    for (const json& k : part->at("places")) {
      place_kind kind;
      kind.name = k.at("name").get<std::string>();
      kind.is_host = k.at("host").get<bool>();
      kind.ns_per_operation = k.at("ns_per_operation").get<double>();
      kind.ns_per_byte = k.at("ns_per_byte").get<double>();
      kind.link_seconds = k.at("link_seconds").get<double>();
      kind.link_bytes_per_second = k.at("link_bytes_per_second").get<double>();
      out.kinds.push_back(std::move(kind));
    }
    for (const json& cell : part->at("sizes")) out.cells.push_back(cell_from(cell));
  } catch (const std::exception& e) {
    out = {};
    out.refused = fmt::format("it is damaged: {}", e.what());
  }
  return out;
}

std::string write_history(const fs::path& file, std::span<const std::string> machine, std::span<const place_kind> kinds,
                          std::span<const history_cell> cells) {
  // What another run has written meanwhile is kept where this one has measured nothing.
  const auto before = [](const history_cell& a, const history_cell& b) {
    return std::tie(a.operation, a.type, a.place, a.counts_operations, a.bucket) <
           std::tie(b.operation, b.type, b.place, b.counts_operations, b.bucket);
  };
  std::set<history_cell, decltype(before)> all(cells.begin(), cells.end(), before);
  for (history_cell& theirs : read_history(file, machine).cells) {
    const auto mine = all.find(theirs);
    if (mine != all.end() && mine->fresh) continue;
    if (mine != all.end()) all.erase(mine);
    all.insert(std::move(theirs));
  }

  history_contents c = read_contents(file);
  if (!c.absent && (!c.ours || c.newer)) return c.refused;
  if (c.absent || !c.refused.empty()) c.whole = empty_history();
  json part;
  part["written"] = seconds_now();
  part["machine"] = std::vector<std::string>(machine.begin(), machine.end());
  part["places"] = json::array();
  for (const place_kind& k : kinds)
    part["places"].push_back({{"name", k.name},
                              {"host", k.is_host},
                              {"ns_per_operation", k.ns_per_operation},
                              {"ns_per_byte", k.ns_per_byte},
                              {"link_seconds", k.link_seconds},
                              {"link_bytes_per_second", k.link_bytes_per_second}});
  part["sizes"] = json::array();
  for (const history_cell& cell : all) part["sizes"].push_back(to_json(cell));
  json& machines = c.whole["machines"];
  const std::string signature = signature_of(machine);
  if (const auto mine = machines.find(signature);
      mine != machines.end() && mine->is_object() && mine->contains(programs_key))
    part[programs_key] = mine->at(programs_key);
  machines[signature] = std::move(part);
  return write_contents(file, c.whole);
}

std::string kept_name(std::string_view name) {
  return json::parse(json(name).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

bool clear_history(const fs::path& file, std::span<const std::string> machine) {
  const auto fail = [&](const std::string& why) {
    throw error(error_kind::configuration, "cannot forget what was learnt: " + why, file.string(),
                "remove the file by hand");
  };
  history_contents c = read_contents(file);
  if (c.absent) return false;
  if (!c.ours) fail(c.refused);
  std::error_code failed;
  if (c.refused.empty()) {
    if (c.whole["machines"].erase(signature_of(machine)) == 0) return false;
    if (!c.whole["machines"].empty()) {
      if (const std::string why = write_contents(file, c.whole); !why.empty()) fail(why);
      return true;
    }
  }
  fs::remove(file, failed);
  if (failed) fail(failed.message());
  return true;
}

void require_history_writable(const fs::path& file) {
  const auto fail = [&](const std::string& why) {
    throw error(error_kind::configuration, "cannot write what is learnt: " + why, file.string(),
                "runtime.history names a file in a folder that may be written to, or is \"auto\" or \"off\"");
  };
  std::error_code failed;
  if (fs::is_directory(file, failed)) fail("it is a folder");
  // It is replaced by renaming, so the folder decides; a file that is there must be writable too: it may be meant to
  // stay.
  if (fs::exists(file, failed) && ::access(file.c_str(), W_OK) != 0) fail(std::strerror(errno));
  fs::path folder = fs::absolute(file).parent_path();
  while (!fs::exists(folder, failed) && folder.has_relative_path()) folder = folder.parent_path();
  if (!fs::is_directory(folder, failed)) fail(fmt::format("'{}' is not a folder", folder.string()));
  if (::access(folder.c_str(), W_OK | X_OK) != 0) fail(std::strerror(errno));
}

}  // namespace tessera::placement
