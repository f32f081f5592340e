#include "core/placement/region_rates.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <iterator>
#include <utility>

#include "core/placement/history_contents.hpp"
#include "core/placement/history_file.hpp"

namespace tessera::placement {
namespace {

using json = history_json;

/// Whether a machine can have it. Times and numbers made from others stay far from what a double can hold.
bool is_possible(const region_rate& r) {
  return r.iterations_per_second >= 1e-6 && r.iterations_per_second <= 1e15 && r.fixed_seconds >= 0 &&
         r.fixed_seconds <= 1e6;
}

/// Those of a program's part; none of a damaged one: they are measured again.
std::vector<region_rate> rates_from(const json& part) {
  try {
    std::vector<region_rate> rates;
    for (const json& r : part.at("regions")) {
      rates.push_back({r.at("region").get<std::string>(), r.at("leaf").get<std::string>(),
                       r.at("iterations_per_second").get<double>(), r.at("fixed_seconds").get<double>()});
      if (!is_possible(rates.back())) return {};
    }
    return rates;
  } catch (const json::exception&) {
    return {};
  }
}

}  // namespace

std::string this_program() {
  std::error_code none;
  const std::filesystem::path file = std::filesystem::read_symlink("/proc/self/exe", none);
  return kept_name(none ? std::string(::program_invocation_short_name) : file.filename().string());
}

std::vector<program_rates> read_region_rates(const std::filesystem::path& file, std::span<const std::string> machine) {
  const history_contents c = read_contents(file);
  if (c.absent || !c.refused.empty()) return {};
  std::vector<std::pair<double, program_rates>> found;  // with the time of writing
  try {
    for (const auto& [program, part] : c.whole["machines"].at(signature_of(machine)).at(programs_key).items())
      if (std::vector<region_rate> rates = rates_from(part); !rates.empty())
        found.push_back({part.value("written", 0.0), {program, std::move(rates)}});
  } catch (const json::exception&) {  // no such part, or a damaged one
    return {};
  }
  std::ranges::reverse(found);  // of those of one second, the one that was written last stands last in the file
  std::ranges::stable_sort(found, std::ranges::greater(), &std::pair<double, program_rates>::first);
  std::vector<program_rates> all;
  for (auto& [written, of] : found) all.push_back(std::move(of));
  return all;
}

std::vector<region_rate> read_region_rates(const std::filesystem::path& file, std::span<const std::string> machine,
                                           std::string_view program) {
  for (program_rates& of : read_region_rates(file, machine))
    if (of.program == program) return std::move(of.rates);
  return {};
}

std::string write_region_rates(const std::filesystem::path& file, std::span<const std::string> machine,
                               std::string_view program, std::span<const region_rate> measured) {
  std::vector<region_rate> rates(measured.begin(), measured.end());
  for (region_rate& r : rates) r.region = kept_name(r.region), r.leaf = kept_name(r.leaf);
  const std::string name = kept_name(program);
  std::vector<region_rate> all = read_region_rates(file, machine, name);
  std::erase_if(all, [&](const region_rate& old) {
    return std::ranges::any_of(rates,
                               [&](const region_rate& r) { return r.region == old.region && r.leaf == old.leaf; });
  });
  std::ranges::copy_if(rates, std::back_inserter(all), is_possible);
  if (all.size() > max_region_rates) all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(max_region_rates));

  history_contents c = read_contents(file);
  if (!c.absent && (!c.ours || c.newer)) return c.refused;
  if (c.absent || !c.refused.empty()) c.whole = empty_history();
  json& part = c.whole["machines"][signature_of(machine)];
  if (!part.is_object())
    part = {{"machine", std::vector<std::string>(machine.begin(), machine.end())},
            {"places", json::array()},
            {"sizes", json::array()}};
  part["written"] = seconds_now();
  json& programs = part[programs_key];
  if (!programs.is_object()) programs = json::object();
  programs.erase(name);  // it becomes the last one, which tells those of one second apart
  json& mine = programs[name] = {{"written", seconds_now()}, {"regions", json::array()}};
  for (const region_rate& r : all)
    mine["regions"].push_back({{"region", r.region},
                               {"leaf", r.leaf},
                               {"iterations_per_second", r.iterations_per_second},
                               {"fixed_seconds", r.fixed_seconds}});
  forget_oldest(programs, max_programs);
  return write_contents(file, c.whole);
}

}  // namespace tessera::placement
