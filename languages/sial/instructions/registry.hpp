#pragma once
// All super instructions that a job knows.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "languages/sial/instructions/instruction.hpp"

namespace tessera::sial {

/// Built-in instructions and those of libraries. Loading is for one thread; looking up is safe for many after that.
class instruction_registry {
 public:
  /// The built-in ones. `folders` are where load() looks for names; absolute or relative to the working directory.
  explicit instruction_registry(std::vector<std::filesystem::path> folders = {});

  /// Loads a library: a path (it has a '/'), or a name: of NAME, NAME.so, libNAME.so the first that a folder has. A
  /// library that is loaded already is passed over. `sha256`: what its file must have, or "". Throws tessera::error
  /// (kind plugin) as load_instructions, when there is no such file, and when an instruction has a name that is taken.
  void load(const std::string& library, const std::string& sha256 = {});

  /// Adds instructions of the program's own. Throws tessera::error (kind plugin) when a name is taken; nothing is added
  /// then.
  void add(std::vector<instruction> more);

  /// The instruction that `special NAME SIGNATURE` declares; valid as long as the registry. Letters may have either
  /// case. Throws tessera::error (kind input): for an unknown name, with the nearest one and the libraries that were
  /// searched; for a signature that it does not have.
  const instruction& find(const std::string& name, const std::string& signature) const;

  /// Null where find() throws.
  const instruction* look_up(const std::string& name, const std::string& signature) const;

  /// All, by name.
  std::vector<const instruction*> all() const;
  const std::vector<std::string>& libraries() const noexcept { return m_libraries; }

 private:
  std::filesystem::path path_of(const std::string& library) const;

  std::vector<std::filesystem::path> m_folders;
  std::vector<std::string> m_libraries;
  std::map<std::string, instruction> m_all;
};

}  // namespace tessera::sial
