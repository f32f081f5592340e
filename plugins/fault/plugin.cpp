// The layer `fault`: what it wraps behaves as before, but for the faults that the user asks for.
#include <array>
#include <memory>
#include <mutex>
#include <utility>

#include "plugins/fault/interposer.hpp"
#include "plugins/kit/abi/plugin_header.hpp"

struct tsr_plugin_s {
  tessera::fault::settings given;
};

namespace tessera::fault {
namespace {

/// One wrapped plugin. The header's `open` gets no context, so that each slot has an open of its own.
struct slot {
  const tsr_plugin_header* inner = nullptr;
  tsr_plugin_header outer{};
  settings given;
};
constexpr std::size_t slot_count = 32;

struct slot_table {
  std::mutex mutex;
  std::array<slot, slot_count> slots;
};
slot_table& slots() {
  static slot_table* const kept = std::make_unique<slot_table>().release();  // the library is never unloaded
  return *kept;
}

/// Of the layer that this thread opened last: wrap, which follows, has no handle.
struct opening {
  settings given;
  kit::reporter report;
};
opening& opened_last() {
  thread_local opening last;
  return last;
}

template <std::size_t Number>
tsr_status open_wrapped(const tsr_host* host, const tsr_option_value* values, std::uint32_t count,
                        tsr_plugin** out_plugin, const void** out_table) {
  const kit::reporter report(host);
  return kit::guarded(report, [&]() -> tsr_status {
    if (out_plugin == nullptr || out_table == nullptr)
      return report.fail(TSR_INVALID_ARGUMENT, "open: a NULL argument");
    const tsr_plugin_header* inner = nullptr;
    settings given;
    {
      const std::lock_guard lock(slots().mutex);
      inner = slots().slots[Number].inner;
      given = slots().slots[Number].given;
    }
    const void* table = nullptr;
    tsr_plugin* plugin = nullptr;
    if (const auto status = inner->open(host, values, count, &plugin, &table)) return status;
    if (const auto status = interpose(report, plugin, inner->name, table, std::move(given), out_table)) return status;
    *out_plugin = plugin;
    return TSR_OK;
  });
}

template <std::size_t... Numbers>
constexpr auto make_opens(std::index_sequence<Numbers...>) {
  return std::array{&open_wrapped<Numbers>...};
}
constexpr auto opens = make_opens(std::make_index_sequence<slot_count>());

const tsr_plugin_header* wrap(const tsr_plugin_header* inner) {
  const kit::reporter& report = opened_last().report;
  if (inner == nullptr || (inner->kind != TSR_PLUGIN_DEVICE && inner->kind != TSR_PLUGIN_STORAGE)) {
    report.fail(TSR_UNIMPLEMENTED, "faults are injected into device and storage plugins; this is one of kind %u",
                inner == nullptr ? 0u : inner->kind);
    return nullptr;
  }
  const std::lock_guard lock(slots().mutex);
  for (std::size_t i = 0; i < slot_count; ++i) {
    slot& s = slots().slots[i];
    if (s.inner != nullptr && s.inner != inner) continue;
    s.inner = inner;
    const std::size_t bytes = std::min<std::size_t>(inner->struct_size, sizeof s.outer);
    s.outer = {};
    __builtin_memcpy(&s.outer, inner, bytes);
    s.outer.struct_size = static_cast<std::uint32_t>(bytes);
    s.outer.open = opens[i];
    s.given = opened_last().given;
    return &s.outer;
  }
  report.fail(TSR_RESOURCE_EXHAUSTED, "faults are injected into %zu plugins of a process at most", slot_count);
  return nullptr;
}

constexpr tsr_layer_table table = {sizeof(tsr_layer_table), wrap};

tsr_status open(const tsr_host* host, const tsr_option_value* values, std::uint32_t count, tsr_plugin** out_plugin,
                const void** out_table) {
  const kit::reporter report(host);
  return kit::guarded(report, [&]() -> tsr_status {
    if (host == nullptr || out_plugin == nullptr || out_table == nullptr)
      return report.fail(TSR_INVALID_ARGUMENT, "open: a NULL argument");
    auto made = std::make_unique<tsr_plugin_s>();
    if (const auto status = read_settings(report, kit::option_reader(values, count), "seed", made->given))
      return status;
    opened_last() = {made->given, report};
    *out_plugin = made.release();
    *out_table = &table;
    return TSR_OK;
  });
}

void close(tsr_plugin* plugin) { const std::unique_ptr<tsr_plugin> owner(plugin); }

const tsr_plugin_header& header() {
  static std::vector<tsr_option> options;
  static const tsr_plugin_header value = [] {
    add_options(options, "seed");
    tsr_plugin_header made =
        kit::make_header(TSR_PLUGIN_LAYER, "fault", options.data(), static_cast<std::uint32_t>(options.size()), open);
    made.close = close;
    return made;
  }();
  return value;
}

}  // namespace
}  // namespace tessera::fault

extern "C" const tsr_plugin_header* tsr_plugin_query(std::uint32_t host_major, std::uint32_t) {
  return host_major == TSR_ABI_MAJOR ? &tessera::fault::header() : nullptr;
}
