#pragma once
// Rows that a task used and had not declared, in words. Pure.
#include <string>

#include "hierarchy/region/surroundings.hpp"
#include "tessera/region.hpp"

namespace tessera::hierarchy {

/// How a region has named an array.
struct declared_use {
  std::string array = {};
  access_pattern pattern{};
  intent how = intent::read;
};

/// What is said of such rows.
struct undeclared_text {
  std::string what;  ///< "region 'smooth' reads row 499 of array 'a', ..."
  std::string hint;  ///< what would declare them
};
/// @param region  its name  @param rows  of the array
undeclared_text text_of(const undeclared_rows& found, const std::string& region, const declared_use& use,
                        std::int64_t rows);

}  // namespace tessera::hierarchy
