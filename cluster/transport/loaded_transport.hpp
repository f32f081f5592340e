#pragma once
// A transport's file that was found, trusted, loaded and accepted, but that is not opened.
#include <tessera/transport.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/plugin/option.hpp"

namespace tessera::cluster {

/// Which transport, and how it is opened.
struct transport_options {
  std::vector<std::filesystem::path> directories;  ///< absolute; searched in order, the first file of the name wins
  std::string name;                                ///< "mpi", or the absolute path of a file
  std::string sha256 = {};                         ///< expected checksum of the file; "": any
  std::vector<plugin::raw_option> values = {};     ///< not checked yet
  std::vector<std::uint64_t> cpu_mask = {};        ///< given to the transport
  std::function<void(int level, const std::string& line)> log = {};  ///< any thread; may be empty
};

/// Never unloaded; copies share the library.
struct loaded_transport {
  std::filesystem::path path;
  std::string name;
  tsr_transport_header header{};  ///< completed copy
  std::vector<plugin::option_schema> options;
};

/// Finds tessera_<name>.so and takes it through what plugins go through: owner and permissions, checksum, ELF facts,
/// sanitizer, version. Throws tessera::error (kind plugin) when there is none, with the nearest name, or when it is
/// refused, with the file as the place.
loaded_transport load_transport(const transport_options& options);

}  // namespace tessera::cluster
