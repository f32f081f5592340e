#include "core/plugin/loaded_plugin.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "core/plugin/elf_file.hpp"
#include "core/plugin/host.hpp"
#include "core/plugin/library.hpp"
#include "core/plugin/refuse.hpp"
#include "core/plugin/tables.hpp"
#include "core/plugin/trust.hpp"

namespace tessera::plugin {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr tsr_sanitizer_kind own_sanitizer = TSR_SANITIZER_ADDRESS;
#elif defined(__SANITIZE_THREAD__)
constexpr tsr_sanitizer_kind own_sanitizer = TSR_SANITIZER_THREAD;
#else
constexpr tsr_sanitizer_kind own_sanitizer = TSR_SANITIZER_NONE;
#endif

const char* name_of_sanitizer(tsr_sanitizer_kind kind) {
  switch (kind) {
    case TSR_SANITIZER_NONE:
      return "no sanitizer";
    case TSR_SANITIZER_ADDRESS:
      return "the address sanitizer";
    case TSR_SANITIZER_THREAD:
      return "the thread sanitizer";
    default:
      return "an unknown sanitizer";
  }
}

/// Before loading: a sanitizer's runtime that comes in late ends the process.
void check_sanitizer_of(const std::filesystem::path& path, const elf_facts& facts) {
  for (const std::string& library : facts.needed) {
    if (library.starts_with("libasan.") && own_sanitizer != TSR_SANITIZER_ADDRESS)
      check_sanitizer(path, TSR_SANITIZER_ADDRESS);
    if (library.starts_with("libtsan.") && own_sanitizer != TSR_SANITIZER_THREAD)
      check_sanitizer(path, TSR_SANITIZER_THREAD);
  }
}

/// The names of all plugins that this process has loaded, never forgotten, like the libraries.
class loaded_names {
 public:
  void join(const std::string& name) {
    const std::lock_guard lock(m_guard);
    m_names.insert(name);
  }
  bool has(const std::string& name) {
    const std::lock_guard lock(m_guard);
    return m_names.count(name) != 0;
  }

 private:
  std::mutex m_guard;
  std::set<std::string> m_names;
};

loaded_names& company() {
  static loaded_names* const kept = std::make_unique<loaded_names>().release();
  return *kept;
}

void check_company(const std::filesystem::path& path, const std::string& name) {
  if (const std::string conflict = conflict_of(name); !conflict.empty())
    refuse(path, conflict, "name only one of the two in runtime.plugins");
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

void check_sanitizer(const std::filesystem::path& path, tsr_sanitizer_kind found) {
  if (found != own_sanitizer)
    refuse(path,
           fmt::format("the plugin is built with {}, this program with {}", name_of_sanitizer(found),
                       name_of_sanitizer(own_sanitizer)),
           "build both the same way (TESSERA_SANITIZE in CMake; the field `sanitizer` of the plugin's header)");
}

bool is_plugin_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > 64) return false;
  for (const char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-')) return false;
  return true;
}

std::vector<option_schema> schema_of(const std::filesystem::path& path, const tsr_option* options,
                                     std::uint32_t count) {
  std::vector<option_schema> schema;
  for (const tsr_option& option : completed_array(options, count)) {
    if (option.name == nullptr || *option.name == '\0' || option.type < TSR_OPTION_BOOL ||
        option.type > TSR_OPTION_DURATION)
      refuse(path, fmt::format("option number {} of the plugin has no name or a type that is none", schema.size()),
             "set struct_size, name and type of every tsr_option");
    option_schema& one = schema.emplace_back();
    one.name = option.name;
    one.type = option.type;
    if (option.default_text != nullptr) one.default_text = option.default_text;
    one.min_value = option.min_value;
    one.max_value = option.max_value;
    if (option.choices != nullptr) one.choices = split(option.choices, '|');
    if (option.doc != nullptr) one.doc = option.doc;
  }
  if (schema.size() != count)
    refuse(path, "the plugin's options are a null pointer or have struct_size 0",
           "set struct_size of every tsr_option");
  return schema;
}

std::string_view name_of_kind(tsr_plugin_kind kind) noexcept {
  switch (kind) {
    case TSR_PLUGIN_DEVICE:
      return "device";
    case TSR_PLUGIN_STORAGE:
      return "storage";
    case TSR_PLUGIN_OPERATIONS:
      return "operations";
    case TSR_PLUGIN_POLICY:
      return "policy";
    case TSR_PLUGIN_LAYER:
      return "layer";
    default:
      return "";
  }
}

std::string rival_of(const std::string& name) {
  // Each brings its own LLVM (PoCL's and the HIP compiler library's), and the two abort the process when they meet.
  return name == "opencl" ? "hip" : name == "hip" ? "opencl" : "";
}

std::string conflict_of(const std::string& name) {
  const std::string other = rival_of(name);
  if (other.empty() || !company().has(other)) return {};
  return fmt::format(
      "the plugins opencl and hip cannot be in one process (their compilers bring two copies of LLVM, which "
      "abort it), and {} is loaded already",
      other);
}

std::string promised_name(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  const auto suffix = name.find(".so");
  if (!name.starts_with("tessera_") || suffix == std::string::npos) return {};
  name = name.substr(8, suffix - 8);
  return is_plugin_name(name) ? name : std::string{};
}

loaded_plugin accept_header(const std::filesystem::path& path, const tsr_plugin_header* raw) {
  if (raw == nullptr)
    refuse(path,
           fmt::format("the plugin cannot serve this version of Tessera (its query gave no header for ABI {}.{})",
                       TSR_ABI_MAJOR, TSR_ABI_MINOR),
           "use a build of the plugin for this version of Tessera");
  if (raw->struct_size < offsetof(tsr_plugin_header, kind))
    refuse(path, fmt::format("the plugin's header is too short ({} bytes)", raw->struct_size),
           "set struct_size to sizeof(tsr_plugin_header)");
  if (raw->abi_major != TSR_ABI_MAJOR)  // before anything else is read: the layout may be another
    refuse(
        path,
        fmt::format("the plugin is built for plugin ABI {}.{}, this program offers {}.{}; the major numbers must match",
                    raw->abi_major, raw->abi_minor, TSR_ABI_MAJOR, TSR_ABI_MINOR),
        "build the plugin against this version's tessera/plugin.h");

  loaded_plugin plugin;
  plugin.path = path;
  plugin.raw = raw;
  plugin.header = completed(raw);
  const tsr_plugin_header& header = plugin.header;
  if (header.name == nullptr || !is_plugin_name(header.name))
    refuse(path, fmt::format("the plugin's name is {}", header.name == nullptr ? "missing" : "not a name"),
           "set `name` in the header to 1 to 64 of a-z, 0-9, '_', '-'");
  plugin.name = header.name;
  if (name_of_kind(header.kind).empty())
    refuse(path,
           fmt::format("the plugin \"{}\" is of kind {}, which this program does not know", plugin.name, header.kind),
           "the kinds are 1 device, 2 storage, 3 operations, 4 policy, 5 layer; a newer Tessera may know more");
  check_sanitizer(path, header.sanitizer);
  if (header.open == nullptr)
    refuse(path, fmt::format("the mandatory entry \"open\" of the header of plugin \"{}\" is missing", plugin.name),
           "set it, and set struct_size to sizeof(tsr_plugin_header)");
  plugin.options = schema_of(path, header.options, header.option_count);
  return plugin;
}

trusted_file check_before_loading(const std::filesystem::path& path) {
  trusted_file file(path);
  check_sanitizer_of(path, read_elf(path, file.descriptor()));
  return file;
}

loaded_plugin load_plugin(const std::filesystem::path& path, const checksums& expected, purpose why) {
  const trusted_file file(path);
  const auto check_sum = [&](const std::string& name) {
    for (const auto& [plugin, sum] : expected)
      if (plugin == name) check_sha256(file, name, sum);
  };
  const std::string promised = promised_name(path);
  check_sum(promised);
  check_company(path, promised);
  check_sanitizer_of(path, read_elf(path, file.descriptor()));

  void* const symbol = [&] {
    const call_watch::call watched(path, "loading (its constructors, or those of a library that it needs)");
    return load_symbol(file, "tsr_plugin_query");
  }();
  if (symbol == nullptr)
    refuse(path, "the shared library is no Tessera plugin: it does not export tsr_plugin_query",
           "export the function (TSR_EXPORT in tessera/plugin.h), or remove the file from the directory");
  const auto query = reinterpret_cast<tsr_plugin_query_function>(symbol);
  const auto header_for = [&](std::uint32_t major, std::uint32_t minor) {
    return call_plugin(path, "tsr_plugin_query", [&] { return query(major, minor); });
  };
  const tsr_plugin_header* header = header_for(TSR_ABI_MAJOR, TSR_ABI_MINOR);
  // One of another major version says nothing to us; asked in its own language it tells its number, for the refusal.
  constexpr std::uint32_t majors_asked = TSR_ABI_MAJOR + 4, any_minor = 1000;
  for (std::uint32_t major = 0; header == nullptr && major < majors_asked; ++major)
    if (major != TSR_ABI_MAJOR) header = header_for(major, any_minor);
  loaded_plugin plugin = accept_header(path, header);
  if (plugin.name != promised) {
    check_sum(plugin.name);
    check_company(path, plugin.name);
  }
  if (why == purpose::use) company().join(plugin.name);
  return plugin;
}

probe_result probe(const loaded_plugin& plugin, const tsr_host* host) {
  if (plugin.header.probe == nullptr) return {};
  std::array<char, 512> reason{};
  probe_result result;
  result.score = call_plugin(plugin.path, "probe", [&] {
    return plugin.header.probe(host, reason.data(), static_cast<std::uint32_t>(reason.size()));
  });
  reason.back() = '\0';
  result.reason = reason.data();
  if (result.score == 0 && result.reason.empty())
    result.reason = "the plugin cannot run on this machine and does not say why";
  return result;
}

std::optional<probe_result> probe_within(const loaded_plugin& plugin, const std::vector<std::uint64_t>& cpu_mask,
                                         std::chrono::milliseconds limit) {
  struct shared {
    shared(loaded_plugin of, const std::vector<std::uint64_t>& mask) : plugin(std::move(of)), services(mask, {}) {}
    const loaded_plugin plugin;
    const host services;
    std::promise<probe_result> answer;
  };
  const auto all = std::make_shared<shared>(plugin, cpu_mask);
  std::future<probe_result> answer = all->answer.get_future();
  std::thread([all] {
    try {
      all->answer.set_value(probe(all->plugin, all->services.table()));
    } catch (...) {
      all->answer.set_exception(std::current_exception());
    }
  }).detach();
  if (answer.wait_for(limit) != std::future_status::ready) return std::nullopt;
  return answer.get();
}

}  // namespace tessera::plugin
