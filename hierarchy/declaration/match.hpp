#pragma once
// Conditions on devices: "memory>=8 GiB, name~H200".
#include <string>

#include "core/config/declarations.hpp"
#include "hierarchy/discovery/devices.hpp"

namespace tessera::hierarchy {

/// Whether a device meets all conditions of a match text. name is the vendor's name or the device's own; no condition
/// on cc is met by a device whose compute capability is not known. Throws
/// tessera::error (kind configuration) at the text's place for an unknown attribute, an operator that does not suit it,
/// or a value that is not of its type: also when the device would not matter.
bool matches(const config::placed<std::string>& conditions, const found_device& device);

}  // namespace tessera::hierarchy
