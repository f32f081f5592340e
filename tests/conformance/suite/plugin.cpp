// What holds for plugins of every kind: they are probed cheaply, opened again and again, and are none the worse for an
// opening that they refuse.
#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "tests/conformance/suite/check.hpp"
#include "tests/conformance/suite/watched_values.hpp"

namespace tessera::conformance {
namespace {

void probe_is_cheap(const subject& what) {
  if (what.plugin.header.probe == nullptr) skip("the plugin has no probe");
  auto least = std::chrono::nanoseconds::max();
  for (int i = 0; i < 20; ++i) {  // the least: others use the machine too
    const auto begin = std::chrono::steady_clock::now();
    what.plugin.header.probe(what.host.table(), nullptr, 0);
    least = std::min<std::chrono::nanoseconds>(least, std::chrono::steady_clock::now() - begin);
  }
  expect(least < std::chrono::milliseconds(1),
         "probe takes {:.3f} ms at the least of 20 calls, and is to cost well under one",
         std::chrono::duration<double, std::milli>(least).count());
}

/// What an opening offers, as a number that is the same each time.
std::size_t offer_of(const plugin::session& opened) {
  switch (opened.plugin().header.kind) {
    case TSR_PLUGIN_OPERATIONS:
      return opened.operations().size();
    case TSR_PLUGIN_DEVICE:
    case TSR_PLUGIN_STORAGE: {
      std::uint32_t count = 0;
      expect_ok(opened.table().enumerate(opened.handle(), 0, nullptr, &count), "enumerate");
      return count;
    }
    default:
      return 1;
  }
}

void opens_again(const subject& what) {
  std::size_t first = 0;
  for (int i = 0; i < 50; ++i) {
    const opened_plugin opened(what);
    const std::size_t offer = offer_of(opened);
    if (i == 0) first = offer;
    expect(offer == first, "opening {} offers {} devices or operations, the first offered {}", i + 1, offer, first);
  }
}

/// The name of an option of the first table of each array.
std::string first_name(const plugin::option_schema& option) {
  std::string name = option.name;
  for (std::size_t at = name.find("[]"); at != std::string::npos; at = name.find("[]")) name.replace(at, 2, "[0]");
  return name;
}

/// Values that the schema allows and the plugin may refuse all the same: limits, each choice, texts that name nothing.
std::vector<plugin::raw_option> unusual_values(const plugin::option_schema& option) {
  const std::string name = first_name(option);
  const auto one = [&](auto value) { return plugin::raw_option{name, value, "conformance suite"}; };
  const bool limited = option.min_value != 0 || option.max_value != 0;
  std::vector<plugin::raw_option> made;
  switch (option.type) {
    case TSR_OPTION_BOOL:
      return {one(true), one(false)};
    case TSR_OPTION_STRING:
      for (const std::string& choice : option.choices) made.push_back(one(choice));
      if (option.choices.empty())
        made = {one(std::string("/there is/no such thing \xe2\x88\x85")), one(std::string(5000, 'x'))};
      return made;
    case TSR_OPTION_FLOAT:
    case TSR_OPTION_RATE:
      if (limited) made.push_back(one(option.min_value));
      return made;
    default:  // the greatest number may be more than a machine has
      if (limited) made.push_back(one(static_cast<std::int64_t>(option.min_value)));
      return made;
  }
}

/// The values to open with: the subject's, with one in another's place. Empty: the schema does not allow it.
std::optional<std::vector<plugin::option_value>> values_with(const subject& what, const plugin::raw_option& other) {
  auto raw = what.asked.options;
  std::erase_if(raw, [&](const plugin::raw_option& one) { return one.name == other.name; });
  raw.push_back(other);
  try {
    return plugin::check_options(what.plugin.name, what.plugin.options, raw);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void end_plugin(const subject& what, tsr_plugin* handle, const void* table) {
  const bool has_devices = (devices & set_of(what.plugin.header.kind)) != 0;
  if (has_devices)
    expect_ok(static_cast<const tsr_plugin_table*>(table)->shutdown(handle), "shutdown");
  else if (what.plugin.header.close != nullptr)
    what.plugin.header.close(handle);
}

void refused_options_do_no_harm(const subject& what) {
  bool refused = false;
  for (const plugin::option_schema& option : what.plugin.options)
    for (const plugin::raw_option& raw : unusual_values(option)) {
      const auto values = values_with(what, raw);
      if (!values) continue;
      std::vector<tsr_option_value> given;
      for (const auto& v : *values)
        given.push_back({sizeof(tsr_option_value), v.type, v.name.c_str(), v.integer, v.number, v.text.c_str()});
      auto* const untouched = reinterpret_cast<tsr_plugin*>(std::uintptr_t{64});
      tsr_plugin* handle = untouched;
      const void* table = untouched;
      plugin::take_error_details();
      const tsr_status status = what.plugin.header.open(what.host.table(), given.data(),
                                                        static_cast<std::uint32_t>(given.size()), &handle, &table);
      if (status == TSR_OK) {
        end_plugin(what, handle, table);
        continue;
      }
      refused = true;
      expect(!plugin::take_error_details().empty(),
             "open answers {} to an unusual \"{}\" and leaves no details with host->error (rule R3)",
             plugin::name_of(status), raw.name);
      expect(handle == untouched && table == untouched, "an open that failed wrote its out_ arguments");
      try {
        const opened_plugin again(what);
      } catch (const std::exception& failure) {
        throw check_failed(
            fmt::format("after an open that was refused for its \"{}\" the plugin does not open with right options: {}",
                        raw.name, failure.what()));
      }
    }
  if (!refused) skip("the plugin refuses none of the values that its schema allows");
}

/// A number that its schema allows, for those without a default.
plugin::raw_option allowed_number(const plugin::option_schema& option) {
  const bool limited = option.min_value != 0 || option.max_value != 0;
  const double number = limited ? std::clamp(1.0, option.min_value, option.max_value) : 1.0;
  if (option.type == TSR_OPTION_FLOAT || option.type == TSR_OPTION_RATE)
    return {first_name(option), number, "conformance suite"};
  return {first_name(option), static_cast<std::int64_t>(number), "conformance suite"};
}

/// "device[1].memory" as its schema has it: "device[].memory".
std::string without_indices(const std::string& name) {
  std::string pattern;
  for (const char letter : name)
    if (pattern.empty() || pattern.back() != '[' || letter == ']') pattern += letter;
  return pattern;
}

/// A plugin that is harmed by what it refused is for another check to tell, and not for those behind this one.
void open_after_refusal(const subject& what) {
  try {
    const opened_plugin again(what);
  } catch (const std::exception&) {
  }
}

/// The options, as the schema names them, whose values the plugin reads when it is opened so; all that are given where
/// it refuses to open, for it may have done so before it has read the others.
std::set<std::string> read_at_open(const subject& what, const std::vector<plugin::option_value>& values) {
  if (values.empty()) return {};
  const watched_values given(values);
  tsr_plugin* handle = nullptr;
  const void* table = nullptr;
  const tsr_status status = what.plugin.header.open(what.host.table(), given.data(), given.size(), &handle, &table);
  if (status == TSR_OK)
    end_plugin(what, handle, table);
  else
    open_after_refusal(what);
  plugin::take_error_details();
  std::set<std::string> read;
  for (std::uint32_t i = 0; i < given.size(); ++i)
    if (status != TSR_OK || given.was_read(i)) read.insert(without_indices(values[i].name));
  return read;
}

/// What an option means only its plugin knows; but one that is never looked at means nothing.
void options_are_read(const subject& what) {
  const std::set<std::string> usually = read_at_open(what, what.options);
  for (const plugin::option_schema& option : what.plugin.options) {
    bool given = false, read = usually.contains(option.name);
    auto others = unusual_values(option);
    if (others.empty()) others.push_back(allowed_number(option));
    for (const plugin::raw_option& one : others) {
      if (read) break;
      const auto values = values_with(what, one);
      if (!values) continue;
      given = true;
      read = read_at_open(what, *values).contains(option.name);
    }
    expect(read || !given,
           "option \"{}\" is declared, and open takes it without reading its value: an option has an effect, or it is "
           "refused",
           option.name);
  }
}

}  // namespace

std::vector<check> plugin_checks() {
  return {{"plugin.probe_is_cheap", probe_is_cheap, every_kind},
          {"plugin.opens_again", opens_again, every_kind},
          {"plugin.refused_options_do_no_harm", refused_options_do_no_harm, every_kind},
          {"plugin.options_are_read", options_are_read, every_kind}};
}

}  // namespace tessera::conformance
