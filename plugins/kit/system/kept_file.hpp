#pragma once
// Files that are kept from run to run and handed to a driver: nobody else may have written them.
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tessera::kit {

/// The content of a file that is ours: a file and no link, it and its folder belong to this user (or root) and are not
/// writable by everybody; what is read is what was looked at. "": there is none such.
std::string read_kept(const std::filesystem::path& file);

/// Writes the parts behind each other, for nobody else to read (0600), into a folder that is ours and is made (0700)
/// where it is missing: whole or not at all, also with several writers. Fails where the folder is not ours.
bool write_kept(const std::filesystem::path& file, std::initializer_list<std::string_view> parts);

}  // namespace tessera::kit
