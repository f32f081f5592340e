#pragma once
// What a file says about itself before it is loaded.
#include <filesystem>
#include <string>
#include <vector>

namespace tessera::plugin {

/// The facts of a shared library that matter before any of its code runs.
struct elf_facts {
  std::vector<std::string> needed;  ///< DT_NEEDED: the libraries it asks for
};

/// Reads them. Throws tessera::error (kind plugin) when the file cannot be read, is no ELF file, is truncated, is made
/// for another machine, or is no shared library.
elf_facts read_elf(const std::filesystem::path& path);
/// The same of a file that is open; `path` is for messages.
elf_facts read_elf(const std::filesystem::path& path, int descriptor);

}  // namespace tessera::plugin
