#pragma once
// The statements of TESSERA_BODY, which are C++ -> the text of a body in tessera-c. Pure.
#include <string>
#include <string_view>
#include <vector>

#include "hierarchy/region/body_expression.hpp"

namespace tessera::hierarchy {

/// Statements in tessera-c.
struct device_statements {
  std::string text;
  bool doubles;  ///< some of their numbers are doubles
};
/// The statements in tessera-c, where a name has an underscore behind it, so that it is no word of a language of
/// devices: arrays are used as x_[position] and x_(row, second). @param names  those from outside
/// Throws body_fault.
device_statements statements_for_devices(std::string_view statements, const std::vector<body_name>& names);

}  // namespace tessera::hierarchy
