#pragma once
// A plugin's file that was loaded and whose header was accepted, but that is not opened.
#include <tessera/plugin.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/exception_text.hpp"
#include "core/plugin/call_watch.hpp"
#include "core/plugin/option.hpp"
#include "core/plugin/trust.hpp"

namespace tessera::plugin {

/// Never unloaded; copies are cheap and share the library.
struct loaded_plugin {
  std::filesystem::path path;
  const tsr_plugin_header* raw = nullptr;  ///< the plugin's own header, given to layers
  tsr_plugin_header header{};              ///< completed copy
  std::string name;
  std::vector<option_schema> options;
};

/// The expected checksums by plugin name (registry_options::sha256).
using checksums = std::vector<std::pair<std::string, std::string>>;

/// What a file must pass before any code of it runs, beside its checksum: trust, ELF facts, sanitizer. Throws
/// tessera::error (kind plugin) with the file as the place. What is loaded through the result is what was looked at.
trusted_file check_before_loading(const std::filesystem::path& path);

// What other libraries with a header of their own have in common with plugins (cluster/transport).

/// Throws tessera::error (kind plugin) unless the file was built for this program's sanitizer.
void check_sanitizer(const std::filesystem::path& path, tsr_sanitizer_kind found);
/// 1 to 64 of a-z, 0-9, '_', '-'.
bool is_plugin_name(std::string_view name) noexcept;
/// The options of a header, copied. Throws tessera::error (kind plugin) for one without a name or a type.
std::vector<option_schema> schema_of(const std::filesystem::path& path, const tsr_option* options, std::uint32_t count);

/// Why a file is loaded. One whose header alone is read brings no driver along, and keeps no rival out of the process.
enum class purpose : std::uint8_t {
  use,
  header
};

/// Trust, checksum, ELF facts, load, query, version, sanitizer, mandatory entries: everything short of probe and open.
/// Throws tessera::error (kind plugin) with the file as the place.
loaded_plugin load_plugin(const std::filesystem::path& path, const checksums& expected, purpose why = purpose::use);

/// Takes and checks a header: the second half of load_plugin, also used on what a layer's wrap returned.
loaded_plugin accept_header(const std::filesystem::path& path, const tsr_plugin_header* raw);

/// What the plugin says about this machine.
struct probe_result {
  std::uint32_t score = 1;  ///< 0: cannot run here
  std::string reason;       ///< why not
};
probe_result probe(const loaded_plugin& plugin, const tsr_host* host);
/// The same on a thread of its own, which is left alone when it takes longer than `limit`: nothing then. For plugins
/// that nobody may want.
std::optional<probe_result> probe_within(const loaded_plugin& plugin, const std::vector<std::uint64_t>& cpu_mask,
                                         std::chrono::milliseconds limit);

/// Why the plugin `name` may not join those that the process has loaded, or "".
std::string conflict_of(const std::string& name);
/// The plugin that never is in one process with the one of this name; or empty.
std::string rival_of(const std::string& name);

/// The word for a plugin kind ("device"), or "" for a number that is none.
std::string_view name_of_kind(tsr_plugin_kind kind) noexcept;

/// The name that a file's name promises ("sim" for "tessera_sim.so"), or "".
std::string promised_name(const std::filesystem::path& path);

/// Calls a function of a plugin; an exception that it lets out becomes tessera::error (kind plugin). `entry` is the
/// function's name in plugin.h.
template <class F>
auto call_plugin(const std::filesystem::path& path, const char* entry, F&& function) {
  const auto fail = [&](const std::string& what) {
    throw error(error_kind::plugin,
                std::string("the plugin threw a C++ exception out of ") + entry + (what.empty() ? "" : ": " + what),
                path.string(),
                "nothing C++ may cross the plugin boundary: catch it, call host->error, return a status");
  };
  try {
    const call_watch::call watched(path, entry);
    return function();
  } catch (const std::exception& failure) {
    fail(text_of(failure));
  } catch (...) {
    fail({});
  }
  return decltype(function()){};
}

}  // namespace tessera::plugin
