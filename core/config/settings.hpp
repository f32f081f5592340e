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

struct settings {
  runtime_settings runtime;
  topology_settings topology;
  region_settings region;
};

}  // namespace tessera::config
