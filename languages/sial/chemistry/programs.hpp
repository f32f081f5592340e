#pragma once
// The programs of this folder, which come with the library.
#include <span>
#include <string>
#include <string_view>

#include "languages/sial/language/imports.hpp"

namespace tessera::sial {

/// Names of the programs: "integrals.sialx", "rccsd.sialx", ...
std::span<const std::string_view> chemistry_programs() noexcept;
/// The text of one; "" for another name.
std::string_view chemistry_program(std::string_view name) noexcept;
/// Reads files of the file system and, where there is none of that name, the programs above: a program of one's own
/// imports them by their names.
reader chemistry_reader();

}  // namespace tessera::sial
