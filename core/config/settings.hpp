#pragma once
// All typed settings of a configuration: the core's, and those of the rooms above it that have keys in the schema.
#include <string>

#include "core/config/runtime_settings.hpp"

namespace tessera::config {

/// [topology]: where the description of the machine comes from.
struct topology_settings {
  std::string synthetic;     ///< hwloc's synthetic form ("package:2 core:4 pu:1"); "": the machine itself
  std::string xml;           ///< an XML file exported by lstopo; "": the machine itself
  std::string declarations;  ///< a CSV file of loctypes, locations and hierarchy; "": none
};

/// [region]: defaults of parallel regions.
struct region_settings {
  std::string policy = "static";  ///< what a region that says `runtime` uses
};

/// Everything that the schema knows.
struct settings {
  runtime_settings runtime;    ///< [runtime] and [memory]
  topology_settings topology;  ///< [topology]
  region_settings region;      ///< [region]
};

}  // namespace tessera::config
