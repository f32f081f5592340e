#pragma once
// One value against one option.
#include "core/plugin/option.hpp"

namespace tessera::plugin {

/// The word for an option's type as the user should write it ("bytes such as \"16 GiB\"").
std::string_view description_of(tsr_option_type type) noexcept;

/// Converts and checks one value. Throws tessera::error (kind configuration) for a wrong type, a value out of range or
/// not among the choices; `value.where` is the place.
option_value check_value(const std::string& plugin, const option_schema& schema, const raw_option& value);

/// "1 .. 64", "at least 0", or "" without limits; bounds in the option's own unit.
std::string range_text(const option_schema& schema);

}  // namespace tessera::plugin
