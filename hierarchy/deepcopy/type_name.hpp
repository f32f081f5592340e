#pragma once
// Names of types, for messages.
#include <string>
#include <typeinfo>

namespace tessera::hierarchy {

/// As it is written in a program: "simulation::atoms", "double".
std::string type_name(const std::type_info& type);

}  // namespace tessera::hierarchy
