// LAYER plugins: what they make of a header. The wrapped plugin is checked as a device is, by the groups for devices.
#include <algorithm>
#include <array>
#include <functional>

#include "tests/conformance/suite/check.hpp"

namespace tessera::conformance {
namespace {

/// Calls `use` with the layer's own answer for a header, null where it refuses, and what it said; the layer is open
/// meanwhile.
void with_wrapped(const subject& what, const tsr_plugin_header* inner,
                  const std::function<void(const tsr_plugin_header*, const std::string&)>& use) {
  tsr_plugin* handle = nullptr;
  const void* raw = nullptr;
  std::vector<tsr_option_value> values;
  for (const auto& o : what.options)
    values.push_back({sizeof(tsr_option_value), o.type, o.name.c_str(), o.integer, o.number, o.text.c_str()});
  expect_ok(what.plugin.header.open(what.host.table(), values.data(), static_cast<std::uint32_t>(values.size()),
                                    &handle, &raw),
            "open");
  struct closer {
    const subject& what;
    tsr_plugin* handle;
    ~closer() {
      if (what.plugin.header.close != nullptr) what.plugin.header.close(handle);
    }
  } const at_the_end{what, handle};
  plugin::take_error_details();
  const tsr_plugin_header* const made = static_cast<const tsr_layer_table*>(raw)->wrap(inner);
  const std::string details = plugin::take_error_details();
  if (made != nullptr) {
    expect(made->struct_size >= offsetof(tsr_plugin_header, reserved), "the wrapped header has struct_size {}",
           made->struct_size);
    expect(made->name != nullptr && std::string_view(made->name) == inner->name,
           "the layer turns plugin \"{}\" into \"{}\": it keeps the name", inner->name,
           made->name == nullptr ? "" : made->name);
    expect(made->kind == inner->kind, "the layer turns a plugin of kind {} into one of kind {}: it keeps the kind",
           inner->kind, made->kind);
    expect(made->abi_major == inner->abi_major, "the layer turns a plugin for ABI {}.x into one for {}.x",
           inner->abi_major, made->abi_major);
    expect(made->open != nullptr, "the wrapped header has no open");
  }
  use(made, details);
}

void keeps_the_header(const subject& what) {
  if (what.asked.inner.empty()) skip("nothing to put the layer around: --inner names a plugin");
  const plugin::loaded_plugin inner = plugin::load_plugin(what.asked.inner, {});
  const opened_plugin layer(what);
  const tsr_plugin_header* const made = layer.wrap(inner).raw;
  expect(std::string_view(made->name) == inner.name && made->kind == inner.header.kind,
         "the layer does not keep the name and the kind of what it wraps");
  expect(made->sanitizer == inner.header.sanitizer,
         "the layer says that \"{}\" is built for another sanitizer than it is", inner.name);
  const plugin::loaded_plugin outer = plugin::accept_header(what.plugin.path, made);
  for (const plugin::option_schema& option : inner.options)
    expect(std::any_of(outer.options.begin(), outer.options.end(),
                       [&](const plugin::option_schema& o) { return o.name == option.name && o.type == option.type; }),
           "behind the layer \"{}\" has no option \"{}\" any more: its users' settings would be refused", inner.name,
           option.name);
}

tsr_status open_nothing(const tsr_host* host, const tsr_option_value*, std::uint32_t, tsr_plugin**, const void**) {
  host->error(host->context, TSR_UNAVAILABLE, "this plugin is not there to be opened");
  return TSR_UNAVAILABLE;
}

/// A plugin of each kind, also of one that is none: as a header, no more. They outlive every layer.
const tsr_plugin_header& stranger(tsr_plugin_kind kind) {
  static std::array<tsr_plugin_header, TSR_PLUGIN_LAYER + 2> all = [] {
    std::array<tsr_plugin_header, TSR_PLUGIN_LAYER + 2> made{};
    for (tsr_plugin_kind k = 0; k < made.size(); ++k) {
      tsr_plugin_header& one = made[k];
      one.struct_size = sizeof one;
      one.abi_major = TSR_ABI_MAJOR, one.abi_minor = TSR_ABI_MINOR;
      one.kind = k == 0 ? 1000 : k;
      one.name = "stranger";
      one.vendor = "Tessera", one.version = "1.0", one.build = "";
      one.open = open_nothing;
    }
    return made;
  }();
  return all.at(kind);
}

void refusals_are_explained(const subject& what) {
  bool refused = false;
  for (tsr_plugin_kind kind = 0; kind <= TSR_PLUGIN_LAYER; ++kind)
    with_wrapped(what, &stranger(kind), [&](const tsr_plugin_header* made, const std::string& details) {
      if (made != nullptr) return;
      refused = true;
      expect(!details.empty(), "wrap gives NULL for a plugin of kind {} and leaves no details with host->error",
             stranger(kind).kind);
    });
  expect(refused, "wrap takes plugins of every kind, also of kind {}, which is none", stranger(0).kind);
}

/// An open through the layer that the inner plugin refuses is refused, in the inner one's words.
void inner_failures_come_through(const subject& what) {
  bool taken = false;
  for (const tsr_plugin_kind kind : {TSR_PLUGIN_DEVICE, TSR_PLUGIN_STORAGE})
    with_wrapped(what, &stranger(kind), [&](const tsr_plugin_header* made, const std::string&) {
      if (made == nullptr) return;
      taken = true;
      tsr_plugin* handle = nullptr;
      const void* table = nullptr;
      expect_status(made->open(what.host.table(), nullptr, 0, &handle, &table), TSR_UNAVAILABLE,
                    "open of a wrapped plugin that refuses to be opened");
      const std::string details = plugin::take_error_details();
      expect(details.find("not there to be opened") != std::string::npos, "the inner plugin's details are lost: \"{}\"",
             details);
      expect(handle == nullptr && table == nullptr, "an open that failed wrote its out_ arguments");
    });
  if (!taken) skip("the layer wraps no device and no storage");
}

}  // namespace

std::vector<check> layer_checks() {
  constexpr kind_set layers = set_of(TSR_PLUGIN_LAYER);
  return {{"layer.keeps_the_header", keeps_the_header, layers},
          {"layer.refusals_are_explained", refusals_are_explained, layers},
          {"layer.inner_failures_come_through", inner_failures_come_through, layers}};
}

}  // namespace tessera::conformance
