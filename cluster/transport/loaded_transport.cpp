#include "cluster/transport/loaded_transport.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "core/plugin/library.hpp"
#include "core/plugin/loaded_plugin.hpp"
#include "core/plugin/refuse.hpp"
#include "core/plugin/tables.hpp"

namespace tessera::cluster {
namespace {

namespace fs = std::filesystem;

fs::path file_of(const transport_options& options) {
  if (const fs::path path = options.name; path.is_absolute()) return path;
  std::vector<std::string> known, places;
  for (const fs::path& directory : options.directories) {
    if (!directory.is_absolute())
      throw error(error_kind::configuration,
                  fmt::format("transport directory \"{}\" is not absolute", directory.string()), directory.string(),
                  "write the whole path, from /");
    places.push_back(directory.string());
    std::error_code none;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(directory, none)) files.push_back(entry.path());
    std::ranges::sort(files);
    for (const fs::path& file : files) {
      const std::string promised = plugin::promised_name(file);
      if (promised == options.name) return file;
      if (!promised.empty()) known.push_back(promised);
    }
  }
  const std::string near = suggest(options.name, known);
  std::ranges::sort(known);
  throw error(error_kind::plugin, fmt::format("there is no transport \"{}\"", options.name),
              places.empty() ? "no transport directory is configured" : fmt::format("{}", fmt::join(places, ", ")),
              options.name == "mpi" ? "tessera_mpi.so is built where MPI is found (apt: libopenmpi-dev openmpi-bin)"
              : !near.empty()       ? fmt::format("did you mean \"{}\"?", near)
              : known.empty()       ? "a transport is a file tessera_<name>.so"
                                    : fmt::format("there are: {}", fmt::join(known, ", ")));
}

loaded_transport accept(const fs::path& path, const tsr_transport_header* raw) {
  if (raw == nullptr)
    plugin::refuse(path,
                   fmt::format("the transport cannot serve this version of Tessera (its query gave no header for "
                               "transport ABI {}.{})",
                               TSR_TRANSPORT_MAJOR, TSR_TRANSPORT_MINOR),
                   "use a build of the transport for this version of Tessera");
  if (raw->struct_size < offsetof(tsr_transport_header, sanitizer))
    plugin::refuse(path, fmt::format("the transport's header is too short ({} bytes)", raw->struct_size),
                   "set struct_size to sizeof(tsr_transport_header)");
  if (raw->abi_major != TSR_TRANSPORT_MAJOR)  // before anything else is read: the layout may be another
    plugin::refuse(path,
                   fmt::format("the transport is built for transport ABI {}.{}, this program offers {}.{}; the major "
                               "numbers must match",
                               raw->abi_major, raw->abi_minor, TSR_TRANSPORT_MAJOR, TSR_TRANSPORT_MINOR),
                   "build the transport against this version's tessera/transport.h");
  loaded_transport transport;
  transport.path = path;
  transport.header = plugin::completed(raw);
  const tsr_transport_header& header = transport.header;
  if (header.name == nullptr || !plugin::is_plugin_name(header.name))
    plugin::refuse(path, fmt::format("the transport's name is {}", header.name == nullptr ? "missing" : "not a name"),
                   "set `name` in the header to 1 to 64 of a-z, 0-9, '_', '-'");
  transport.name = header.name;
  plugin::check_sanitizer(path, header.sanitizer);
  if (header.open == nullptr)
    plugin::refuse(
        path, fmt::format("the mandatory entry \"open\" of the header of transport \"{}\" is missing", transport.name),
        "set it, and set struct_size to sizeof(tsr_transport_header)");
  transport.options = plugin::schema_of(path, header.options, header.option_count);
  return transport;
}

}  // namespace

loaded_transport load_transport(const transport_options& options) {
  const fs::path path = file_of(options);
  const plugin::trusted_file file = plugin::check_before_loading(path);
  if (!options.sha256.empty()) plugin::check_sha256(file, plugin::promised_name(path), options.sha256);
  void* const symbol = plugin::load_symbol(file, "tsr_transport_query");
  if (symbol == nullptr)
    plugin::refuse(path, "the shared library is no transport: it does not export tsr_transport_query",
                   "export the function (TSR_EXPORT in tessera/plugin.h); devices and storage are plugins, in a "
                   "directory of their own");
  const auto query = reinterpret_cast<tsr_transport_query_function>(symbol);
  loaded_transport loaded = accept(path, plugin::call_plugin(path, "tsr_transport_query", [&] {
                                     return query(TSR_TRANSPORT_MAJOR, TSR_TRANSPORT_MINOR);
                                   }));
  if (const fs::path asked = options.name; !asked.is_absolute() && loaded.name != options.name)
    plugin::refuse(path, fmt::format("the file's transport is \"{}\", not \"{}\"", loaded.name, options.name),
                   "name the file tessera_<name>.so after its transport");
  return loaded;
}

}  // namespace tessera::cluster
